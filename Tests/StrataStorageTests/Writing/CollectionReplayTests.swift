import StrataFiles
import Testing

@testable import StrataStorage

/// Altered records of element changes: each replay gives an error, or a sound store.
@Suite struct CollectionReplayTests {
    @Test(
        "a record altered anywhere is refused, or leaves a sound store",
        arguments: 1...4 as ClosedRange<UInt64>)
    func changed(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let records = LogFuzzing.collectionOperations
        try #require(records.count >= 4)
        #expect(try LogFuzzing.seeds().count > 20)
        for _ in 0..<120 {
            var operations = records[Int(random.below(UInt64(records.count)))]
            // Two consecutive records, so that operations apply to changed collections.
            if random.below(3) == 0 { operations += records[Int(random.below(UInt64(records.count)))] }
            for _ in 0..<(1 + random.below(3)) where !operations.isEmpty {
                let at = Int(random.below(UInt64(operations.count)))
                switch random.below(4) {
                case 0: operations[at] = UInt8(8 + random.below(5))
                case 1: operations[at] ^= 1 << UInt8(random.below(8))
                case 2: operations.remove(at: at)
                default: operations[at] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            let input = [2, UInt8(LogFuzzing.withCollections)] + operations
            input.withUnsafeBytes { FuzzTarget.log.run($0) }
        }
    }

    @Test("operations on missing rows or elements are damage of the log") func absent() throws {
        let disk = FileImages.Disk()
        let store = try FileImages.open(disk)
        var history = CollectionHistory(seed: 6)
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        try transaction.commit()
        let numbers: [UInt8] = [8, 1, 2, 2, 1, 0]
        let wrong: [[UInt8]] = [
            [8, 9, 2, 2, 1, 0], [8, 1, 2, 99, 1, 0], [8, 1, 2, 2, 2, 0], [8, 1, 2, 1, 1, 0],
            [8, 1, 4, 2, 1, 0, 10, 0, 1, 0, 0, 0], numbers + [10, 100, 1, 0, 0, 0], numbers + [9, 100, 1, 0, 0, 0, 16],
            numbers + [9, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0], numbers + [9, 0, 1, 0, 0, 0, 0],
            numbers + [11, 100, 1, 0, 0, 0, 16], numbers + [12, 100, 1, 0], numbers + [9, 0, 1, 0, 0, 0, 3, 1, 65],
            // A set's members ascend.
            [8, 1, 2, 6, 1, 0, 9, 0, 2, 0, 0, 0, 17, 4, 17, 2],
        ]
        for operations in wrong {
            transaction = try store.beginWrite()
            var record = [UInt8](repeating: 0, count: ChangeRecord.headerSize) + operations
            record[0] = UInt8(record.count)
            record[8] = UInt8(transaction.version)
            #expect(throws: StorageError.corrupt(page: PageNumber(0), offset: 0, reason: .structure), "\(operations)") {
                try ChangeReplay(in: transaction).apply(record)
            }
            transaction.rollback()
        }
        try store.checkInvariants()
        #expect(try CollectionHistory.contents(store.snapshot().view) == history.model)
        try store.close()
    }
}
