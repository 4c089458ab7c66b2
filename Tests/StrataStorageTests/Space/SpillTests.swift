import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// Transactions that change far more than their memory budget.
@Suite struct SpillTests {
    private let disk = SimulatedDisk(seed: Seed(3))

    private func open(_ durability: Durability = .full) throws -> Store {
        var options = StoreOptions(fileSystem: disk, durability: durability)
        options.limits.memoryBudget = 1 << 17
        options.mapReserve = 1 << 28
        return try Store.open(path: "store", options: options)
    }

    private static let schema = StoreSchema(
        table: "rows",
        [
            ColumnDefinition(id: ColumnID(1), name: "number", type: .integer, index: .ordered),
            ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes, index: .hash),
            ColumnDefinition(id: ColumnID(3), name: "other", type: .link, target: TableID(1)),
        ])

    private struct Row: Equatable {
        var number: Int64
        var text: [UInt8]
    }

    private static func insert(_ transaction: WriteTransaction, _ key: Int64, _ row: Row) throws {
        try row.text.withUnsafeBytes { text in
            let cells: [Cell] = [.integer(row.number), .bytes(text), key % 5 == 0 ? .integer(key) : .null]
            try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
        }
    }

    /// Applies random inserts, updates and deletes to the transaction and to a model.
    private static func change(
        _ transaction: WriteTransaction, _ rows: inout [Int64: Row], _ random: inout SplitMix64, count: Int
    ) throws {
        for number in 0..<count {
            let key = Int64(random.below(20_000))
            let length = random.below(200) == 0 ? 5000 : Int(random.below(60))
            let row = Row(
                number: Int64(random.below(5000)), text: [UInt8](repeating: UInt8(random.below(256)), count: length))
            if let old = rows[key] {
                if random.below(3) == 0 {
                    try transaction.delete(0, RowKey(key))
                    rows[key] = nil
                } else {
                    try transaction.set(0, RowKey(key), column: 0, to: .integer(row.number))
                    rows[key] = Row(number: row.number, text: old.text)
                    if random.below(2) == 0 {
                        try row.text.withUnsafeBytes { try transaction.set(0, RowKey(key), column: 1, to: .bytes($0)) }
                        rows[key] = row
                    }
                }
            } else {
                try insert(transaction, key, row)
                rows[key] = row
            }
            // Memory holds the changes since the last spill, and at most the nodes of one operation more.
            let limit = transaction.nodes.limits.memoryBudget + 128 * Format.pageSize
            #expect(transaction.nodes.arena.byteCount <= limit, "after \(number) operations")
            if number % 4000 == 0 { try compare(transaction.view, rows) }
        }
    }

    private static func compare(_ view: ReadView, _ rows: [Int64: Row]) throws {
        var found: [Int64: Row] = [:]
        try view.scan(0, columns: [0, 1]) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                found[batch.key(row).rawValue] = Row(number: batch.integers(0)[row], text: Array(batch.bytes(1, row)))
            }
            return true
        }
        #expect(found == rows)
    }

    @Test(
        "a large transaction keeps little in memory and commits or rolls back whole",
        arguments: [Durability.full, .none], [1, 2] as [UInt64])
    func large(durability: Durability, seed: UInt64) throws {
        var store = try open(durability)
        var random = SplitMix64(seed: seed)
        var rows: [Int64: Row] = [:]
        for round in 0..<3 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: Self.schema) }
            var next = rows
            try Self.change(transaction, &next, &random, count: 12_000)
            try Self.compare(transaction.view, next)
            if round == 1 {
                transaction.rollback()
            } else {
                try transaction.commit()
                rows = next
            }
            try store.checkInvariants()
            try Self.compare(store.snapshot().view, rows)
        }
        #expect(CoverageMarks.hits[.spilled] != nil)
        try store.close()
        store = try open(durability)
        try Self.compare(store.snapshot().view, rows)
        let transaction = try store.beginWrite()
        try transaction.deleteAll(0)
        try transaction.commit()
        try store.checkInvariants()
        #expect(try store.snapshot().view.rowCount(0) == 0)
        try store.close()
    }

    @Test("a transaction that never commits leaves no page taken")
    func uncommittedTransaction() throws {
        let store = try open()
        try PlainTable.setUp(store)
        let before = try store.space()
        for _ in 0..<3 {
            let transaction = try store.beginWrite()
            for key in 0..<6000 { try PlainTable.insert(transaction, Int64(key * 7919 % 6000)) }
            transaction.rollback()
        }
        let after = try store.space()
        #expect(after.liveBytes - before.liveBytes <= 4 * Format.pageSize)
        try store.checkInvariants()
        try store.close()
    }

    @Test("pages behind a full file come back when their transaction is given up")
    func pagesBehindAFullFile() throws {
        // A compacted file has no free page, so nothing has read its map when the first page is taken.
        var options = StoreOptions(fileSystem: disk)
        options.mapReserve = 1 << 28
        do {
            let store = try Store.open(path: "store", options: options)
            try PlainTable.setUp(store)
            try PlainTable.insert(store, 0..<500)
            try store.close()
            try Store.compact(path: "store", options: options)
        }
        options.limits.memoryBudget = 1 << 14
        let store = try Store.open(path: "store", options: options)
        let transaction = try store.beginWrite()
        for key in Int64(1000)..<3000 { try PlainTable.insert(transaction, key) }
        transaction.rollback()
        try store.checkInvariants()
        try PlainTable.insert(store, 1000..<1010)
        try store.checkInvariants()
        try store.close()
    }

    @Test("an ended transaction reads nothing")
    func endedTransaction() throws {
        let store = try open()
        try PlainTable.setUp(store)
        for isCommitted in [true, false] {
            let transaction = try store.beginWrite()
            try PlainTable.insert(transaction, isCommitted ? 1 : 2)
            let row = try #require(try transaction.view.locate(0, RowKey(isCommitted ? 1 : 2)))
            if isCommitted { try transaction.commit() } else { transaction.rollback() }
            let view = transaction.view
            #expect(throws: StorageError.misuse(.transactionEnded)) { try view.rowCount(0) }
            #expect(throws: StorageError.misuse(.transactionEnded)) { try view.locate(0, RowKey(1)) }
            #expect(throws: StorageError.misuse(.transactionEnded)) { try view.integer(row, 0) }
            #expect(throws: StorageError.misuse(.transactionEnded)) { try view.bytes(row, 1) }
            #expect(throws: StorageError.misuse(.transactionEnded)) { try view.rows(0, 0, equalTo: .integer(7)) }
        }
        try store.close()
    }
}
