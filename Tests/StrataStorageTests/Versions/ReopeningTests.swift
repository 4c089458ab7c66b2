import StrataFiles
import Testing

@testable import StrataStorage

@Suite struct ReopeningTests {
    /// A free map once listed pages of a truncated tail as free. After reopening and growing they were handed out
    /// twice: one map page overwrote another (seed 4 of the random history).
    @Test("pages of a truncated tail are handed out once", arguments: [1, 2, 3, 4] as [UInt64])
    func droppedTail(seed: UInt64) throws {
        let directory = try TemporaryDirectory()
        var options = StoreOptions()
        options.limits = .tiny
        options.mapReserve = 1 << 30
        var history = StoreHistory(seed: seed)
        for round in 0..<25 {
            let store = try Store.open(path: directory.path + "/store", options: options)
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<(round % 3 == 0 ? 150 : 3) { try history.step(transaction) }
            if round % 5 == 4 {
                for table in 0..<2 {
                    for key in history.model.tables[table].keys.sorted() { try transaction.delete(table, RowKey(key)) }
                }
                history.model = StoreModel(tables: [[:], [:]])
            }
            try transaction.commit()
            try store.checkInvariants()
            #expect(try StoreHistory.contents(store.snapshot().view) == history.model, "seed \(seed) round \(round)")
            try store.close()
        }
    }

    @Test("a session of two transactions needs no log, and leaves a clean file of whole pages")
    func twoTransactions() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let store = try Store.open(path: path)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        try transaction.commit()
        let fileSystem = POSIXFileSystem()
        #expect(try fileSystem.status(path + ".log") == nil)
        try store.close()
        #expect(try fileSystem.status(path)?.size ?? 0 < 64 << 10)
        let again = try Store.open(path: path)
        #expect(again.newestVersion == TransactionID(1))
        for key in 0..<3 {
            let second = try again.beginWrite()
            try StoreHistory.withCells([.integer(1), .null]) {
                try second.insert(StoreHistory.dogs, key: RowKey(Int64(key)), $0)
            }
            try second.commit()
            let hasLog = try fileSystem.status(path + ".log") != nil
            #expect(hasLog == (key == 2))
        }
        try again.close()
        #expect(try fileSystem.status(path + ".log") == nil)
    }
}

@Suite struct ExtremeKeyTests {
    @Test("rows with the smallest and the largest key survive reopening") func extremes() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let keys: [Int64] = [.min, .min + 1, -1, 0, .max - 1, .max]
        var store = try Store.open(path: path)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        for key in [keys[5], keys[0], keys[3], keys[4], keys[1], keys[2]] {
            try StoreHistory.withCells([.integer(key), .null]) {
                try transaction.insert(StoreHistory.dogs, key: RowKey(key), $0)
            }
        }
        try transaction.commit()
        try store.close()
        store = try Store.open(path: path)
        #expect(try store.snapshot().view.keys(StoreHistory.dogs) == keys)
        try store.checkInvariants()
        try store.close()
    }

    @Test("a refused row leaves no long value behind") func duplicateWithLongValue() throws {
        let directory = try TemporaryDirectory()
        let store = try Store.open(path: directory.path + "/store")
        let row: [Value] = [.null, .bytes(Array(repeating: 7, count: 9000)), .double(0), .null, .links([])]
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        try StoreHistory.withCells(row[...]) { try transaction.insert(0, key: RowKey(5), $0) }
        try StoreHistory.withCells(row[...]) { try transaction.insert(0, key: RowKey(9), $0) }
        #expect(throws: StorageError.misuse(.duplicateKey)) {
            try StoreHistory.withCells(row[...]) { try transaction.insert(0, key: RowKey(5), $0) }
        }
        try transaction.commit()
        try store.checkInvariants()
        try store.close()
    }
}
