import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

@Suite struct StoreThreadTests {
    /// Runs a body on several threads and waits for all of them.
    static func run(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let scheduling = SystemScheduling()
        let monitor = scheduling.makeMonitor("test")
        let left = Mutex(count)
        let failures = Mutex<[String]>([])
        for index in 0..<count {
            _ = scheduling.spawn("test") {
                do { try body(index) } catch { failures.withLock { $0.append("\(error)") } }
                monitor.lock()
                left.withLock { $0 -= 1 }
                monitor.wakeAll()
                monitor.unlock()
            }
        }
        monitor.lock()
        while left.withLock({ $0 }) > 0 { monitor.wait() }
        monitor.unlock()
        #expect(failures.withLock { $0 } == [])
    }

    private static func open(_ path: String, segment: Int? = 16384) throws -> Store {
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        options.logHalfBytes = segment
        let store = try Store.open(path: path, options: options)
        if store.newestVersion.rawValue == 0 {
            let transaction = try store.beginWrite()
            try transaction.apply(schema: StoreHistory.schema)
            try transaction.commit()
        }
        return store
    }

    private static func insert(_ transaction: WriteTransaction, _ key: Int64, _ age: Int64) throws {
        let row: [Value] = [.integer(age), .bytes([65]), .double(0), .null, .links([])]
        try StoreHistory.withCells(row[...]) {
            try transaction.insert(StoreHistory.people, key: RowKey(key), $0)
        }
    }

    private static func ages(_ view: ReadView) throws -> [Int64] {
        var ages: [Int64] = []
        try view.scan(StoreHistory.people, columns: [0]) { (batch) throws(StorageError) in
            for row in 0..<batch.count { ages.append(batch.integers(0)[row]) }
            return true
        }
        return ages
    }

    @Test("no increment of concurrent writers is lost, across checkpoints and a reopening") func lostUpdate() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let store = try Self.open(path)
        let first = try store.beginWrite()
        try Self.insert(first, 1, 0)
        try first.commit()
        try Self.run(4) { _ in
            for _ in 0..<100 {
                let transaction = try store.beginWrite()
                guard let row = try transaction.view.locate(0, RowKey(1)) else { throw StorageError.closed }
                let age = try transaction.view.integer(row, 0) ?? 0
                try transaction.set(0, RowKey(1), column: 0, to: .integer(age + 1))
                try transaction.commit()
            }
        }
        try store.checkInvariants()
        try store.close()
        let again = try Self.open(path)
        #expect(try Self.ages(again.snapshot().view) == [400])
        try again.close()
    }

    @Test("readers see whole transactions while others commit and pages are reused") func snapshots() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.open(directory.path + "/store")
        let first = try store.beginWrite()
        for key in 0..<40 { try Self.insert(first, Int64(key), 0) }
        try first.commit()
        let isDone = Atomic<Bool>(false)
        try Self.run(4) { index in
            if index == 0 {
                defer { isDone.store(true, ordering: .releasing) }
                for round in 1...150 {
                    let transaction = try store.beginWrite()
                    for key in 0..<40 {
                        try transaction.set(0, RowKey(Int64(key)), column: 0, to: .integer(Int64(round)))
                    }
                    try transaction.commit()
                }
                return
            }
            var last: Int64 = 0
            while !isDone.load(ordering: .acquiring) {
                let ages = try Self.ages(store.snapshot().view)
                guard ages.count == 40, Set(ages).count == 1, ages[0] >= last else {
                    throw InvariantViolation("torn or older: \(ages)")
                }
                last = ages[0]
            }
        }
        try store.checkInvariants()
        try store.close()
    }

    @Test("observers are notified of every version once and in order") func observers() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.open(directory.path + "/store", segment: nil)
        let heard = Mutex<[UInt64]>([])
        let token = store.addObserver { notice in heard.withLock { $0.append(notice.version.rawValue) } }
        try Self.run(4) { index in
            for round in 0..<25 {
                let transaction = try store.beginWrite()
                try Self.insert(transaction, Int64(index * 1000 + round), 1)
                try transaction.commit()
            }
        }
        #expect(heard.withLock { $0 } == Array(2...101))
        token.cancel()
        try store.close()
    }

    @Test("a store can be opened twice, and a closed one refuses use") func reopening() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let store = try Self.open(path)
        var snapshot: Snapshot? = try store.snapshot()
        let other = try Store.open(path: path)
        try store.close()
        #expect(throws: StorageError.closed) { try store.snapshot() }
        #expect(throws: StorageError.closed) { try store.beginWrite() }
        #expect(try snapshot.map { try Self.ages($0.view).isEmpty } == true)
        try other.close()
        // The closed store keeps its process slot for its snapshot, and other stores write beside it.
        let again = try Self.open(path)
        let transaction = try again.beginWrite()
        try Self.insert(transaction, 5, 50)
        try transaction.commit()
        #expect(try snapshot.map { try Self.ages($0.view).isEmpty } == true)
        snapshot = nil
        try again.close()
        #expect(try POSIXFileSystem().status(path + ".lock") == nil)
        #expect(try POSIXFileSystem().status(path + ".log") == nil)
    }

    @Test("a file system in memory refuses a second open of a store") func exclusion() throws {
        var options = StoreOptions()
        options.fileSystem = MemoryFileSystem()
        let store = try Store.open(path: "store", options: options)
        var snapshot: Snapshot? = try store.snapshot()
        #expect(throws: StorageError.inUse(path: "store")) { try Store.open(path: "store", options: options) }
        try store.close()
        #expect(snapshot != nil)
        // In memory there is no process table, so another store could not see the snapshot's pin and would reuse its
        // pages.
        #expect(throws: StorageError.inUse(path: "store")) { try Store.open(path: "store", options: options) }
        snapshot = nil
        try Store.open(path: "store", options: options).close()
    }
}
