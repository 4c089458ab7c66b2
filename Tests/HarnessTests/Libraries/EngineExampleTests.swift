import Files
import Foundation
import RunRecords
import Testing

@testable import Harness

/// The adapters of Examples/Engines, if their engines are installed.
@Suite struct EngineExampleTests {
    private struct Example {
        var folder: String
        var library: String
        var engine: String
    }

    private static func builds(_ example: Example) throws -> (ShellProcess, String) {
        let shell = try ShellProcess(try TestDirectory())
        let library = "\(shell.directory.path)/\(example.library)"
        // An engine that is not a package is built beforehand, and an environment variable names its directory.
        let end = try shell.run(
            "make -s -C '\(SourceTree.root)/Examples/Engines/\(example.folder)' OUT='\(library)' CC=clang CXX=clang++")
        try #require(end.status == .exited(0), "\(end.output)")
        return (shell, library)
    }

    private func tries(_ example: Example) throws {
        let (shell, library) = try Self.builds(example)
        let conform = try shell.run("assay conform --engine-library '\(library)'")
        #expect([.exited(0), .exited(3)].contains(conform.status), "\(conform.output)")
        #expect(!conform.output.contains("FAIL"), "\(conform.output)")
        let end = try shell.run(
            "assay run smoke --engine-library '\(library)' --engine \(example.engine) --scenario commit,point-read "
                + "--out run --plans '\(SourceTree.root)/Benchmarks/Plans'")
        #expect(end.status == .exited(0), "\(end.output)")
        let run = try RunDirectory(path: shell.directory.path + "/run").load()
        #expect(run.results.count >= 2 && run.results.allSatisfy { $0.verdict == .pass }, "\(end.output)")
    }

    @Test("LevelDB", .enabled(if: FileTree.exists("/usr/include/leveldb/c.h"), "libleveldb-dev is not installed"))
    func levelDB() throws {
        try tries(Example(folder: "LevelDB", library: "libassay-leveldb.so", engine: "leveldb"))
    }

    @Test("Berkeley DB", .enabled(if: FileTree.exists("/usr/include/db.h"), "libdb5.3-dev is not installed"))
    func berkeleyDB() throws {
        try tries(Example(folder: "BerkeleyDB", library: "libassay-berkeleydb.so", engine: "berkeleydb"))
    }

    @Test(
        "Realm core",
        .enabled(
            if: ProcessInfo.processInfo.environment["REALM_CORE"] != nil,
            "REALM_CORE does not name a checkout that was built: Examples/Engines/RealmCore/README.md"))
    func realmCore() throws {
        try tries(Example(folder: "RealmCore", library: "libassay-realm.so", engine: "realm"))
    }
}
