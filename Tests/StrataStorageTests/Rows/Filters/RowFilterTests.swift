import StrataFiles
import Testing

@testable import StrataStorage

@Suite struct RowFilterTests {
    private static let seeds = TestSettings.seeds(3, of: 10)

    private static func repeatCommand(_ seed: UInt64, _ filter: RowFilter? = nil) -> Comment {
        "seed \(seed): swift test --filter RowFilterTests\(filter.map { ", \($0)" } ?? "")"
    }

    @Test("filters find the same rows as a full scan", arguments: seeds, [true, false])
    func selection(seed: UInt64, tiny: Bool) throws {
        var history = try FilterHistory(seed: seed, tiny: tiny)
        let view = try history.store.snapshot().view
        for _ in 0..<(tiny ? 300 : 60) {
            let filter = history.filter()
            let keys = history.keys(filter)
            #expect(try view.keys(0, where: filter) == keys, Self.repeatCommand(seed, filter))
            #expect(try view.count(0, where: filter) == keys.count, Self.repeatCommand(seed, filter))
        }
        try history.store.checkInvariants()
    }

    @Test("sums and extremes over a filter equal those of the matching rows", arguments: seeds, [true, false])
    func aggregates(seed: UInt64, tiny: Bool) throws {
        var history = try FilterHistory(seed: seed, tiny: tiny)
        let view = try history.store.snapshot().view
        for round in 0..<(tiny ? 200 : 40) {
            let filter = round == 0 ? RowFilter.everything : history.filter(2)
            let rows = history.keys(filter).compactMap { history.rows[$0] }
            for column in [FilterHistory.small, FilterHistory.wide, FilterHistory.added] {
                let values = rows.compactMap { row -> Int64? in
                    guard case .integer(let value) = row[column] else { return nil }
                    return value
                }
                let totals = try FilteredRows(view, 0, filter).integers(column)
                #expect(totals.sum == values.reduce(0, &+), Self.repeatCommand(seed, filter))
                #expect(totals.count == values.count)
                let extremes = try FilteredRows(view, 0, filter).integerExtremes(column)
                #expect(extremes?.lowerBound == values.min(), Self.repeatCommand(seed, filter))
                #expect(extremes?.upperBound == values.max())
                if filter == .everything {
                    let sum = try view.sum(0, column)
                    #expect(sum == (values.reduce(0, &+), values.count), Self.repeatCommand(seed))
                }
            }
            let doubles = rows.compactMap { row -> Double? in
                guard case .double(let bits) = row[FilterHistory.score] else { return nil }
                return Double(bitPattern: bits)
            }
            let totals = try FilteredRows(view, 0, filter).doubles(FilterHistory.score)
            let sum = doubles.reduce(0, +)
            #expect(totals.sum == sum || totals.sum.isNaN && sum.isNaN, Self.repeatCommand(seed, filter))
            #expect(totals.count == doubles.count)
            let numbers = doubles.filter { !$0.isNaN }
            let extremes = try FilteredRows(view, 0, filter).doubleExtremes(FilterHistory.score)
            #expect(extremes?.lowerBound == numbers.min(), Self.repeatCommand(seed, filter))
            #expect(extremes?.upperBound == numbers.max())
        }
    }

    @Test("a sum is corrected for deleted, inserted and patched rows", arguments: seeds)
    func plainSums(seed: UInt64) throws {
        let store = try Store.open(
            path: "store", options: StoreOptions(fileSystem: MemoryFileSystem(capacity: 1 << 30)))
        var random = SplitMix64(seed: seed)
        var model: [Int64: Int64] = [:]
        var transaction = try store.beginWrite()
        try transaction.apply(
            schema: StoreSchema(
                userVersion: 1, table: "Row", [ColumnDefinition(id: ColumnID(1), name: "value", type: .integer)]))
        let span: UInt64 = [1, 200, 60_000, 1 << 31, 1 << 62][Int(random.below(5))]
        func insert(_ key: Int64, _ transaction: WriteTransaction) throws {
            model[key] = Int64(random.below(span)) - 1000
            try StoreHistory.withCells([.integer(model[key] ?? 0)]) { try transaction.insert(0, key: RowKey(key), $0) }
        }
        for key in 0..<10_000 { try insert(Int64(key) * 2, transaction) }
        try transaction.commit()
        let steps: [(Int64, WriteTransaction) throws -> Void] = [
            { key, transaction in
                model[key] = Int64(random.below(span))
                try StoreHistory.withCell(.integer(model[key] ?? 0)) {
                    try transaction.set(0, RowKey(key), column: 0, to: $0)
                }
            },
            { key, transaction in if model[key | 1] == nil { try insert(key | 1, transaction) } },
            { key, transaction in
                if model.removeValue(forKey: key) != nil { try transaction.delete(0, RowKey(key)) }
            },
        ]
        // Some row groups have one kind of change, others several.
        for (number, step) in steps.enumerated() {
            transaction = try store.beginWrite()
            for _ in 0..<150 { try step(Int64(random.below(3000)) * 2 + Int64(number) * 4000, transaction) }
            try transaction.commit()
            let sum = try store.snapshot().view.sum(0, 0)
            #expect(sum == (model.values.reduce(0, &+), model.count), Self.repeatCommand(seed))
        }
    }

    // An edit in place once put a value below the segment's base: its delta wrapped around, and a filter by deltas
    // missed it.
    @Test("values below the base of their segment are found, added and compared")
    func wrappedDeltas() throws {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
        let values: [Int64] = [1000, 7, -5, .max]
        bytes.put8(0, Int(SegmentKind.integer.rawValue))
        bytes.put16(2, values.count)
        bytes.put8(4, 8)
        bytes.putI64(8, 1000)
        for (slot, value) in values.enumerated() { bytes.putI64(16 + 8 * slot, value &- 1000) }
        let segment = Segment(bytes)
        let store = try Store.open(
            path: "store", options: StoreOptions(fileSystem: MemoryFileSystem(capacity: 1 << 30)))
        for low in [Int64.min, -5, 7, 8, 1000, 1001] {
            for high in [Int64.max, 1000, 7, -5] where low <= high {
                var bits: [UInt64] = [0, 0]
                try segment.select(.integers(low...high), &bits, at: 3, store.reader)
                let expected = values.indices.filter { (low...high).contains(values[$0]) }
                #expect(bits[0] == expected.reduce(0) { $0 | 1 << UInt64($1 + 3) }, "\(low) to \(high)")
            }
        }
        var bits: [UInt64] = [0b0111, 0]
        var totals = IntegerTotals()
        totals.add(segment, &bits, .extremes)
        #expect(totals.least == -5 && totals.most == 1000)
    }

    @Test("a scan from any key returns the existing rows", arguments: seeds, [true, false])
    func scanFromAKey(seed: UInt64, tiny: Bool) throws {
        var history = try FilterHistory(seed: seed, tiny: tiny)
        let view = try history.store.snapshot().view
        for round in 0..<10 {
            let from = round == 0 ? nil : RowKey(Int64(history.random.below(tiny ? 600 : 30_000)) - 100)
            var keys: [Int64] = []
            var differing = 0
            try view.scan(0, columns: [4, 1, 2], from: from) { batch in
                for index in 0..<batch.count {
                    let key = batch.key(index).rawValue
                    keys.append(key)
                    let read: [Value] = [
                        batch.isNull(0, index) ? .null : .bytes(Array(batch.bytes(0, index))),
                        batch.isNull(1, index) ? .null : .integer(batch.integers(1)[index]),
                        batch.isNull(2, index) ? .null : .double(batch.doubles(2)[index].bitPattern),
                    ]
                    if history.rows[key].map({ [$0[4], $0[1], $0[2]] }) != read { differing += 1 }
                }
                return true
            }
            #expect(differing == 0, Self.repeatCommand(seed))
            #expect(
                keys == history.rows.keys.filter { $0 >= from?.rawValue ?? .min }.sorted(), Self.repeatCommand(seed))
        }
    }

    @Test("a range of an ordered index is exact, even if values share a prefix", arguments: seeds)
    func indexedRanges(seed: UInt64) throws {
        var history = try FilterHistory(seed: seed, tiny: true)
        let view = try history.store.snapshot().view
        for _ in 0..<200 {
            let column = [FilterHistory.wide, FilterHistory.score, FilterHistory.text][Int(history.random.below(3))]
            let low = history.value(column)
            let high = history.value(column)
            let found = try StoreHistory.withCell(low) { low in
                try StoreHistory.withCell(high) { try view.rows(0, column, from: low, through: $0) }
            }
            let expected = history.rows.filter { Self.isOrdered(low, $0.value[column], orNull: true) }
                .filter { Self.isOrdered($0.value[column], high, orNull: true) }
            #expect(Set(found.map(\.rawValue)) == Set(expected.keys), "seed \(seed): \(low) through \(high)")
            #expect(found.count == expected.count)
        }
    }

    /// Whether `a` is at most `b`; null is below everything.
    private static func isOrdered(_ a: Value, _ b: Value, orNull: Bool) -> Bool {
        switch (a, b) {
        case (.null, _): true
        case (_, .null): false
        case (.integer(let a), .integer(let b)): a <= b
        case (.double(let a), .double(let b)):
            IndexKey.ordered(Double(bitPattern: a)) <= IndexKey.ordered(Double(bitPattern: b))
        case (.bytes(let a), .bytes(let b)): !b.lexicographicallyPrecedes(a)
        default: false
        }
    }

    @Test("a filter that does not match the table is misuse")
    func misuse() throws {
        let history = try FilterHistory(seed: 1, tiny: true)
        let view = try history.store.snapshot().view
        #expect(throws: StorageError.misuse(.noSuchColumn)) { try view.count(0, where: .null(9)) }
        #expect(throws: StorageError.misuse(.wrongType)) { try view.keys(0, where: .not(.double(0, 0...1))) }
        #expect(throws: StorageError.misuse(.wrongType)) {
            try FilteredRows(view, 0, .everything).integers(FilterHistory.text)
        }
        #expect(throws: StorageError.misuse(.noSuchColumn)) { try view.sum(0, 9) }
    }
}
