import Files
import RunRecords
import Testing

@testable import Harness

/// Libraries of peers that the command line names, by the real executable.
@Suite(.serialized)
struct PeerLibraryRunTests {
    /// The library of this machine, with which the program is linked if the trait LMDB is on.
    private static let lmdb: String? = {
        let places = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        return places.map { $0 + "/liblmdb.so.0" }.first(where: FileTree.exists)
    }()

    private let directory: TestDirectory
    private let shell: ShellProcess

    init() throws {
        directory = try TestDirectory()
        shell = try ShellProcess(directory)
    }

    private func run(_ options: String, out: String = "run") throws -> AssayProcess.End {
        try shell.run(
            "XDG_CACHE_HOME='\(directory.path)/cache' assay run smoke --scenario commit --engine lmdb --out \(out) "
                + "--plans '\(SourceTree.root)/Benchmarks/Plans' \(options)")
    }

    @Test(
        "the functions come from the named file, and the settings record it with its digest",
        .enabled(if: lmdb != nil, "liblmdb is not installed"))
    func chosen() throws {
        let file = try #require(Self.lmdb)
        let own = directory.path + "/another name.so"
        try FileTree.writeBytes(own, try FileTree.readBytes(FileTree.absolute(file) ?? file))
        let end = try run("--peer-library 'lmdb=another name.so'")
        #expect(end.status == .exited(0), "\(end.output)")
        let run = try RunDirectory(path: directory.path + "/run").load()
        let path = try #require(FileTree.absolute(own))
        let digest = try #require(EngineFile(path: path)).digest
        let result = try #require(run.results.first)
        #expect(result.verdict == .pass, "\(result.message)")
        #expect(result.settings.contains(EngineSetting("library", "\(path) (digest \(digest))")))
        #expect(run.header.engines.first?.libraryFile == path && run.header.engines.first?.libraryDigest == digest)
    }

    @Test("a file that cannot stand in for the library is refused with a reason, before a run begins")
    func refused() throws {
        for (option, word) in [
            ("lmdb=missing.so", "no such file"), ("lmbd=/bin/sh", "did you mean lmdb"), ("lmdb", "name the library"),
            ("lmdb='\(SourceTree.root)/README.md'", "no shared library"),
        ] {
            let end = try run("--peer-library \(option)")
            #expect(end.status == .exited(64) && end.output.contains(word), "\(option): \(end.output)")
        }
        // A shared library without the functions of LMDB.
        try FileTree.writeBytes(directory.path + "/empty.c", Array("int nothing;\n".utf8))
        let made = try shell.run("clang -shared -fPIC -o empty.so empty.c")
        try #require(made.status == .exited(0), "\(made.output)")
        let end = try run("--peer-library lmdb=empty.so")
        #expect(end.status == .exited(64) && end.output.contains("assay cannot use it"), "\(end.output)")
        #expect(!FileTree.exists(directory.path + "/run"))
    }
}
