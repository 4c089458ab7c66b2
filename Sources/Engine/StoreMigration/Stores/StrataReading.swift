import Strata
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the records of one class of one version, column by column.
struct StrataReading {
    private let view: ReadView
    private let table: Int
    private let model: RecordModel
    /// The columns of the fields, followed by the key's, unless the row key is the primary key.
    private let columns: [Int]
    private let hasRowKey: Bool
    /// For fields that are links to a class whose primary key is a column.
    private let targets: [KeyColumn?]

    /// The column of a class's primary key, unless the row key is the primary key.
    private struct KeyColumn {
        var table: Int
        var column: Int
        var isInteger: Bool
    }

    init(_ view: ReadView, _ model: RecordModel, _ schema: Schema) throws {
        let found = schema[model.name]
        guard let found, let table = view.schema.position(named: model.name) else {
            throw MigrationError(.invalidModel, "the database has no class \(model.name)")
        }
        let definition = view.schema.tables[table]
        func column(_ property: String) throws -> Int {
            let name = found[property]?.columnName ?? property
            if let place = definition.columns.firstIndex(where: { $0.name == name }) { return place }
            throw MigrationError(.invalidModel, "\(model.name): the file has no column \"\(name)\"")
        }
        self.view = view
        self.table = table
        self.model = model
        hasRowKey = definition.tag == 1
        var columns: [Int] = []
        var targets: [KeyColumn?] = []
        for field in model.fields {
            let place = try column(field.name)
            columns.append(place)
            var keys: KeyColumn?
            switch field.kind {
            case .link(let target), .links(let target, _): keys = Self.keyColumn(view, target, schema)
            default: break
            }
            targets.append(keys)
        }
        if !hasRowKey { columns.append(try column(model.key)) }
        self.columns = columns
        self.targets = targets
    }

    private static func keyColumn(_ view: ReadView, _ name: String, _ schema: Schema) -> KeyColumn? {
        guard let table = view.schema.position(named: name), view.schema.tables[table].tag != 1,
            let primary = schema[name]?.primaryKeyProperty,
            let place = view.schema.tables[table].columns.firstIndex(where: { $0.name == primary.columnName })
        else { return nil }
        return KeyColumn(table: table, column: place, isInteger: primary.type == .int)
    }

    /// All primary keys of a class by row.
    private func keys(_ target: KeyColumn) throws -> [Int64: RecordKey] {
        var keys: [Int64: RecordKey] = [:]
        try view.scan(target.table, columns: [target.column]) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                keys[batch.key(row).rawValue] =
                    target.isInteger
                    ? .integer(batch.integers(0)[row])
                    : .text(String(decoding: batch.bytes(0, row), as: UTF8.self))
            }
            return true
        }
        return keys
    }

    func scan(_ body: (RecordKey, [FieldValue]) throws -> Void) throws {
        var failure: (any Error)?
        var values = [FieldValue](repeating: .null, count: model.fields.count)
        let keys = try targets.map { try $0.map { try self.keys($0) } }
        try view.scan(table, columns: columns) { (batch) throws(StorageError) in
            do {
                for row in 0..<batch.count {
                    for place in values.indices { values[place] = try value(batch, place, row: row, keys: keys[place]) }
                    try body(key(batch, row), values)
                }
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        try view.confirm()
    }

    private func key(_ batch: RowBatch, _ row: Int) -> RecordKey {
        if hasRowKey { return .integer(batch.key(row).rawValue) }
        let place = model.fields.count
        if model.hasIntegerKey { return .integer(batch.integers(place)[row]) }
        return .text(String(decoding: batch.bytes(place, row), as: UTF8.self))
    }

    private func value(
        _ batch: RowBatch, _ place: Int, row: Int, keys: [Int64: RecordKey]?
    ) throws -> FieldValue {
        let kind = model.fields[place].kind
        if case .links = kind { return try .links(links(batch, place, row).map { Self.key($0, keys) }) }
        if batch.isNull(place, row) { return .null }
        switch kind {
        case .boolean, .integer: return .integer(batch.integers(place)[row])
        case .real: return .real(batch.doubles(place)[row])
        case .date: return .date(batch.doubles(place)[row])
        case .text: return .text(String(decoding: batch.bytes(place, row), as: UTF8.self))
        case .data, .uuid: return .data(Data(batch.bytes(place, row)))
        case .link, .links: return .link(Self.key(batch.integers(place)[row], keys))
        }
    }

    private func links(_ batch: RowBatch, _ place: Int, _ row: Int) throws -> [Int64] {
        if batch.isNull(place, row) { return [] }
        if !batch.isTree(place, row), let reader = LinkPayload.Reader(batch.bytes(place, row)) {
            return (0..<reader.count).map { reader[$0] }.filter { $0 != LinkPayload.null }
        }
        return try links(batch.key(row), columns[place])
    }

    private func links(_ row: RowKey, _ column: Int) throws -> [Int64] {
        var links: [Int64] = []
        try CollectionReader(view, table: table, key: row, column: column).forEachPart { (part) throws(StorageError) in
            for place in part.first..<part.end {
                let link = try part.value(at: place).integerValue
                if link != LinkPayload.null { links.append(link) }
            }
            return true
        }
        return links
    }

    private static func key(_ row: Int64, _ keys: [Int64: RecordKey]?) -> RecordKey {
        keys.map { $0[row] ?? .integer(row) } ?? .integer(row)
    }

    // MARK: One record

    /// The record of a key; nil when there is none.
    func record(_ id: RecordID) throws -> Record? {
        guard let row = try row(id.key), let location = try view.locate(table, row) else { return nil }
        var found: [String: FieldValue] = [:]
        for (place, field) in model.fields.enumerated() {
            found[field.name] = try value(location, row, place: place, kind: field.kind)
        }
        try view.confirm()
        return model.sorted(Record(id, found))
    }

    private func row(_ key: RecordKey) throws -> RowKey? {
        switch key {
        case .integer(let key) where hasRowKey: return RowKey(key)
        case .integer(let key):
            return try view.rows(table, columns[model.fields.count], equalTo: .integer(key)).first
        case .text(let text):
            if hasRowKey { return nil }
            return try Cell.withText(text) { (cell) throws(StorageError) in
                try view.rows(table, columns[model.fields.count], equalTo: cell).first
            }
        }
    }

    private func value(_ row: RowLocation, _ key: RowKey, place: Int, kind: FieldKind) throws -> FieldValue {
        let column = columns[place]
        switch kind {
        case .boolean, .integer: return try view.integer(row, column).map { .integer($0) } ?? .null
        case .real: return try view.double(row, column).map { .real($0) } ?? .null
        case .date: return try view.double(row, column).map { .date($0) } ?? .null
        case .text:
            return try view.bytes(row, column).map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null
        case .data, .uuid: return try view.bytes(row, column).map { .data(Data($0)) } ?? .null
        case .link: return try view.integer(row, column).map { .link(try target(place, $0)) } ?? .null
        case .links: return .links(try links(key, column).map { try target(place, $0) })
        }
    }

    private func target(_ place: Int, _ row: Int64) throws -> RecordKey {
        guard let target = targets[place], let found = try view.locate(target.table, RowKey(row)) else {
            return .integer(row)
        }
        if target.isInteger { return .integer(try view.integer(found, target.column) ?? 0) }
        return .text(try view.bytes(found, target.column).map { String(decoding: $0, as: UTF8.self) } ?? "")
    }
}
