import Platform
import StrataFiles
import StrataStorage
import Testing

@Suite struct ClosingAndCopyTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/store"
    }

    private func insert(_ store: Store, _ key: Int64) throws -> PendingCommit {
        let transaction = try store.beginWrite()
        if key == 1 { try transaction.apply(schema: StoreHistory.schema) }
        try StoreHistory.withCells([.integer(key), .null]) {
            try transaction.insert(StoreHistory.dogs, key: RowKey(key), $0)
        }
        return try transaction.commitWithoutWaiting()
    }

    @Test("waiting for a commit after a failed close writes to no descriptor that has been reused")
    func waitAfterFailedClose() throws {
        let store = try Store.open(path: path)
        // The first two are checkpoints; from the third on there is a log.
        for key in 1...3 { try insert(store, Int64(key)).wait() }
        let pending = try insert(store, 4)
        #expect(unlink(path) == 0)
        #expect(throws: StorageError.self) { try store.close() }
        let victims = try (0..<16).map { number in
            try POSIXFileSystem().open(directory.path + "/victim\(number)", .createNew)
        }
        #expect(throws: StorageError.self) { try pending.wait() }
        for victim in victims { #expect(try victim.size() == 0, "\(victim.path)") }
    }

    @Test("a copy leaves another running copy's file alone, and removes a dead one's")
    func copiesToOnePlace() throws {
        let store = try Store.open(path: path)
        try insert(store, 1).wait()
        let other = try Store.openAlone(path: path + "-copy.copying", options: StoreOptions())
        #expect(throws: StorageError.inUse(path: path + "-copy.copying")) { try store.writeCopy(to: path + "-copy") }
        #expect(access(path + "-copy.copying", F_OK) == 0)
        try other.close()
        try store.writeCopy(to: path + "-copy")
        #expect(access(path + "-copy.copying", F_OK) != 0)
        let copy = try Store.open(path: path + "-copy")
        #expect(try copy.snapshot().view.rowCount(StoreHistory.dogs) == 1)
        try copy.close()
        try store.close()
    }
}
