import StrataFiles

@testable import StrataStorage

/// A table filled and changed by a seeded history, with its model: groups with patches, deleted and inserted rows,
/// nulls, exceptions, long values, and columns that old groups lack.
struct FilterHistory {
    static let small = 0
    static let wide = 1
    static let score = 2
    static let code = 3
    static let text = 4
    static let added = 5
    static let addedText = 6

    let store: Store
    private(set) var rows: [Int64: [Value]] = [:]
    var random: SplitMix64
    private let codeLength: Int
    private let isDense: Bool
    private let textLimit: UInt64

    private static func schema(_ columns: Int) -> StoreSchema {
        let all = [
            ColumnDefinition(id: ColumnID(1), name: "small", type: .integer),
            ColumnDefinition(id: ColumnID(2), name: "wide", type: .integer, isOptional: true, index: .ordered),
            ColumnDefinition(id: ColumnID(3), name: "score", type: .double, isOptional: true, index: .ordered),
            ColumnDefinition(id: ColumnID(4), name: "code", type: .bytes),
            ColumnDefinition(id: ColumnID(5), name: "text", type: .bytes, isOptional: true, index: .ordered),
            ColumnDefinition(
                id: ColumnID(6), name: "added", type: .integer, defaultBits: UInt64(bitPattern: -7)),
            ColumnDefinition(id: ColumnID(7), name: "addedText", type: .bytes, isOptional: true),
        ]
        return StoreSchema(userVersion: UInt64(columns), table: "Row", Array(all.prefix(columns)))
    }

    /// - Parameter tiny: row groups of some rows instead of thousands.
    init(seed: UInt64, tiny: Bool) throws {
        random = SplitMix64(seed: seed)
        codeLength = [0, 1, 3, 5, 8, 13, 16, 21][Int(random.below(8))]
        isDense = random.below(2) == 0
        textLimit = random.below(2) == 0 ? 3000 : 20
        var options = StoreOptions(fileSystem: MemoryFileSystem(capacity: 1 << 30))
        if tiny { options.limits = .tiny }
        options.mapReserve = 1 << 30
        store = try Store.open(path: "store", options: options)
        try write { (_, transaction) in try transaction.apply(schema: Self.schema(5)) }
        let count = tiny ? 150 : 9000
        try write { (history, transaction) in
            for place in 0..<count {
                try history.insert(Int64(place) * (history.isDense ? 1 : 3) - 40, transaction)
            }
        }
        for round in 0..<4 {
            try write { (history, transaction) in
                if round == 2 {
                    try transaction.apply(schema: Self.schema(7))
                    for key in history.rows.keys { history.rows[key]? += [.integer(-7), .null] }
                }
                try history.change(tiny ? 40 : 700, transaction)
            }
        }
    }

    private mutating func write(_ body: (inout FilterHistory, WriteTransaction) throws -> Void) throws {
        let transaction = try store.beginWrite()
        try body(&self, transaction)
        try transaction.commit()
    }

    private mutating func insert(_ key: Int64, _ transaction: WriteTransaction) throws {
        if rows[key] != nil { return }
        let width = rows.values.first?.count ?? 5
        let values = (0..<width).map { value($0) }
        try StoreHistory.withCells(values[...]) { try transaction.insert(0, key: RowKey(key), $0) }
        rows[key] = values
    }

    /// Makes random changes in one transaction.
    mutating func change(_ steps: Int) throws {
        try write { (history, transaction) in try history.change(steps, transaction) }
    }

    private mutating func change(_ steps: Int, _ transaction: WriteTransaction) throws {
        let keys = rows.keys.sorted()
        for _ in 0..<steps {
            let key = keys[Int(random.below(UInt64(keys.count)))]
            switch random.below(12) {
            case 0 where rows[key] != nil:
                try transaction.delete(0, RowKey(key))
                rows[key] = nil
            case 1: try insert(key + Int64(random.below(3)), transaction)
            default:
                guard let old = rows[key] else { continue }
                let column = Int(random.below(UInt64(old.count)))
                let new = value(column)
                try StoreHistory.withCell(new) { try transaction.set(0, RowKey(key), column: column, to: $0) }
                rows[key]?[column] = new
            }
        }
    }

    /// A typical value of the column.
    mutating func value(_ column: Int) -> Value {
        switch column {
        case Self.small: return .integer(Int64(random.below(100)))
        case Self.wide:
            switch random.below(200) {
            case 0..<20: return .null
            case 20: return .integer([Int64.min, Int64.max, -1][Int(random.below(3))])
            default: return .integer(1_000_000 + Int64(random.below(60_000)))
            }
        case Self.score:
            switch random.below(40) {
            case 0...2: return .null
            case 3: return .double([Double.nan, -0.0, 0, .infinity, -.infinity][Int(random.below(5))].bitPattern)
            default: return .double((Double(random.below(1000)) - 300).bitPattern)
            }
        case Self.code: return .bytes(bytes(codeLength))
        case Self.added: return .integer(Int64(random.below(1 << 40)))
        default:
            if random.below(8) == 0 { return .null }
            return .bytes(bytes(Int(random.below(30) == 0 ? random.below(textLimit) : random.below(20))))
        }
    }

    /// Bytes of few different letters, so that values coincide.
    private mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 97, count: count)
        for _ in 0..<min(count, 2) { bytes[Int(random.below(UInt64(count)))] = 97 + UInt8(random.below(4)) }
        return bytes
    }

    // MARK: Filters

    mutating func filter(_ depth: Int = 3) -> RowFilter {
        switch random.below(depth == 0 ? 5 : 9) {
        case 0: return integerTest()
        case 1: return doubleTest()
        case 2, 3: return bytesTest()
        case 4:
            if random.below(2) == 0 { return .null(Int(random.below(7))) }
            if random.below(3) == 0 { return .keys(IntegerSet(integers(9000))) }
            return .key(comparison(), Int64(random.below(9000)))
        case 5: return .not(filter(depth - 1))
        case 6: return .or((0..<Int(random.below(4))).map { _ in filter(depth - 1) })
        default: return .and((0..<Int(random.below(4))).map { _ in filter(depth - 1) })
        }
    }

    private mutating func comparison() -> RowFilter.Comparison {
        [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual][Int(random.below(5))]
    }

    private mutating func integerTest() -> RowFilter {
        let column = [Self.small, Self.wide, Self.added][Int(random.below(3))]
        guard case .integer(let limit) = value(column) else { return .integer(column, .equal, .max) }
        if random.below(4) == 0 { return .integers(column, IntegerSet(integers(2_000_000) + [limit])) }
        if random.below(4) > 0 { return .integer(column, comparison(), limit) }
        let other = Int64(random.below(1_100_000))
        return .integer(column, min(limit, other)...max(limit, other))
    }

    private mutating func integers(_ limit: UInt64) -> [Int64] {
        (0..<Int(random.below(300))).map { _ in Int64(random.below(limit)) }
    }

    private mutating func doubleTest() -> RowFilter {
        guard case .double(let bits) = value(Self.score) else { return .double(Self.score, -5...100) }
        if random.below(4) == 0 {
            let others = (0..<Int(random.below(40))).map { _ in Double(random.below(1000)) - 300 }
            return .doubles(Self.score, among: others + [Double(bitPattern: bits)])
        }
        return .double(Self.score, comparison(), Double(bitPattern: bits))
    }

    private mutating func bytesTest() -> RowFilter {
        let column = [Self.code, Self.text, Self.addedText][Int(random.below(3))]
        guard case .bytes(let bytes) = value(column) else { return .bytes(column, .equal([])) }
        switch random.below(7) {
        case 6:
            var others: [[UInt8]] = []
            for _ in 0..<random.below(40) { if case .bytes(let other) = value(column) { others.append(other) } }
            return .bytes(column, .oneOf(BytesSet(others + [bytes])))
        case 5:
            let last = bytes.last ?? 97
            return .bytes(column, .matches(BytesMatcher { $0.last == last }))
        case 0: return .bytes(column, .prefix(Array(bytes.prefix(Int(random.below(6))))))
        case 1: return .bytes(column, .contains(Array(bytes.suffix(Int(random.below(4))))))
        case 2: return .bytes(column, .ordered(comparison(), bytes))
        default: return .bytes(column, .equal(bytes))
        }
    }

    // MARK: The naive answer

    func keys(_ filter: RowFilter) -> [Int64] {
        rows.keys.sorted().filter { Self.holds(filter, $0, rows[$0] ?? []) }
    }

    static func holds(_ filter: RowFilter, _ key: Int64, _ row: [Value]) -> Bool {
        switch filter {
        case .everything: return true
        case .nothing: return false
        case .key(let range): return range.contains(key)
        case .keys(let set): return set.contains(key)
        case .integers(let column, let set):
            guard case .integer(let value) = row[column] else { return false }
            return set.contains(value)
        case .null(let column): return row[column] == .null
        // The rows here have none.
        case .collection: return false
        case .and(let parts): return parts.allSatisfy { holds($0, key, row) }
        case .or(let parts): return parts.contains { holds($0, key, row) }
        case .not(let part): return !holds(part, key, row)
        case .integer(let column, let range):
            guard case .integer(let value) = row[column] else { return false }
            return range.contains(value)
        case .double(let column, let range):
            guard case .double(let bits) = row[column] else { return false }
            return range.contains(Double(bitPattern: bits))
        case .doubles(let column, let set):
            guard case .double(let bits) = row[column] else { return false }
            return set.values.contains { Double(bitPattern: UInt64(bitPattern: $0)) == Double(bitPattern: bits) }
        case .bytes(let column, let test):
            guard case .bytes(let value) = row[column] else { return false }
            return holds(test, value)
        }
    }

    private static func holds(_ test: RowFilter.BytesTest, _ value: [UInt8]) -> Bool {
        switch test {
        case .equal(let wanted): return value == wanted
        case .oneOf(let set): return set.values.contains(value)
        case .prefix(let wanted): return Array(value.prefix(wanted.count)) == wanted
        case .contains(let wanted):
            return value.indices.contains { Array(value[$0...].prefix(wanted.count)) == wanted } || wanted.isEmpty
        case .ordered(.equal, let limit): return value == limit
        case .ordered(.less, let limit): return value.lexicographicallyPrecedes(limit)
        case .ordered(.lessOrEqual, let limit): return !limit.lexicographicallyPrecedes(value)
        case .ordered(.greater, let limit): return limit.lexicographicallyPrecedes(value)
        case .ordered(.greaterOrEqual, let limit): return !value.lexicographicallyPrecedes(limit)
        case .matches(let matcher): return value.withUnsafeBytes { matcher.holds($0) }
        }
    }
}
