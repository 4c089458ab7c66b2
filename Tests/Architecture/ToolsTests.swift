import Foundation
import Testing

/// Tools/traits against a pkg-config of our own, so that the answer does not hang on what this machine has.
@Suite("Tools")
struct ToolsTests {
    struct Answer {
        let status: Int32
        let output: String
        let remarks: String
    }

    /// Runs Tools/traits where pkg-config knows `modules` and the include folder holds `headers`.
    static func traits(_ arguments: [String], modules: [String], headers: [String]) throws -> Answer {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("traits-\(UUID().uuidString)")
        defer { try? files.removeItem(at: folder) }
        let include = folder.appendingPathComponent("include")
        for header in headers {
            let file = include.appendingPathComponent(header)
            try files.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        let script = """
            #!/bin/sh
            for last; do :; done
            case " \(modules.joined(separator: " ")) " in *" $last "*) ;; *) exit 1 ;; esac
            case "$1" in --variable=includedir) echo "\(include.path)" ;; esac
            """
        let fake = folder.appendingPathComponent("pkg-config")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(script.utf8).write(to: fake)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: fake.path)

        let process = Process()
        process.executableURL = Checkout.root.appendingPathComponent("Tools/traits")
        process.arguments = arguments
        process.environment = ["PATH": "\(folder.path):/usr/bin:/bin"]
        let output = Pipe()
        let remarks = Pipe()
        process.standardOutput = output
        process.standardError = remarks
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let remarkText = remarks.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Answer(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines),
            remarks: String(decoding: remarkText, as: UTF8.self))
    }

    static let modules = ["libxxhash", "libcrypto", "jemalloc", "sqlite3", "lmdb", "rocksdb"]
    static let headers = ["xxhash.h", "openssl/evp.h", "jemalloc/jemalloc.h", "sqlite3.h", "lmdb.h", "rocksdb/c.h"]

    @Test("everything there: every trait, and no remark")
    func allThere() throws {
        let answer = try Self.traits([], modules: Self.modules, headers: Self.headers)
        #expect(answer.status == 0)
        #expect(answer.output == "Crypto,Jemalloc,SQLite,LMDB,RocksDB")
        #expect(answer.remarks == "")
    }

    @Test("a header without its module, or a module without its header, is no trait")
    func halfThere() throws {
        let noModule = try Self.traits([], modules: ["libxxhash", "jemalloc"], headers: Self.headers)
        #expect(noModule.output == "Jemalloc")
        #expect(noModule.remarks.contains("libsqlite3-dev"))
        let noHeader = try Self.traits([], modules: Self.modules, headers: ["xxhash.h", "sqlite3.h"])
        #expect(noHeader.status == 0)
        #expect(noHeader.output == "SQLite")
        #expect(noHeader.remarks.contains("libjemalloc-dev"))
    }

    @Test("no optional library leaves a list that SwiftPM takes")
    func noneThere() throws {
        let answer = try Self.traits(["--quiet"], modules: ["libxxhash"], headers: ["xxhash.h"])
        #expect(answer.status == 0)
        #expect(answer.output == "default")
        #expect(answer.remarks == "")
    }

    @Test("a required library that is missing is an error with its remedy, even when quiet")
    func requiredMissing() throws {
        let answer = try Self.traits(["--quiet"], modules: ["sqlite3"], headers: Self.headers)
        #expect(answer.status == 1)
        #expect(answer.remarks.contains("apt-get install pkg-config libxxhash-dev"))
    }

    @Test("traits can be added and left out")
    func addedAndLeftOut() throws {
        let answer = try Self.traits(
            ["--with", "Zoo", "--without", "Jemalloc"], modules: Self.modules, headers: Self.headers)
        #expect(answer.output == "Zoo,Crypto,SQLite,LMDB,RocksDB")
        #expect(try Self.traits(["--wiht", "Zoo"], modules: [], headers: []).status == 64)
    }
}
