import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// A list with a link to every row, on a full disk.
@Suite(.serialized)
struct CollectionDiskTests {
    private static let schema = StoreSchema(tables: [
        TableDefinition(
            id: TableID(1), name: "Owner",
            columns: [
                ColumnDefinition(
                    id: ColumnID(1), name: "all", type: .links, target: TableID(2),
                    collection: CollectionColumn(.integer))
            ]),
        TableDefinition(
            id: TableID(2), name: "Target",
            columns: [ColumnDefinition(id: ColumnID(2), name: "text", type: .bytes)]),
    ])

    private static func open(_ fileSystem: any FileSystem) throws -> Store {
        var options = StoreOptions(fileSystem: fileSystem)
        // Trees of many levels, and rows as in a store of the usual size.
        options.limits.elements = 5
        options.limits.children = 8
        options.mapReserve = 1 << 28
        options.logHalfBytes = 16 << 10
        return try Store.open(path: "store", options: options)
    }

    private static func insert(_ store: Store, _ key: Int64, _ random: inout SplitMix64) throws {
        let transaction = try store.beginWrite()
        do {
            try PlainTable.text(key).withUnsafeBytes { text in
                try [Cell.bytes(text)].withUnsafeBufferPointer { try transaction.insert(1, key: RowKey(key), $0) }
            }
            let count = try CollectionReader(transaction.view, table: 0, key: RowKey(0), column: 0).count
            let link = CollectionElements(CollectionColumn(.integer))
            link.append(.integer(key))
            let place = Int(random.below(UInt64(count + 1)))
            try transaction.collections.insert(0, RowKey(0), column: 0, elements: link, at: place)
        } catch {
            transaction.rollback()
            throw error
        }
        try transaction.commit()
    }

    private static func links(_ store: Store) throws -> [Int64] {
        var links: [Int64] = []
        let reader = try CollectionReader(store.snapshot().view, table: 0, key: RowKey(0), column: 0)
        try reader.forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end { links.append(try part.value(at: place).integerValue) }
            return true
        }
        return links
    }

    @Test("rows can be deleted from a full disk although a list links to them", arguments: [90, 150, 260, 400])
    func full(pages: Int) throws {
        let disk = SimulatedDisk(SimulatedDisk.Settings(seed: Seed(UInt64(pages)), capacity: Int64(pages) * 4096))
        var random = SplitMix64(seed: UInt64(pages))
        let store = try Self.open(disk)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: Self.schema)
        try [Cell.bytes(UnsafeRawBufferPointer(start: nil, count: 0))].withUnsafeBufferPointer {
            try transaction.insert(0, key: RowKey(0), $0)
        }
        try transaction.commit()
        var count: Int64 = 0
        while true {
            do { try Self.insert(store, count, &random) } catch {
                #expect(error.isNoSpace, "\(error)")
                break
            }
            count += 1
        }
        #expect(try Self.links(store).sorted() == Array(0..<count))
        try store.checkInvariants()
        for key in 0..<count {
            let transaction = try store.beginWrite()
            try transaction.delete(1, RowKey(key))
            try transaction.commit()
            if key % 16 == 0 {
                try store.checkInvariants()
                #expect(try Self.links(store).sorted() == Array((key + 1)..<count))
            }
            if key % 5 == 3 {
                // The next process has to replay the log on the full disk.
                let dead = try Self.open(disk.kill(healthy: true))
                #expect(try Self.links(dead).sorted() == Array((key + 1)..<count))
                try dead.close()
            }
        }
        #expect(try Self.links(store).isEmpty)
        try store.checkInvariants()
        try store.close()
    }
}
