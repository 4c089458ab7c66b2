import Files
import Testing

@testable import Harness

@Suite struct FileRolesTests {
    /// Three libraries once lost the same data in their logs, and each was reported with another cause.
    @Test("a file's name is replaced by its role")
    func named() throws {
        let directory = try TestDirectory()
        try FileTree.createDirectory(directory.path + "/case/recorded")
        try FileTree.writeBytes(directory.path + "/case/recorded/CURRENT", [1])
        var engine = MemoryEngine()
        engine.logPatterns = ["*.log", "*-wal"]
        engine.coordinationPatterns = ["*-shm", "LOCK"]
        engine.roles = ["CURRENT": .data, "gone": .data]
        let roles = FileRoles(engine, below: directory.path)
        #expect(
            roles.named("lost: operation 7, which writes 512 bytes of data-wal: row 3 is gone.")
                == "lost: operation 7, which writes 512 bytes of <log>: row 3 is gone.")
        #expect(roles.named("of /a/b/000008.log, LOCK; CURRENT.") == "of /a/b/<log>, <lock>; <data>.")
        let text = "nothing is named: a log that ends, 0x3 .. 7"
        #expect(roles.named(text) == text)
        #expect(roles.named("") == "")
    }

    @Test("an engine in memory has no file to be named")
    func memory() throws {
        let directory = try TestDirectory()
        #expect(FileRoles(MemoryEngine(), below: directory.path).named("data.log") == "data.log")
        #expect(FileRoles(MemoryEngine(), below: directory.path + "/gone").named("data.log") == "data.log")
    }
}
