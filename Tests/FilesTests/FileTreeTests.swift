import Files
import Platform
import Testing

@Suite struct FileTreeTests {
    @Test("a copy of a directory has the same files, and writing to it leaves the original alone")
    func copy() throws {
        let temporary = try TemporaryDirectory()
        let source = temporary.path + "/a"
        try FileTree.createDirectory(source + "/deep/er")
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        try FileTree.writeBytes(source + "/deep/er/file", bytes)
        try FileTree.writeText(source + "/empty", "")
        let target = temporary.path + "/b"
        try FileTree.copy(from: source, to: target)
        #expect(try FileTree.readBytes(target + "/deep/er/file") == bytes)
        #expect(try FileTree.size(target + "/empty") == 0)
        #expect(try FileTree.totalSize(target) == bytes.count)
        try FileTree.writeText(target + "/deep/er/file", "changed")
        #expect(try FileTree.readBytes(source + "/deep/er/file") == bytes)
        try FileTree.truncate(target + "/deep/er/file", to: 3)
        #expect(try FileTree.readText(target + "/deep/er/file") == "cha")
        try FileTree.sync(target)
        try FileTree.remove(target)
        #expect(!FileTree.exists(target))
        try FileTree.remove(target)
    }

    @Test("an unreadable file is an error that names the path and the reason")
    func errors() throws {
        let error = try #require(throws: FileTreeError.self) { try FileTree.readBytes("/no/such/file") }
        #expect(error.description.contains("/no/such/file"))
        #expect(error.code == ENOENT)
    }
}
