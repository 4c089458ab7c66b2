import Platform
import StrataFiles
import StrataStorage
import Testing

@testable import StrataStorageTests

/// Unusual but sound files, and foreign ones.
@Suite struct UnusualFileTests {
    let directory: TemporaryDirectory
    var path: String { directory.path + "/store" }

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ arguments: String...) throws -> StrataProcess {
        try StrataProcess.run(arguments, in: directory.path)
    }

    @Test("a store without any commit is empty and sound")
    func withoutCommit() throws {
        try Store.open(path: path).close()
        for command in ["info", "check", "dump"] {
            let end = try run(command, path)
            #expect(end.status == 0 && end.error.isEmpty, "\(command): \(end)")
        }
    }

    @Test("a file of format 1 is refused by name", arguments: ["info", "check", "dump", "salvage", "copy", "compact"])
    func olderFormat(command: String) throws {
        let folders = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        let fixture = (folders + ["Fixtures", "format-1.strata"]).joined(separator: "/")
        let bytes = try StrataProcess.bytes(fixture)
        try StrataProcess.write(bytes, to: path)
        var words = [command, path]
        if command == "salvage" { words.append("--to") }
        if command == "salvage" || command == "copy" { words.append(directory.path + "/new") }
        let end = try StrataProcess.run(words, in: directory.path)
        #expect(end.status == 1 && end.error.contains("is of format 1, an older one"), "\(end)")
        #expect(try StrataProcess.bytes(path) == bytes)
    }

    @Test("100 GB of zeros are refused at once", arguments: ["info", "check", "dump", "salvage", "copy"])
    func sparse(command: String) throws {
        try StrataProcess.write([], to: path)
        if truncate(path, 100 << 30) != 0 { return }  // The file system does not support files of that size.
        var words = [command, path]
        if command == "salvage" { words.append("--to") }
        if command == "salvage" || command == "copy" { words.append(directory.path + "/new") }
        // Reading them all takes more than ten seconds of a processor.
        let end = try StrataProcess.run(words, in: directory.path, processorSeconds: 5)
        #expect(end.status == 1 && end.error.contains("is not a Strata store"), "\(end)")
    }
}
