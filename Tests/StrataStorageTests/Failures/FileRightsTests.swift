import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// A private database once had a world-readable log and lock file with its rows. A database compacted by root became
/// root's, and world-readable.
@Suite struct FileRightsTests {
    struct Rights: Equatable {
        var mode: UInt32
        var user: UInt32
        var group: UInt32

        init(mode: UInt32, user: UInt32, group: UInt32) {
            self.mode = mode
            self.user = user
            self.group = group
        }

        init(_ path: String) throws {
            var found = stat()
            guard stat(path, &found) == 0 else { throw FileError(.status, path: path, errno: errno) }
            mode = UInt32(found.st_mode) & 0o777
            user = found.st_uid
            group = found.st_gid
        }
    }

    static func makeStore(_ path: String, mode: mode_t) throws -> Rights {
        let store = try Store.open(path: path)
        try PlainTable.setUp(store)
        try store.close()
        chmod(path, mode)
        // Only root can change a file's owner; other users test only the mode.
        if geteuid() == 0 { _ = chown(path, 12_345, 12_346) }
        return try Rights(path)
    }

    @Test("files beside a store are as private as the store", arguments: [0o600, 0o640, 0o664] as [mode_t])
    func sideFiles(mode: mode_t) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let rights = try Self.makeStore(path, mode: mode)
        let store = try Store.open(path: path)
        for round in 0..<5 as Range<Int64> { try PlainTable.insert(store, [round]) }
        #expect(try Rights(path + ".log") == rights)
        #expect(try Rights(path + ".lock") == rights)
        try store.writeCopy(to: path + "-copy")
        #expect(try Rights(path + "-copy") == rights)
        try store.close()
        #expect(try Rights(path) == rights)
    }

    /// A bundle is read-only, but a copy of its database must be writable.
    @Test("a store that is made from a file that may only be read can be written")
    func newFromReadOnly() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        _ = try Self.makeStore(path, mode: 0o444)
        let store = try Store.open(path: path, options: StoreOptions(readOnly: true))
        try store.writeCopy(to: path + "-new", isNew: true)
        try store.writeCopy(to: path + "-copy")
        try store.close()
        let mask = umask(0)
        umask(mask)
        #expect(try Rights(path + "-new").mode == UInt32(0o644 & ~mask))
        // Root needs no permission to write.
        #expect(try Rights(path + "-copy").mode == (geteuid() == 0 ? 0o444 : 0o644))
    }

    @Test("a compaction keeps owner and permissions")
    func compaction() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let rights = try Self.makeStore(path, mode: 0o640)
        try Store.compact(path: path)
        #expect(try Rights(path) == rights)
    }
}
