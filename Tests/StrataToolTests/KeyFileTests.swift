import StrataStorage
import Testing

@testable import StrataStorageTests

/// Encrypted files through the tool.
@Suite struct KeyFileTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/store" }
    var key: String { directory.path + "/key" }

    init() throws {
        directory = try TemporaryDirectory()
        try SampleStore.make(directory.path + "/store")
        try StrataProcess.write((0..<64).map { UInt8($0) }, to: directory.path + "/key")
        let digits = (0..<64).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\n"
        try StrataProcess.write(Array(digits.utf8), to: directory.path + "/digits")
        try StrataProcess.write(Array(repeating: 7, count: 64), to: directory.path + "/other")
    }

    private func run(_ arguments: String...) throws -> StrataProcess {
        try StrataProcess.run(arguments, in: directory.path)
    }

    #if Crypto
        @Test("a copy can be encrypted, read only with its key, and decrypted again") func copies() throws {
            let rows = try run("dump", path).output
            let sealed = directory.path + "/sealed"
            #expect(try run("copy", path, sealed, "--new-key-file", key).status == 0)
            let refused = try run("info", sealed)
            #expect(refused.status == 1 && refused.error.contains("--key-file"), "\(refused)")
            let wrong = try run("dump", sealed, "--key-file", directory.path + "/other")
            #expect(wrong.status == 1 && wrong.error.contains("another key"), "\(wrong)")
            let plain = try run("info", path, "--key-file", key)
            #expect(plain.status == 1 && plain.error.contains("not encrypted"), "\(plain)")
            for name in ["key", "digits"] {
                let read = try run("dump", sealed, "--key-file", directory.path + "/" + name)
                #expect(read.status == 0 && read.output == rows, "\(name): \(read.error)")
            }
            #expect(try run("check", sealed, "--key-file", key).status == 0)
            #expect(try run("compact", sealed, "--key-file", key).status == 0)
            let open = directory.path + "/open"
            #expect(try run("copy", sealed, open, "--key-file", key, "--decrypt").status == 0)
            #expect(try run("dump", open).output == rows)
        }

        @Test("a compaction can change, remove and set the key of a file") func keyChange() throws {
            let rows = try run("dump", path).output
            let other = directory.path + "/other"
            #expect(try run("compact", path, "--new-key-file", key).status == 0)
            #expect(try run("info", path).status == 1)
            #expect(try run("dump", path, "--key-file", key).output == rows)
            #expect(try run("compact", path, "--key-file", key, "--new-key-file", other).status == 0)
            let refused = try run("dump", path, "--key-file", key)
            #expect(refused.status == 1 && refused.error.contains("another key"), "\(refused)")
            let both = try run("compact", path, "--key-file", other, "--new-key-file", key, "--decrypt")
            #expect(both.status == 64, "\(both)")
            #expect(try run("compact", path, "--key-file", other, "--decrypt").status == 0)
            #expect(try run("dump", path).output == rows)
            #expect(try run("check", path).status == 0)
        }

        @Test("check finds a damaged page of an encrypted file, and a salvage recovers the rest") func damage() throws {
            let sealed = directory.path + "/sealed"
            #expect(try run("copy", path, sealed, "--new-key-file", key).status == 0)
            var bytes = try StrataProcess.bytes(sealed)
            bytes[8192 + 4128 * 2 + 100] ^= 1
            try StrataProcess.write(bytes, to: sealed)
            let check = try run("check", sealed, "--key-file", key)
            #expect(check.status == 2 && check.output.contains("do not open"), "\(check)")
            let new = directory.path + "/new"
            let salvage = try run("salvage", sealed, "--to", new, "--key-file", key)
            #expect(salvage.status == 0 || salvage.status == 2, "\(salvage)")
            #expect(try run("check", new, "--key-file", key).status == 0)
        }
    #else
        @Test("a tool without encryption reports that") func notBuilt() throws {
            let refused = try run("info", path, "--key-file", key)
            #expect(refused.status == 1 && refused.error.contains("without encryption"), "\(refused)")
        }
    #endif

    @Test("a file without a key is refused") func noKey() throws {
        let refused = try run("info", path, "--key-file", path)
        #expect(refused.status == 1 && refused.error.contains("holds no key"), "\(refused)")
    }
}
