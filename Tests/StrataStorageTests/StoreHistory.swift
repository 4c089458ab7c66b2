import StrataFiles

@testable import StrataStorage

/// A value as tests compare it.
enum Value: Hashable, CustomStringConvertible {
    case null
    case integer(Int64)
    case double(UInt64)
    case bytes([UInt8])
    case links([Int64])

    var description: String {
        switch self {
        case .null: "null"
        case .integer(let value): "\(value)"
        case .double(let bits): "\(Double(bitPattern: bits))"
        case .bytes(let bytes): "\(bytes.count) bytes \(bytes.prefix(4))"
        case .links(let links): "links \(links)"
        }
    }
}

/// The expected contents: rows by table and key.
struct StoreModel: Equatable {
    var tables: [[Int64: [Value]]]
}

/// A seeded history of transactions on a store and on a model of it.
struct StoreHistory {
    static let people = 0
    static let dogs = 1
    static let schema = StoreSchema(
        userVersion: 1,
        tables: [
            TableDefinition(
                id: TableID(1), name: "Person",
                columns: [
                    ColumnDefinition(id: ColumnID(1), name: "age", type: .integer, isOptional: true, index: .ordered),
                    ColumnDefinition(id: ColumnID(2), name: "name", type: .bytes, isOptional: true, index: .hash),
                    ColumnDefinition(id: ColumnID(3), name: "score", type: .double),
                    ColumnDefinition(id: ColumnID(4), name: "dog", type: .link, target: TableID(2)),
                    ColumnDefinition(id: ColumnID(5), name: "dogs", type: .links, target: TableID(2)),
                ]),
            TableDefinition(
                id: TableID(2), name: "Dog",
                columns: [
                    ColumnDefinition(id: ColumnID(6), name: "weight", type: .integer),
                    ColumnDefinition(id: ColumnID(7), name: "owner", type: .link, target: TableID(1)),
                ]),
        ])

    var random: SplitMix64
    var model = StoreModel(tables: [[:], [:]]) {
        didSet { order = [:] }
    }
    /// Cached sorted keys of tables, since each link draws one; invalid after a change of the model.
    private var order: [Int: [Int64]] = [:]
    /// The bound of keys, low so that keys collide.
    var keyRange: UInt64 = 200

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    static func withCell<T>(_ value: Value, _ body: (Cell) throws -> T) rethrows -> T {
        switch value {
        case .null: return try body(.null)
        case .integer(let value): return try body(.integer(value))
        case .double(let bits): return try body(.double(Double(bitPattern: bits)))
        case .bytes(let bytes): return try bytes.withUnsafeBytes { try body(.bytes($0)) }
        case .links(let links): return try LinkPayload.encode(links).withUnsafeBytes { try body(.bytes($0)) }
        }
    }

    static func withCells<T>(
        _ values: ArraySlice<Value>, _ cells: [Cell] = [], _ body: (UnsafeBufferPointer<Cell>) throws -> T
    ) rethrows -> T {
        guard let first = values.first else { return try cells.withUnsafeBufferPointer(body) }
        return try withCell(first) { try withCells(values.dropFirst(), cells + [$0], body) }
    }

    private mutating func value(_ type: ColumnType, _ isOptional: Bool, _ target: Int?) -> Value {
        if isOptional && random.below(5) == 0 { return .null }
        switch type {
        case .integer:
            return .integer(random.below(20) == 0 ? Int64(bitPattern: random.next()) : Int64(random.below(100)))
        case .double: return .double(Double(random.below(1000)).bitPattern)
        case .bytes:
            let n = random.below(10) == 0 ? Int(random.below(6000)) : Int(random.below(14))
            let byte = UInt8(truncatingIfNeeded: random.next())
            return .bytes((0..<n).map { UInt8(truncatingIfNeeded: $0 &* 7) &+ byte })
        case .link: return existing(target ?? 0).map { .integer($0) } ?? .null
        case .links: return .links((0..<Int(random.below(5))).compactMap { _ in existing(target ?? 0) })
        }
    }

    private mutating func existing(_ table: Int) -> Int64? {
        let keys = order[table] ?? model.tables[table].keys.sorted()
        order[table] = keys
        return keys.isEmpty ? nil : keys[Int(random.below(UInt64(keys.count)))]
    }

    private mutating func row(_ table: Int) -> [Value] {
        let columns = Self.schema.tables[table].columns
        return columns.map { value($0.type, $0.isOptional, $0.target.map { Int($0.rawValue) - 1 }) }
    }

    /// Makes one random change to the store and the model.
    mutating func step(_ transaction: WriteTransaction) throws {
        let table = Int(random.below(2))
        switch random.below(10) {
        case 0..<4:
            let key =
                random.below(3) == 0
                ? (model.tables[table].keys.max() ?? 0) + 1 : Int64(random.below(keyRange)) - Int64(keyRange / 2)
            let values = row(table)
            if model.tables[table][key] != nil { return }
            try Self.withCells(values[...]) { try transaction.insert(table, key: RowKey(key), $0) }
            model.tables[table][key] = values
        case 4..<8:
            guard let key = existing(table) else { return }
            let columns = Self.schema.tables[table].columns
            let column = Int(random.below(UInt64(columns.count)))
            let new = value(
                columns[column].type, columns[column].isOptional, columns[column].target.map { Int($0.rawValue) - 1 })
            try Self.withCell(new) { try transaction.set(table, RowKey(key), column: column, to: $0) }
            model.tables[table][key]?[column] = new
        default:
            guard let key = existing(table) else { return }
            try transaction.delete(table, RowKey(key))
            model.tables[table][key] = nil
            unlink(table, key)
        }
    }

    /// Deletes many rows of one table at once, in any order, some named twice and some missing.
    mutating func deleteMany(_ transaction: WriteTransaction) throws {
        let table = Int(random.below(2))
        let share = 1 + random.below(8)
        let chosen = model.tables[table].keys.sorted().filter { _ in random.below(8) < share }
        var keys = chosen + chosen.filter { _ in random.below(10) == 0 } + [Int64(keyRange), -Int64(keyRange)]
        if random.below(2) == 0 { keys.reverse() }
        try transaction.bulk.delete(table, keys)
        for key in chosen { model.tables[table][key] = nil }
        unlink(table, Set(chosen))
    }

    /// Deletes all rows of some tables at once.
    mutating func clear(_ transaction: WriteTransaction, _ tables: [Int]) throws {
        try transaction.deleteAll(tables)
        for table in tables {
            let gone = Set(model.tables[table].keys)
            model.tables[table] = [:]
            unlink(table, gone)
        }
    }

    mutating func unlink(_ target: Int, _ gone: Set<Int64>) {
        for (table, definition) in Self.schema.tables.enumerated() {
            for (column, definition) in definition.columns.enumerated()
            where definition.target == TableID(UInt32(target + 1)) {
                for (row, values) in model.tables[table] {
                    switch values[column] {
                    case .integer(let key) where gone.contains(key): model.tables[table][row]?[column] = .null
                    case .links(let links):
                        model.tables[table][row]?[column] = .links(links.filter { !gone.contains($0) })
                    default: break
                    }
                }
            }
        }
    }

    private mutating func unlink(_ target: Int, _ key: Int64) {
        for (table, definition) in Self.schema.tables.enumerated() {
            for (column, definition) in definition.columns.enumerated()
            where definition.target == TableID(UInt32(target + 1)) {
                for (row, values) in model.tables[table] {
                    switch values[column] {
                    case .integer(key): model.tables[table][row]?[column] = .null
                    case .links(let links): model.tables[table][row]?[column] = .links(links.filter { $0 != key })
                    default: break
                    }
                }
            }
        }
    }

    /// Reads all rows of a version, one by one and by scan.
    static func contents(_ view: ReadView) throws -> StoreModel {
        var result = StoreModel(tables: [[:], [:]])
        if view.schema.tables.isEmpty { return result }
        for (table, definition) in view.schema.tables.enumerated() {
            var scanned: [Int64: [Value]] = [:]
            try view.scan(table, columns: Array(definition.columns.indices)) { (batch) throws(StorageError) in
                for row in 0..<batch.count {
                    scanned[batch.key(row).rawValue] = definition.columns.indices.map { column in
                        if batch.isNull(column, row) { return .null }
                        switch definition.columns[column].type {
                        case .integer, .link: return .integer(batch.integers(column)[row])
                        case .double: return .double(batch.doubles(column)[row].bitPattern)
                        case .bytes: return .bytes(Array(batch.bytes(column, row)))
                        case .links: return .links(LinkPayload.Reader(batch.bytes(column, row))?.links ?? [-1])
                        }
                    }
                }
                return true
            }
            for key in scanned.keys {
                guard let row = try view.locate(table, RowKey(key)) else { continue }
                result.tables[table][key] = try definition.columns.indices.map { column in
                    switch definition.columns[column].type {
                    case .integer, .link: return try view.integer(row, column).map { .integer($0) } ?? .null
                    case .double: return try view.double(row, column).map { .double($0.bitPattern) } ?? .null
                    case .bytes: return try view.bytes(row, column).map { .bytes(Array($0)) } ?? .null
                    case .links:
                        return try view.bytes(row, column).map { .links(LinkPayload.Reader($0)?.links ?? [-1]) }
                            ?? .null
                    }
                }
            }
            if scanned != result.tables[table] { throw InvariantViolation("scan and reads differ") }
            if try view.rowCount(table) != scanned.count { throw InvariantViolation("rowCount differs") }
        }
        return result
    }
}
