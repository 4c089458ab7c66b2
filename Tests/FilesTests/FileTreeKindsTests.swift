import Platform
import Testing

@testable import Files

/// Special files and unusual names in directories.
@Suite struct FileTreeKindsTests {
    private static let odd = BytePath([0x63, 0xE9, 0x0A])

    @Test("a copy has the original's permissions, links of both kinds, FIFOs, sockets and names")
    func copy() throws {
        let temporary = try TemporaryDirectory()
        let source = temporary.path + "/a"
        try FileTree.createDirectory(source + "/closed")
        try FileTree.make(BytePath(source + "/run"), [1], mode: 0o755)
        try FileTree.make(BytePath(source + "/key"), [2], mode: 0o600)
        try FileTree.make(BytePath(source + "/closed/read"), [3], mode: 0o444)
        try FileTree.make(BytePath(source).appending(Self.odd), [4], mode: 0o644)
        // A loop, and a link to nothing.
        try FileNode(.link(target: Array(".".utf8)), mode: 0).make(at: BytePath(source + "/loop"))
        try FileNode(.link(target: [0xE9]), mode: 0).make(at: BytePath(source + "/dangling"))
        try FileNode(.fifo, mode: 0o622).make(at: BytePath(source + "/fifo"))
        try FileNode(.socket, mode: 0o700).make(at: BytePath(source + "/socket"))
        try FileTree.addName(BytePath(source + "/closed/again"), to: BytePath(source).appending(Self.odd))
        try FileTree.setMode(0o555, of: BytePath(source + "/closed"))
        let target = temporary.path + "/b"
        try FileTree.copy(from: source, to: target)
        #expect(try FileTree.names(in: BytePath(target)) == FileTree.names(in: BytePath(source)))
        for name in ["run", "key", "closed", "closed/read", "loop", "dangling", "fifo", "socket"] {
            let (one, other) = (BytePath(source + "/" + name), BytePath(target + "/" + name))
            let (status, copied) = (try FileTree.status(one), try FileTree.status(other))
            #expect(status.st_mode == copied.st_mode, "\(name)")
            if status.st_mode & S_IFMT == S_IFLNK {
                #expect(try FileNode(status, at: one) == FileNode(copied, at: other), "\(name)")
            }
        }
        #expect(try FileTree.readBytes(BytePath(target).appending(Self.odd)) == [4])
        let names = [BytePath(target).appending(Self.odd), BytePath(target + "/closed/again")]
        let identities = try names.map { FileIdentity(try FileTree.status($0)) }
        #expect(identities[0] == identities[1], "a file with two names became two files")
        #expect(try FileTree.totalSize(target) == 5)
        try FileTree.sync(target)
        try FileTree.remove(target)
        #expect(FileTree.kind(target) == nil && FileTree.kind(source + "/closed/read") == .file)
        // The directory itself may be a link.
        try FileNode(.link(target: Array("a".utf8)), mode: 0).make(at: BytePath(temporary.path + "/way"))
        try FileTree.copy(from: temporary.path + "/way", to: target)
        #expect(FileTree.kind(target) == .directory && FileTree.kind(target + "/loop") == .link)
    }

    @Test("every path has a reversible key of its own, and a printable text")
    func keys() {
        let paths = [
            [0x61], [0xE9], Array("\u{E9}".utf8), Array("e\u{301}".utf8), Array("\\xE9".utf8), Array("\\".utf8),
            Array("a/b c".utf8), [0x0A], [0xF0, 0x9F], Array("\u{9B}x".utf8), [0x1B, 0x5B, 0x32, 0x4A],
        ].map(BytePath.init(_:))
        #expect(Set(paths.map(\.key)).count == paths.count)
        for path in paths {
            #expect(BytePath(key: path.key) == path && path.key.utf8.allSatisfy { $0 < 0x80 })
            #expect(!path.text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }
        #expect(BytePath("a/b").key == "a/b" && BytePath("caf\u{E9}").text == "caf\u{E9}")
        #expect(BytePath([0x63, 0xE9]).text == "c\\xE9" && BytePath("a/b").name == BytePath("b"))
    }
}
