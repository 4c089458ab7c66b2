import Platform
import StrataFiles
import StrataStorage
import Testing

@testable import StrataStorageTests

/// `dump --out` once wrote world-readable files of a private database.
@Suite struct DumpedFilesTests {
    @Test(
        "the files of a dump have the permissions of their database, in directories that the command makes",
        arguments: [0o600, 0o640, 0o644] as [mode_t])
    func rights(mode: mode_t) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        try SampleStore.make(path, rows: 3)
        try #require(chmod(path, mode) == 0)
        // The directories are made, too.
        let out = directory.path + "/made/out"
        defer {
            for name in ["Person.jsonl", "Dog.jsonl"] { unlink(out + "/" + name) }
            rmdir(out)
            rmdir(directory.path + "/made")
        }
        let run = try StrataProcess.run(["dump", path, "--out", out], in: directory.path)
        #expect(run.status == 0, "\(run)")
        for name in ["Person.jsonl", "Dog.jsonl"] {
            var found = stat()
            try #require(stat(out + "/" + name, &found) == 0)
            #expect(found.st_mode & 0o777 == mode, "\(name)")
        }
    }

    @Test(
        "dump, check, copy and compact end with an error at a tree that shares its nodes, and info ends too",
        arguments: ["dump", "check", "info", "copy", "compact"])
    func shared(command: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let file = try SharedNodes.make("branchesOfList")
        try StrataProcess.write(file.bytes, to: path)
        let words = [command, path] + (command == "copy" ? [directory.path + "/new"] : [])
        let run = try StrataProcess.run(words, in: directory.path, fileSizeLimit: 20_000, processorSeconds: 30)
        #expect(run.status == (command == "info" ? 0 : 2), "\(run.status) \(run.error)")
    }
}
