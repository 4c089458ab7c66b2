import Platform
import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// A path whose file is replaced while a store is open.
@Suite struct StoreFileTests {
    private static func insert(_ store: Store, _ key: Int64) throws {
        let transaction = try store.beginWrite()
        if transaction.view.schema.tables.isEmpty { try transaction.apply(schema: StoreHistory.schema) }
        try StoreHistory.withCells([.integer(key), .null]) {
            try transaction.insert(StoreHistory.dogs, key: RowKey(key), $0)
        }
        try transaction.commit()
    }

    private static func keys(_ path: String) throws -> [Int64] {
        let store = try Store.open(path: path)
        let keys = try store.snapshot().view.keys(StoreHistory.dogs)
        try store.close()
        return keys
    }

    /// A new store was once renamed over the path, and replaced the store that another process had just opened.
    @Test("creating a store never replaces an existing one", arguments: [false, true])
    func lateCreation(inMemory: Bool) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var options = StoreOptions()
        if inMemory { options.fileSystem = MemoryFileSystem() }
        let store = try Store.open(path: path, options: options)
        try Self.insert(store, 1)
        let inode = try options.fileSystem.status(path)?.inode
        try StoreCreation(path, options).run()
        #expect(try options.fileSystem.status(path)?.inode == inode)
        try Self.insert(store, 2)
        #expect(try store.snapshot().view.keys(StoreHistory.dogs) == [1, 2])
        try store.close()
    }

    @Test("threads that open a new store at once all find the same one") func firstOpenRace() throws {
        for _ in 0..<20 {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/store"
            let next = Atomic<Int64>(0)
            try StoreThreadTests.run(4) { _ in
                while true {
                    do {
                        let store = try Store.open(path: path)
                        try Self.insert(store, next.add(1, ordering: .relaxed).newValue)
                        try store.close()
                        return
                    } catch StorageError.inUse {
                        continue
                    }
                }
            }
            #expect(try Self.keys(path) == [1, 2, 3, 4])
        }
    }

    #if os(Linux)
        /// How many of a file's first `count` pages are in memory.
        private static func pagesInMemory(_ path: String, of count: Int) throws -> Int {
            let descriptor = open(path, O_RDONLY)
            defer { close(descriptor) }
            let base = try #require(mmap(nil, count * 4096, PROT_READ, MAP_SHARED, descriptor, 0))
            defer { munmap(base, count * 4096) }
            var pages = [UInt8](repeating: 0, count: count)
            try #require(base != MAP_FAILED && mincore(base, count * 4096, &pages) == 0)
            return pages.count { $0 & 1 != 0 }
        }

        /// An open uses two pages of the lock file. The kernel once read ahead around each, and loaded all 65 pages. On
        /// a file system in memory every page of a file is in memory, so a control file decides if the test applies.
        @Test("an open faults in at most four pages of the lock file") func lockFilePages() throws {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/store"
            let store = try Store.open(path: path)
            let control = try POSIXFileSystem().open(directory.path + "/control", .createNew)
            try control.preallocate(to: 65 * 4096)
            if try Self.pagesInMemory(control.path, of: 65) == 0 {
                let pages = try Self.pagesInMemory(path + ".lock", of: 65)
                #expect(pages <= 4)
            }
            control.close()
            try store.close()
        }
    #endif

    /// A closing store releases the process table's lock last, when another store may already be the only user. The
    /// last store, closing too, once tried that lock without waiting.
    @Test("the last store to close waits for the table's lock while another one is closing")
    func lateLeaver() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let (writer, last) = (try Store.open(path: path), try Store.open(path: path))
        try Self.insert(writer, 1)
        try writer.close()
        let leaver = try POSIXFileSystem().open(path, .write)
        #expect(try leaver.tryLock(byte: LockByte.change, exclusive: true))
        try StoreThreadTests.run(2) { index in
            if index == 0 { return try last.close() }
            SystemScheduling().pause(microseconds: 50_000)
            try leaver.unlock(byte: LockByte.change)
        }
        leaver.close()
        #expect(try Self.keys(path) == [1])
        #expect(try POSIXFileSystem().status(path + ".lock") == nil)
    }

    @Test("a store whose file was replaced refuses to write and leaves the new file alone") func replaced() throws {
        let directory = try TemporaryDirectory()
        let (path, other) = (directory.path + "/store", directory.path + "/other")
        let restored = try Store.open(path: other)
        try Self.insert(restored, 7)
        try restored.close()
        let store = try Store.open(path: path)
        for key in 0..<5 { try Self.insert(store, Int64(key)) }
        let transaction = try store.beginWrite()
        try transaction.delete(StoreHistory.dogs, RowKey(1))
        let files = POSIXFileSystem()
        try files.rename(other, to: path)
        #expect(throws: StorageError.stale(path: path)) { try transaction.commit() }
        #expect(throws: StorageError.stale(path: path)) { try store.beginWrite() }
        #expect(try store.snapshot().view.keys(StoreHistory.dogs) == [0, 1, 2, 3, 4])
        let fresh = try Store.open(path: path)
        for key in 10..<15 { try Self.insert(fresh, Int64(key)) }
        #expect(throws: StorageError.stale(path: path)) { try store.close() }
        // The log beside the path is the new store's.
        #expect(try files.status(Store.logPath(path)) != nil)
        try fresh.close()
        #expect(try Self.keys(path) == [7, 10, 11, 12, 13, 14])
    }

    @Test("a store whose file was removed reports it") func removed() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let store = try Store.open(path: path)
        try Self.insert(store, 1)
        try POSIXFileSystem().remove(path)
        #expect(throws: StorageError.stale(path: path)) { try store.beginWrite() }
        #expect(throws: StorageError.stale(path: path)) { try store.close() }
    }

    @Test("files are deleted with a dead process's leftovers, and not while they are open") func removal() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let files = POSIXFileSystem()
        #expect(try !Store.removeFiles(path: path))
        var store: Store? = try Store.open(path: path)
        for key in 0..<5 { try Self.insert(#require(store), Int64(key)) }
        #expect(throws: StorageError.inUse(path: path)) { try Store.removeFiles(path: path) }
        // As if a process died: the lock is released, the log stays.
        store = nil
        #expect(try files.status(Store.logPath(path)) != nil)
        #expect(try Store.removeFiles(path: path))
        #expect(try files.status(path) == nil)
        #expect(try files.status(Store.logPath(path)) == nil)
    }

    @Test("a writer with a timeout gets `busy`, and the queue goes on") func timeout() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        var options = StoreOptions()
        options.writeTimeout = 20_000
        let store = try Store.open(path: path, options: options)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        try StoreThreadTests.run(3) { _ in
            #expect(throws: StorageError.busy(path: path)) { try store.beginWrite() }
        }
        try transaction.commit()
        try Self.insert(store, 1)
        try store.close()
    }
}
