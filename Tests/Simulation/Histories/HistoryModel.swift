import FaultModel
import StrataStorage

/// A value as the model keeps it.
enum ModelValue: Hashable {
    case null
    case integer(Int64)
    case double(UInt64)
    case bytes([UInt8])
    case links([Int64])
    /// Elements of a list.
    case numbers([Int64])

    /// The elements of a list; nil for another value.
    var elements: [Int64]? {
        switch self {
        case .links(let elements), .numbers(let elements): elements
        case .null, .integer, .double, .bytes: nil
        }
    }

    /// Passes the value as a cell, which is valid during the call.
    func withCell<Value>(_ body: (Cell) throws -> Value) rethrows -> Value {
        switch self {
        case .null: try body(.null)
        case .integer(let value): try body(.integer(value))
        case .double(let bits): try body(.double(Double(bitPattern: bits)))
        case .bytes(let bytes): try bytes.withUnsafeBytes { try body(.bytes($0)) }
        case .links(let links): try LinkPayload.encode(links).withUnsafeBytes { try body(.bytes($0)) }
        case .numbers(let numbers): try Self.encoded(numbers).withUnsafeBytes { try body(.bytes($0)) }
        }
    }

    /// The bytes of a list of integers, eight bytes each, as a row stores them inline.
    private static func encoded(_ numbers: [Int64]) -> [UInt8] {
        if numbers.isEmpty { return [] }
        var bytes: [UInt8] = [4, 0]
        for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: numbers.count >> (8 * shift))) }
        for number in numbers { for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) } }
        return bytes
    }

    static func withCells<Value>(
        _ values: ArraySlice<ModelValue>, _ cells: [Cell] = [], _ body: (UnsafeBufferPointer<Cell>) throws -> Value
    ) rethrows -> Value {
        guard let first = values.first else { return try cells.withUnsafeBufferPointer(body) }
        return try first.withCell { try withCells(values.dropFirst(), cells + [$0], body) }
    }
}

/// The expected contents of a store: a schema, and rows by table and key. Copies are cheap.
struct HistoryModel: Equatable {
    var schema = StoreSchema()
    var tables: [TableID: [Int64: [ModelValue]]] = [:]

    init() {}

    var rowCount: Int { tables.values.reduce(0) { $0 + $1.count } }

    mutating func insert(_ table: Int, _ key: Int64, _ values: [ModelValue]) {
        tables[schema.tables[table].id, default: [:]][key] = values
    }

    mutating func set(_ table: Int, _ key: Int64, _ column: Int, _ value: ModelValue) {
        tables[schema.tables[table].id]?[key]?[column] = value
    }

    subscript(_ table: Int) -> [Int64: [ModelValue]] { tables[schema.tables[table].id] ?? [:] }

    /// Removes a row, and the links to it.
    mutating func delete(_ table: Int, _ key: Int64) {
        let target = schema.tables[table].id
        tables[target]?[key] = nil
        for definition in schema.tables {
            for (column, properties) in definition.columns.enumerated() where properties.target == target {
                for (row, values) in tables[definition.id] ?? [:] {
                    switch values[column] {
                    case .integer(key): tables[definition.id]?[row]?[column] = .null
                    case .links(let links) where links.contains(key):
                        let left =
                            properties.keepsPlaces
                            ? links.map { $0 == key ? LinkPayload.null : $0 } : links.filter { $0 != key }
                        tables[definition.id]?[row]?[column] = .links(left)
                    default: break
                    }
                }
            }
        }
    }

    /// Applies a change of the schema, by the ids of tables and columns.
    mutating func apply(_ new: StoreSchema) {
        for table in schema.tables where new.position(of: table.id) == nil { tables[table.id] = nil }
        for definition in new.tables {
            guard let before = schema.position(of: definition.id) else { continue }
            let old = schema.tables[before]
            let sources = definition.columns.map { column in old.columns.firstIndex { $0.id == column.id } }
            tables[definition.id] = tables[definition.id]?.mapValues { values in
                zip(sources, definition.columns).map { source, column in
                    source.map { values[$0] } ?? Self.fill(column)
                }
            }
        }
        schema = new
    }

    /// The value that older rows read in a new column.
    static func fill(_ column: ColumnDefinition) -> ModelValue {
        if column.defaultBits == nil && (column.isOptional || column.type == .link) { return .null }
        let bits = column.defaultBits ?? 0
        switch column.type {
        case .integer, .link: return .integer(Int64(bitPattern: bits))
        case .double: return .double(bits)
        case .bytes: return column.collection == nil ? .bytes([]) : .numbers([])
        case .links: return .links([])
        }
    }

    struct Difference: Error, CustomStringConvertible {
        var description: String
    }

    /// Reads everything by scan, and some rows by key.
    /// - Throws: ``Difference`` at the first differing value.
    func compare(_ view: ReadView, sample: UInt64) throws {
        guard view.schema.tables == schema.tables else { throw Difference(description: "the schema differs") }
        for (table, definition) in schema.tables.enumerated() {
            let rows = self[table]
            if try view.rowCount(table) != rows.count {
                throw Difference(description: "rowCount of \(definition.name)")
            }
            let found = try Self.rows(view, table)
            if found.count != rows.count { throw Difference(description: "\(found.count) rows of \(rows.count)") }
            for (key, values) in found {
                guard rows[key] == values else {
                    throw Difference(description: "row \(key) of \(definition.name): \(values), not \(rows[key] ?? [])")
                }
            }
            if let (key, values) = found.isEmpty ? nil : found[Int(sample % UInt64(found.count))] {
                try compareOne(view, table, definition, key, values)
            }
        }
    }

    /// Reads a whole version.
    init(reading view: ReadView) throws {
        schema = view.schema
        for (table, definition) in schema.tables.enumerated() {
            tables[definition.id] = Dictionary(try Self.rows(view, table)) { first, _ in first }
        }
    }

    /// Whether two models of one schema have the same rows.
    func hasRows(of other: HistoryModel) -> Bool {
        schema.tables == other.schema.tables && schema.tables.indices.allSatisfy { self[$0] == other[$0] }
    }

    /// The links to rows that do not exist, described.
    var danglingLinks: [String] {
        var found: [String] = []
        for (table, definition) in schema.tables.enumerated() {
            for (place, column) in definition.columns.enumerated() {
                guard let target = column.target.flatMap({ schema.position(of: $0) }) else { continue }
                let rows = self[target]
                for (key, values) in self[table] {
                    let links: [Int64] =
                        switch values[place] {
                        case .integer(let link): [link]
                        case .links(let links): column.keepsPlaces ? links.filter { $0 != LinkPayload.null } : links
                        default: []
                        }
                    for link in links where rows[link] == nil {
                        found.append("\(definition.name) \(key) in \(column.name) to \(link)")
                    }
                }
            }
        }
        return found
    }

    /// All rows of a table, by a scan.
    private static func rows(_ view: ReadView, _ table: Int) throws -> [(Int64, [ModelValue])] {
        let definition = view.schema.tables[table]
        var found: [(Int64, [ModelValue])] = []
        try view.scan(table, columns: Array(definition.columns.indices)) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                let key = batch.key(row)
                var values: [ModelValue] = []
                for (index, column) in definition.columns.enumerated() {
                    values.append(
                        column.collection == nil
                            ? Self.value(batch, index, row, column) : try Self.list(view, table, key, index))
                }
                found.append((key.rawValue, values))
            }
            return true
        }
        return found
    }

    private func compareOne(
        _ view: ReadView, _ table: Int, _ definition: TableDefinition, _ key: Int64, _ values: [ModelValue]
    ) throws {
        guard let row = try view.locate(table, RowKey(key)) else {
            throw Difference(description: "row \(key) cannot be found")
        }
        for (index, column) in definition.columns.enumerated() {
            let value: ModelValue =
                switch column.type {
                case _ where column.collection != nil: try Self.list(view, table, RowKey(key), index)
                case .integer, .link: try view.integer(row, index).map { .integer($0) } ?? .null
                case .double: try view.double(row, index).map { .double($0.bitPattern) } ?? .null
                case .bytes: try view.bytes(row, index).map { .bytes(Array($0)) } ?? .null
                case .links: try view.bytes(row, index).map { .links(LinkPayload.Reader($0)?.links ?? []) } ?? .null
                }
            if value != values[index] {
                throw Difference(description: "row \(key) of \(definition.name) reads \(value) in \(column.name)")
            }
        }
    }

    /// All elements of a list, inline or in a tree.
    private static func list(
        _ view: ReadView, _ table: Int, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> ModelValue {
        var elements: [Int64] = []
        let reader = try CollectionReader(view, table: table, key: key, column: column)
        try reader.forEachBatch { (batch) throws(StorageError) in
            for index in 0..<batch.count { elements.append(batch.integers[index]) }
            return true
        }
        return view.schema.tables[table].columns[column].type == .links ? .links(elements) : .numbers(elements)
    }

    private static func value(
        _ batch: RowBatch, _ index: Int, _ row: Int, _ column: ColumnDefinition
    ) -> ModelValue {
        if batch.isNull(index, row) { return .null }
        switch column.type {
        case .integer, .link: return .integer(batch.integers(index)[row])
        case .double: return .double(batch.doubles(index)[row].bitPattern)
        case .bytes: return .bytes(Array(batch.bytes(index, row)))
        case .links: return .links(LinkPayload.Reader(batch.bytes(index, row))?.links ?? [])
        }
    }
}
