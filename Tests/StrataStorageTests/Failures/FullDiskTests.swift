import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// A table of keys and texts, for tests that count pages and not values.
struct PlainTable {
    static let schema = StoreSchema(
        table: "rows",
        [
            ColumnDefinition(id: ColumnID(1), name: "number", type: .integer, index: .ordered),
            ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes),
        ])

    static func text(_ key: Int64) -> [UInt8] {
        Array("row \(key) ".utf8) + filled(UInt8(truncatingIfNeeded: key), 180)
    }

    private static func filled(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

    static func setUp(_ store: Store) throws {
        let transaction = try store.beginWrite()
        try transaction.apply(schema: schema)
        try transaction.commit()
    }

    static func insert(_ transaction: WriteTransaction, _ key: Int64) throws {
        try text(key).withUnsafeBytes { bytes in
            let cells: [Cell] = [.integer(key &* 7 % 1000), .bytes(bytes)]
            try cells.withUnsafeBufferPointer { try transaction.insert(0, key: RowKey(key), $0) }
        }
    }

    static func insert(_ store: Store, _ keys: some Sequence<Int64>) throws {
        let transaction = try store.beginWrite()
        do { for key in keys { try insert(transaction, key) } } catch {
            transaction.rollback()
            throw error
        }
        try transaction.commit()
    }

    static func delete(_ store: Store, _ keys: some Sequence<Int64>) throws {
        let transaction = try store.beginWrite()
        for key in keys { try transaction.delete(0, RowKey(key)) }
        try transaction.commit()
    }

    /// The keys, after every row was compared with its expected contents.
    static func keys(_ view: ReadView) throws -> [Int64] {
        let keys = try view.keys(0)
        for key in keys {
            let row = try #require(try view.locate(0, RowKey(key)))
            let bytes = try #require(try view.bytes(row, 1))
            #expect(Array(bytes) == text(key))
            #expect(try view.integer(row, 0) == key &* 7 % 1000)
        }
        return keys
    }
}

extension Error {
    var isNoSpace: Bool {
        guard let error = self as? StorageError, case .noSpace = error else { return false }
        return true
    }
}

@Suite(.serialized)
struct FullDiskTests {
    private static func open(_ fileSystem: any FileSystem, _ path: String, _ durability: Durability = .full) throws
        -> Store
    {
        var options = StoreOptions(fileSystem: fileSystem, durability: durability)
        options.limits = .tiny
        options.mapReserve = 1 << 28
        options.logHalfBytes = 16 << 10
        return try Store.open(path: path, options: options)
    }

    /// Fills the disk, checks that no commit was lost, and empties the store row by row.
    private static func fillAndEmpty(
        _ fileSystem: any FileSystem, _ path: String, batch: Int64, _ durability: Durability
    ) throws {
        var store = try open(fileSystem, path, durability)
        try PlainTable.setUp(store)
        var count: Int64 = 0
        var reader: Snapshot? = try store.snapshot()
        while true {
            do {
                try PlainTable.insert(store, count..<(count + batch))
                count += batch
            } catch {
                #expect(error.isNoSpace, "\(error)")
                break
            }
            if count > 100_000 { Issue.record("the disk never filled"); return }
        }
        #expect(try reader.map { try PlainTable.keys($0.view).isEmpty } == true)
        reader = nil
        #expect(try PlainTable.keys(store.snapshot().view) == Array(0..<count))
        try store.checkInvariants()
        // A second attempt to insert is refused too, and changes nothing.
        #expect(throws: StorageError.self) { try PlainTable.insert(store, 1_000_000..<1_000_400) }
        for key in 0..<count {
            do { try PlainTable.delete(store, [key]) } catch {
                Issue.record("deleting row \(key) of \(count): \(error)")
                return
            }
            if key % 16 == 0 { try store.checkInvariants() }
            if key % 5 == 3, durability == .full, let disk = fileSystem as? SimulatedDisk {
                // The next process has to replay the log on the full disk.
                let dead = try open(disk.kill(healthy: true), path, durability)
                #expect(try PlainTable.keys(dead.snapshot().view) == Array((key + 1)..<count))
                try dead.close()
            }
            if key == count / 2 {
                // The next process finds the disk equally full.
                try store.close()
                store = try open(fileSystem, path, durability)
                #expect(try PlainTable.keys(store.snapshot().view) == Array((key + 1)..<count))
            }
        }
        // The freed pages can be reused.
        try PlainTable.insert(store, 0..<max(1, count / 4))
        try store.checkInvariants()
        try store.close()
        store = try open(fileSystem, path, durability)
        #expect(try PlainTable.keys(store.snapshot().view) == Array(0..<max(1, count / 4)))
        try store.close()
    }

    @Test(
        "a full disk loses no commit and can be emptied, wherever it fills",
        arguments: [Durability.full, .periodic, .none])
    func everyCapacity(durability: Durability) throws {
        for pages in stride(from: 40, through: 260, by: 11) {
            let disk = SimulatedDisk(
                SimulatedDisk.Settings(seed: Seed(UInt64(pages)), capacity: Int64(pages) * 4096))
            do {
                try Self.fillAndEmpty(disk, "store", batch: Int64(pages % 7 + 1), durability)
            } catch {
                Issue.record("\(pages) pages: \(error)")
            }
        }
    }
}
