import StrataFiles
import Testing

@testable import StrataStorage

@Suite struct DuplicateValuesTests {
    private func store(_ index: IndexKind, tiny: Bool) throws -> Store {
        var options = StoreOptions(fileSystem: MemoryFileSystem(capacity: 1 << 26))
        if tiny { options.limits = .tiny }
        let store = try Store.open(path: "store", options: options)
        let type: ColumnType = index == .hash ? .bytes : .integer
        let transaction = try store.beginWrite()
        try transaction.apply(
            schema: StoreSchema(
                userVersion: 1, table: "Row",
                [
                    ColumnDefinition(id: ColumnID(1), name: "value", type: type, isOptional: true, index: index)
                ]))
        try transaction.commit()
        return store
    }

    @Test(
        "duplicate values found along the index equal those found by counting",
        arguments: 1...6 as ClosedRange<UInt64>)
    func duplicates(seed: UInt64) throws {
        for index in [IndexKind.ordered, .hash] {
            let store = try store(index, tiny: seed % 2 == 0)
            var random = SplitMix64(seed: seed)
            var rows: [Int64: Int64?] = [:]
            let transaction = try store.beginWrite()
            for key in 0..<600 as Range<Int64> {
                let drawn = Int64(random.below(seed < 3 ? 100_000 : 500)) - 250
                let value: Int64? = drawn == 0 || key == 7 ? nil : (drawn == 1 ? .min : drawn)
                rows[key] = value
                if index == .ordered {
                    try StoreHistory.withCells([value.map { .integer($0) } ?? .null]) {
                        try transaction.insert(0, key: RowKey(key), $0)
                    }
                } else {
                    try StoreHistory.withCells([value.map { .bytes(Array("value \($0)".utf8)) } ?? .null]) {
                        try transaction.insert(0, key: RowKey(key), $0)
                    }
                }
            }
            var counts: [Int64?: Int] = [:]
            for value in rows.values { counts[value, default: 0] += 1 }
            let several = counts.filter { $0.value > 1 }
            let found = try transaction.view.duplicates(0, 0, limit: 3)
            #expect(found.values == several.count, "seed \(seed): swift test --filter DuplicateValuesTests")
            #expect(found.rows == several.values.reduce(0, +))
            #expect(found.examples.count == min(3, several.count))
            for example in found.examples { #expect(several[rows[example.rawValue] ?? nil] != nil) }
            try transaction.commit()
            try store.close()
        }
    }

    @Test("a column can become required only if it holds no null")
    func required() throws {
        for tiny in [false, true] {
            let store = try store(.ordered, tiny: tiny)
            let transaction = try store.beginWrite()
            for key in 0..<300 as Range<Int64> {
                try StoreHistory.withCells([key == 150 ? .null : .integer(key)]) {
                    try transaction.insert(0, key: RowKey(key), $0)
                }
            }
            var schema = transaction.view.schema
            schema.tables[0].columns[0].isOptional = false
            #expect(throws: StorageError.misuse(.notOptional)) { try transaction.apply(schema: schema) }
            try StoreHistory.withCell(.integer(-1)) { try transaction.set(0, RowKey(150), column: 0, to: $0) }
            try transaction.apply(schema: schema)
            #expect(throws: StorageError.misuse(.notOptional)) {
                try StoreHistory.withCell(.null) { try transaction.set(0, RowKey(1), column: 0, to: $0) }
            }
            try transaction.commit()
            let view = try store.snapshot().view
            #expect(!view.schema.tables[0].columns[0].isOptional)
            #expect(try view.count(0, where: .null(0)) == 0)
            #expect(try view.sum(0, 0) == ((0..<300).reduce(0, +) - 151, 300))
            try store.checkInvariants()
        }
    }
}
