import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// Stores without a lock file: the disk has no room for it, or the opener only reads.
@Suite(.enabled(if: POSIXFileSystem().isShared))
struct NoLockFileTests {
    private final class Full: FileSystemLayer {
        let base = POSIXFileSystem()
        let isFull = Atomic<Bool>(true)

        func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
            let file = try base.open(path, mode)
            return path.hasSuffix(".lock") && isFull.load(ordering: .relaxed) ? FullFile(base: file) : file
        }
    }

    private struct NoRoom { static let errno: Int32 = 28 }

    private final class FullFile: FileLayer {
        let base: any File
        init(base: any File) { self.base = base }
        func preallocate(to size: Int64) throws(FileError) {
            throw FileError(.preallocate, path: path, errno: NoRoom.errno)
        }
    }

    @Test("a store without room for its lock file can be emptied, and refuses other processes with the reason")
    func fullDisk() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let disk = Full()
        var options = StoreOptions(fileSystem: disk)
        options.mapReserve = 1 << 28
        options.openTimeout = 20_000
        disk.isFull.store(false, ordering: .relaxed)
        let first = try Store.open(path: path, options: options)
        try PlainTable.setUp(first)
        try PlainTable.insert(first, 0..<100)
        try first.close()
        disk.isFull.store(true, ordering: .relaxed)
        let store = try Store.open(path: path, options: options)
        try PlainTable.delete(store, 0..<90)
        #expect(throws: StorageError.unshared(path: path)) { try Store.open(path: path, options: options) }
        #expect(try POSIXFileSystem().status(path + ".lock") == nil)
        try store.checkInvariants()
        try store.close()
        disk.isFull.store(false, ordering: .relaxed)
        let shared = try Store.open(path: path, options: options)
        let other = try Store.open(path: path, options: options)
        #expect(try PlainTable.keys(other.snapshot().view) == Array(90..<100))
        try other.close()
        try shared.close()
    }

    @Test("a writer waits for a reader without a lock file, and the error names its process") func reader() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var options = StoreOptions()
        options.mapReserve = 1 << 28
        let first = try Store.open(path: path, options: options)
        try PlainTable.setUp(first)
        try first.close()
        var reading = options
        reading.readOnly = true
        let reader = try Store.open(path: path, options: reading)
        let isOver = Mutex(false)
        _ = SystemScheduling().spawn("reader") {
            // Longer than a waiting writer once retried before it gave up.
            SystemScheduling().pause(microseconds: 600_000)
            do { try reader.close() } catch { Issue.record(error) }
            isOver.withLock { $0 = true }
        }
        let writer = try Store.open(path: path, options: options)
        #expect(isOver.withLock { $0 })
        try PlainTable.insert(writer, 0..<10)
        try writer.close()
    }
}
