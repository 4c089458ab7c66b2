import Datasets
import Harness
import PackedRows
import RunRecords
import Seeds
import Testing

@Suite struct PackedRowTests {
    @Test("every row round-trips, value by value")
    func roundTrip() throws {
        let set = try DamageDataset().tables(size: 200, seed: Seed(1))
        let catalogue = try PackedCatalogue(bytes: try PackedCatalogue(set).bytes)
        for (rows, table) in zip(set.tables, catalogue.tables) {
            try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                for row in 0..<rows.rowCount {
                    let values = try table.values(Int64(row), packer.pack(row))
                    #expect(values == rows.values(row: row))
                }
            }
        }
    }

    @Test("a person takes 16 bytes and a name")
    func size() throws {
        let set = try PeopleDataset().tables(size: 3, seed: Seed(1))
        let table = PackedTable(PeopleDataset.persons(0..<3), number: 1)
        try RowPacker.with(set.main, as: table) { packer in
            // The empty list of dogs costs the four bytes of the name's end offset.
            #expect(packer.pack(1).count == 16 + 13 + 4)
        }
    }

    @Test("keys order like numbers, and contain their table")
    func keys() {
        var last: [UInt8] = []
        for key in [Int64.min, -300, -1, 0, 1, 255, 256, Int64.max] {
            let buffer = KeyBuffer()
            buffer.set(7, key)
            let bytes = UnsafeRawBufferPointer(start: buffer.start, count: PackedKey.byteCount)
            #expect(PackedKey.read(bytes, of: 7) == key)
            #expect(PackedKey.read(bytes, of: 8) == nil)
            #expect(last.lexicographicallyPrecedes(bytes))
            last = Array(bytes)
        }
    }

    @Test("a value cut short anywhere is damage, or other data of the same shape, and never a crash")
    func cutShort() throws {
        let set = try DamageDataset().tables(size: 3, seed: Seed(1))
        let table = try PackedCatalogue(set).tables[0]
        let row = try RowPacker.with(set.main, as: table) { Array($0.pack(2)) }
        for count in 0..<table.headBytes {
            #expect(throws: EngineError.self) {
                try row.withUnsafeBytes { _ = try table.values(2, UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            }
        }
        var random = RandomStream(Seed(1))
        for _ in 0..<2_000 {
            var bytes = row
            bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
            do { try bytes.withUnsafeBytes { _ = try table.values(2, $0) } } catch let error as EngineError {
                #expect(error.kind == .untold)
            }
        }
    }

    @Test("bytes that are not a catalogue are damage")
    func brokenCatalogue() throws {
        let bytes = try PackedCatalogue(try DamageDataset().tables(size: 1, seed: Seed(1))).bytes
        #expect(throws: EngineError.self) { _ = try PackedCatalogue(bytes: Array(bytes.dropLast(3))) }
        #expect(throws: EngineError.self) { _ = try PackedCatalogue(bytes: []) }
    }
}
