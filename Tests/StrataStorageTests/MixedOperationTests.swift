import StrataFiles
import Testing

@testable import StrataStorage

/// Operations in an unusual order, and operations that fail half-way.
@Suite struct MixedOperationTests {
    private static func open(_ fileSystem: some FileSystem, _ limits: StoreLimits = StoreLimits()) throws -> Store {
        var options = StoreOptions(fileSystem: fileSystem)
        options.mapReserve = 1 << 28
        options.logHalfBytes = 4 << 20
        options.limits = limits
        return try Store.open(path: "store", options: options)
    }

    private static func commit(_ store: Store, _ body: (WriteTransaction) throws -> Void) throws {
        let transaction = try store.beginWrite()
        try body(transaction)
        try transaction.commit()
    }

    @Test("deletions after a failed look-up in a row group see the changes made since")
    func missingThenChanged() throws {
        let store = try Self.open(FileImages.Disk())
        try PlainTable.setUp(store)
        try PlainTable.insert(store, stride(from: Int64(0), to: 2_000, by: 2))
        try Self.commit(store) { transaction in
            try transaction.bulk.delete(0, [Int64(101)])
            try transaction.set(0, RowKey(100), column: 0, to: .integer(-5))
            try transaction.set(0, RowKey(102), column: 0, to: .integer(-6))
            try transaction.delete(0, RowKey(100))
            #expect(try transaction.view.rows(0, 0, equalTo: .integer(-5)).isEmpty)
            #expect(try transaction.view.rows(0, 0, equalTo: .integer(-6)) == [RowKey(102)])
            // The deletion finds no row and remembers its place; then rows are inserted before that place.
            try transaction.bulk.delete(0, [Int64(103)])
            for key in stride(from: Int64(1), to: 60, by: 2) { try PlainTable.insert(transaction, key) }
            for key in Int64(0)..<60 { try transaction.set(0, RowKey(key), column: 0, to: .integer(key)) }
            try transaction.delete(0, RowKey(104))
        }
        try store.checkInvariants()
        let keys = try store.snapshot().view.keys(0)
        let even = stride(from: Int64(60), to: 2_000, by: 2).filter { $0 != 100 && $0 != 104 }
        #expect(keys == Array(Int64(0)..<60) + even)
        try store.close()
    }

    @Test("an index of a link column follows when the targets of many rows are deleted at once", arguments: [40, 900])
    func indexedLinks(targets: Int) throws {
        let store = try Self.open(FileImages.Disk())
        let schema = StoreSchema(tables: [
            TableDefinition(
                id: TableID(1), name: "from",
                columns: [
                    ColumnDefinition(id: ColumnID(1), name: "to", type: .link, index: .ordered, target: TableID(2))
                ]),
            TableDefinition(
                id: TableID(2), name: "to", columns: [ColumnDefinition(id: ColumnID(2), name: "n", type: .integer)]),
        ])
        try Self.commit(store) { transaction in
            try transaction.apply(schema: schema)
            for key in Int64(0)..<1_000 {
                try StoreHistory.withCells([.integer(key)]) { try transaction.insert(1, key: RowKey(key), $0) }
                try StoreHistory.withCells([.integer(key)]) { try transaction.insert(0, key: RowKey(key), $0) }
            }
        }
        try Self.commit(store) { try $0.bulk.delete(1, Array(Int64(0)..<Int64(targets))) }
        try store.checkInvariants()
        let view = try store.snapshot().view
        #expect(try view.rows(0, 0, equalTo: .null).count == targets)
        #expect(try view.rows(0, 0, equalTo: .integer(3)).isEmpty)
        try store.close()
    }

    @Test("columns of a wide table that grow in turn stay within a row group's limit of nodes")
    func manyColumns() throws {
        let store = try Self.open(FileImages.Disk(capacity: 1 << 26))
        let (columns, rows) = (300, 537)
        let definitions = (1...columns).map {
            ColumnDefinition(id: ColumnID(UInt16($0)), name: "c\($0)", type: .integer)
        }
        try Self.commit(store) { transaction in
            try transaction.apply(
                schema: StoreSchema(table: "t", definitions))
            for row in 0..<rows {
                let cells = (0..<columns).map { Cell.integer(Int64((row + $0) % 200)) }
                try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(Int64(row)), $0) }
            }
        }
        try Self.commit(store) { transaction in
            for column in 0..<columns {
                for row in Int64(0)..<Int64(rows) {
                    try transaction.set(0, RowKey(row), column: column, to: .integer(row << 40 + Int64(column)))
                }
            }
        }
        try store.checkInvariants()
        let view = try store.snapshot().view
        for row in Int64(0)..<Int64(rows) {
            let place = try #require(try view.locate(0, RowKey(row)))
            for column in 0..<columns {
                let found = try view.integer(place, column)
                if found != row << 40 + Int64(column) { Issue.record("row \(row), column \(column)") }
            }
        }
        try store.close()
    }

    @Test("a value that changes endlessly keeps its last change, and deferred changes do not grow") func sameValue()
        throws
    {
        let store = try Self.open(FileImages.Disk())
        try PlainTable.setUp(store)
        try PlainTable.insert(store, Int64(0)..<3_000)
        let transaction = try store.beginWrite()
        for number in 0..<100_000 {
            let text = Value.bytes(Array("number \(number)".utf8))
            try StoreHistory.withCell(text) { try transaction.set(0, RowKey(7), column: 1, to: $0) }
        }
        let row = try #require(try transaction.view.locate(0, RowKey(7)))
        #expect(try transaction.view.bytes(row, 1).map(Array.init) == Array("number 99999".utf8))
        transaction.rollback()
        try store.checkInvariants()
        try store.close()
    }

    @Test("a transaction with a failure other than misuse commits nothing", arguments: 1...12)
    func failure(seed: Int) throws {
        let files = RefusingFileSystem()
        var limits = StoreLimits.tiny
        // Most changes have to be spilled before the end.
        limits.memoryBudget = 4 << 12
        let store = try Self.open(files, limits)
        var history = MixedHistory(seed: UInt64(seed))
        try Self.commit(store) { transaction in
            try transaction.apply(schema: MixedHistory.schema)
            for _ in 0..<60 { try history.step(transaction) }
        }
        let before = history.model
        let transaction = try store.beginWrite()
        files.firstRefusedWrite.store(
            files.writes.load(ordering: .relaxed) + seed * seed, ordering: .relaxed)
        var failure: StorageError?
        do { for _ in 0..<400 { try history.step(transaction) } } catch let error as StorageError { failure = error }
        files.firstRefusedWrite.store(.max, ordering: .relaxed)
        if case .misuse? = failure { Issue.record("\(failure as Any)") }
        #expect(failure != nil)
        #expect(throws: StorageError.self) { try transaction.commit() }
        #expect(try MixedHistory.contents(store.snapshot().view) == before)
        try store.checkInvariants()
        history.model = before
        try Self.commit(store) { transaction in for _ in 0..<20 { try history.step(transaction) } }
        #expect(try MixedHistory.contents(store.snapshot().view) == history.model)
        try store.checkInvariants()
        try store.close()
    }
}
