import Files
import Foundation
import RunRecords
import Testing

@testable import Harness

/// A library's symbol table shows whether it was built with assertions: Debian's RocksDB and LevelDB were once measured
/// as if they had none.
@Suite struct SharedObjectTests {
    private static func library(_ flags: String) throws -> [UInt8] {
        let directory = try TestDirectory()
        let shell = try ShellProcess(directory)
        let source = "#include <assert.h>\nint twice(int a) { assert(a < 1000); return a * 2; }\n"
        try FileTree.writeBytes(directory.path + "/twice.c", Array(source.utf8))
        let end = try shell.run("clang -shared -fPIC -O1 \(flags) -Wl,-soname,libtwice.so.3 -o twice.so twice.c")
        try #require(end.status == .exited(0), "\(end.output)")
        return try FileTree.readBytes(directory.path + "/twice.so")
    }

    private static func read(_ bytes: [UInt8]) -> SharedObject? { bytes.withUnsafeBytes { SharedObject(bytes: $0) } }

    @Test("assertions are detected with either kind of hash table")
    func assertions() throws {
        for style in ["gnu", "sysv", "both"] {
            let with = try #require(Self.read(try Self.library("-Wl,--hash-style=\(style)")))
            let without = try #require(Self.read(try Self.library("-DNDEBUG -Wl,--hash-style=\(style)")))
            #expect(with.hasAssertions && !without.hasAssertions, "\(style)")
            #expect(with.name == "libtwice.so.3" && with.needed.contains { $0.hasPrefix("libc.so") }, "\(with)")
        }
    }

    @Test("a truncated file, or one with changed bytes, causes no crash")
    func damaged() throws {
        let whole = try Self.library("")
        for length in stride(from: 0, to: whole.count, by: 61) { _ = Self.read(Array(whole[..<length])) }
        for place in 0..<min(whole.count, 6_000) {
            for value in [0, 0x7F, 0xFF] as [UInt8] {
                var changed = whole
                changed[place] = value
                _ = Self.read(changed)
            }
        }
        #expect(Self.read(Array("#!/bin/sh\n".utf8)) == nil && Self.read([]) == nil)
    }

    @Test("a library is found by one of its functions")
    func loaded() throws {
        let library = try #require(LoadedLibrary.of(function: "getpid"))
        #expect(library.fileName.hasPrefix("libc"), "\(library.path)")
        #expect(LoadedLibrary.of(function: "no_library_has_this") == nil)
    }

    @Test("a chosen file is accepted only if the functions come from it")
    func objection() throws {
        struct Chosen: Engine {
            let base = MemoryEngine(name: "memory")
            var chosen: String
            var name: String { base.name }
            var version: String { base.version }
            var capabilities: Set<Capability> { base.capabilities }
            var promises: [Promise] { base.promises }
            var peerLibrary: EngineFile? { EngineFile(path: chosen, digest: "d") }
            var libraryFunction: String? { "getpid" }
            func settings(for durability: DurabilityClass) -> EngineSettings { base.settings(for: durability) }
            func files(at location: DatabaseLocation) -> [DatabaseFile] { base.files(at: location) }
            func open(
                _ location: DatabaseLocation, settings: EngineSettings
            ) throws(EngineError) -> any Session { try base.open(location, settings: settings) }
        }
        let real = try #require(LoadedLibrary.of(function: "getpid")).path
        #expect(PeerLibraries.objection(to: Chosen(chosen: real)) == nil)
        let text = try #require(PeerLibraries.objection(to: Chosen(chosen: "/bin/sh")))
        #expect(text.contains(real) && text.contains("/bin/sh"), "\(text)")
        #expect(Chosen(chosen: real).librarySettings == [EngineSetting("library", "\(real) (digest d)")])
    }

    @Test("choices are passed on as lines in the environment")
    func choices() {
        let choices = [PeerLibraries.Choice(name: "rocksdb", path: "/a b/c=d.so"), .init(name: "lmdb", path: "/x")]
        #expect(PeerLibraries.read(PeerLibraries.text(choices)) == choices.sorted { $0.name < $1.name })
        #expect(PeerLibraries.read("") == [] && PeerLibraries.read("rocksdb") == [])
    }
}
