import Harness
import Measuring
import RunRecords
import Strata

/// Adds the rows of tables inside a write, links included.
///
/// Links to objects that exist already are set before the object is added, as an application would do it; links within
/// a table are set afterwards.
struct Loader {
    let realm: Realm
    let group: ClassGroup
    /// The tables that links lead to. Only their objects are kept, until the links are set: an application keeps no
    /// object that it does not need.
    private let targets: Set<String>
    private var loaded: [String: [ObjectBase]] = [:]
    private var late: [Table] = []

    init(realm: Realm, group: ClassGroup, tables: [Table]) {
        self.realm = realm
        self.group = group
        targets = Set(tables.flatMap { table in table.columns.compactMap { Self.target(of: $0) } })
    }

    mutating func load(_ table: Table) throws {
        let type = try group.type(of: table.name)
        loaded[table.name] = try add(type, table)
        if table.columns.contains(where: { Self.target(of: $0) == table.name }) { late.append(table) }
    }

    /// The table that the links of a column lead to; nil for other columns, and if no row has a link.
    private static func target(of column: Column) -> String? {
        switch column.values {
        case .link(let target, let rows): rows.contains { $0 >= 0 } ? target : nil
        case .links(let target, let lists): lists.targets.isEmpty ? nil : target
        default: nil
        }
    }

    private func add<Element: TableObject>(_ type: Element.Type, _ table: Table) throws -> [ObjectBase] {
        let columns = linkColumns(table) { $0 != table.name }
        let keeps = targets.contains(table.name)
        if columns.isEmpty { return try type.add(table, to: realm, keeps: keeps, link: nil) }
        return try type.add(table, to: realm, keeps: keeps) { object, row in
            for column in columns { link(object, table, row: row, column: column) }
        }
    }

    private func linkColumns(_ table: Table, _ isWanted: (String) -> Bool) -> [(index: Int, target: [ObjectBase])] {
        table.columns.indices.compactMap { index in
            guard let target = Self.target(of: table.columns[index]), isWanted(target) else { return nil }
            return (index, loaded[target] ?? [])
        }
    }

    private func link(
        _ object: some TableObject, _ table: Table, row: Int, column: (index: Int, target: [ObjectBase])
    ) {
        let rows = table.targets(row, column: column.index)
        if !rows.isEmpty { object.setLinks(table.columns[column.index].name, rows.map { column.target[$0] }) }
    }

    /// Links inside one table.
    func setLateLinks() {
        for table in late {
            let columns = linkColumns(table) { $0 == table.name }
            for (row, object) in (loaded[table.name] ?? []).enumerated() {
                guard let object = object as? any TableObject else { continue }
                for column in columns { link(object, table, row: row, column: column) }
            }
        }
    }
}

/// Appends rows, in a transaction each or in one.
struct RowInserter {
    let realm: Realm
    let group: ClassGroup
    let rows: Table

    func insertEach<Element: TableObject>(_ type: Element.Type, latency: LatencyRecorder?) throws {
        let add = try adder(type)
        func insert(_ row: Int) throws { try realm.write { try add(row) } }
        for row in 0..<rows.rowCount {
            if let latency {
                try latency.time { try insert(row) }
            } else {
                try insert(row)
            }
        }
    }

    /// Adds all rows in one transaction.
    func insertAll<Element: TableObject>(_ type: Element.Type) throws {
        let add = try adder(type)
        try realm.write { for row in 0..<rows.rowCount { try add(row) } }
    }

    /// Adds a row inside a write.
    private func adder<Element: TableObject>(_ type: Element.Type) throws -> (_ row: Int) throws -> Void {
        let make = try Element.maker(rows)
        let columns = rows.columns.indices.filter {
            switch rows.columns[$0].values {
            case .link, .links: true
            default: false
            }
        }
        return { row in
            let object = make(row)
            for column in columns { try link(object, row, column) }
            realm.add(object)
        }
    }

    private func link(_ object: some TableObject, _ row: Int, _ column: Int) throws {
        let targets = rows.targets(row, column: column)
        guard !targets.isEmpty else { return }
        switch rows.columns[column].values {
        case .link(let name, _), .links(let name, _):
            let type = try group.type(of: name)
            object.setLinks(rows.columns[column].name, try targets.map { try Self.find($0, type, in: realm) })
        default: break
        }
    }

    private static func find<Element: TableObject>(
        _ row: Int, _ type: Element.Type, in realm: Realm
    ) throws(EngineError) -> ObjectBase {
        guard let object = Element.find(row, in: realm) else { throw Element.missing(row) }
        return object
    }
}
