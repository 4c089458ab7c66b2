import StrataStorage

/// Properties of a class whose combined values must be unique among its objects.
struct UniqueKey {
    /// The properties' names in the program.
    let names: [String]
    let columns: [Int]
    let tags: [ColumnTag]
    /// Indices in `columns` of the columns that have an index.
    let indexed: [Int]
    let className: String
    let table: Int

    /// Nil if the file lacks any of the columns.
    init?(_ names: [String], columnNames: [String], _ definition: TableDefinition, _ table: Int) {
        var columns: [Int] = []
        var tags: [ColumnTag] = []
        for name in columnNames {
            guard let position = definition.position(named: name),
                let tag = ColumnTag(rawValue: definition.columns[position].tag)
            else { return nil }
            columns.append(position)
            tags.append(tag)
        }
        self.names = names
        self.columns = columns
        self.tags = tags
        self.table = table
        className = definition.name
        indexed = columns.indices.filter { definition.columns[columns[$0]].index != .none }
    }
}

/// Checks whether two rows of a class have equal values in a unique key. A key with a null equals no other.
struct UniqueCheck {
    private let view: ReadView

    init(_ view: ReadView) { self.view = view }

    /// Compares added or changed rows with all rows of their class.
    /// - Returns: the error for the first duplicate; nil if there is none.
    /// - Complexity: O(rows log n) if an index has few candidates, else a pass over the columns of the class.
    func offence(_ key: UniqueKey, among rows: Set<Int64>) throws(StorageError) -> RealmError? {
        var known: [[DistinctValue]: Int64] = [:]
        for row in rows.sorted() {
            guard let values = try values(row, key), let tuple = Self.tuple(values) else { continue }
            if let other = known[tuple] { return error(key, values: values, between: other, and: row) }
            known[tuple] = row
        }
        if known.isEmpty { return nil }
        #if Zoo
            if PlantedMistake.uniqueScanned.isPlanted { return try scanned(key, known, rows) }
        #endif
        if let ways = try lookups(key, known.values) { return try lookedUp(ways, key, known) }
        return try scanned(key, known, rows)
    }

    /// Compares all rows of a class with each other.
    /// - Complexity: a pass over the key's columns.
    func offence(_ key: UniqueKey) throws(StorageError) -> RealmError? { try scanned(key, [:], []) }

    private func values(_ row: Int64, _ key: UniqueKey) throws(StorageError) -> [_StoredValue]? {
        guard let location = try view.locate(key.table, RowKey(row)) else { return nil }
        var values: [_StoredValue] = []
        for (column, tag) in zip(key.columns, key.tags) { values.append(try view.value(location, column, tag)) }
        return values
    }

    /// Values in a form whose equality is that of queries; nil if there is a null.
    private static func tuple(_ values: [_StoredValue]) -> [DistinctValue]? {
        let normal = values.map(DistinctValue.init)
        return normal.contains(.null) ? nil : normal
    }

    /// For each row the index in `columns` of the column whose index gives the fewest rows to compare. Nil if reading
    /// these would cost more than a pass over the class.
    /// - Complexity: O(log n) for each row and index.
    func lookups(_ key: UniqueKey, _ rows: some Collection<Int64>) throws(StorageError) -> [Int64: Int]? {
        if key.indexed.isEmpty { return nil }
        let limit = try view.rowCount(key.table) / 16 + 64
        var total = 0
        var ways: [Int64: Int] = [:]
        for row in rows {
            guard let values = try values(row, key) else { continue }
            var fewest = Int.max
            for place in key.indexed where fewest > 1 {
                let count = try values[place].withCell { (cell) throws(StorageError) in
                    try view.indexedCount(key.table, key.columns[place], equalTo: cell)
                }
                if count < fewest { (fewest, ways[row]) = (count, place) }
            }
            total += fewest
            if total > limit { return nil }
        }
        return ways
    }

    private func lookedUp(
        _ ways: [Int64: Int], _ key: UniqueKey, _ known: [[DistinctValue]: Int64]
    ) throws(StorageError) -> RealmError? {
        for (tuple, row) in known {
            guard let place = ways[row], let values = try values(row, key) else { continue }
            let others = try values[place].withCell { (cell) throws(StorageError) in
                try view.rows(key.table, key.columns[place], equalTo: cell)
            }
            for other in others where other.rawValue != row {
                if try self.values(other.rawValue, key).flatMap(Self.tuple) == tuple {
                    return error(key, values: values, between: other.rawValue, and: row)
                }
            }
        }
        return nil
    }

    /// Passes over the columns and compares every row with the known ones, or with each other if none are given.
    private func scanned(
        _ key: UniqueKey, _ known: [[DistinctValue]: Int64], _ rows: Set<Int64>
    ) throws(StorageError) -> RealmError? {
        var known = known
        let looksAtAll = known.isEmpty
        var found: RealmError?
        // A scan returns each column once.
        let columns = Array(Set(key.columns)).sorted()
        try view.scan(key.table, columns: columns) { (batch) throws(StorageError) in
            for row in 0..<batch.count {
                let values = zip(key.columns, key.tags).map { column, tag in
                    batch.value(columns.firstIndex(of: column) ?? 0, row, tag)
                }
                guard let tuple = Self.tuple(values) else { continue }
                let number = batch.keys[row]
                if let other = known[tuple], other != number {
                    found = error(key, values: values, between: other, and: number)
                    return false
                }
                if looksAtAll { known[tuple] = number }
            }
            return true
        }
        return found
    }

    private func error(_ key: UniqueKey, values: [_StoredValue], between a: Int64, and b: Int64) -> RealmError {
        let shown = zip(values, key.tags).map { value, tag in
            value.any(as: tag.type).map { "\($0)" } ?? "\(value)"
        }
        return RealmError(
            .duplicateKey,
            "two objects of '\(key.className)' have the unique key (\(key.names.joined(separator: ", "))) = "
                + "(\(shown.joined(separator: ", "))), those in rows \(min(a, b)) and \(max(a, b)); nothing was "
                + "written. Look for the object before adding another, or change one of them")
    }
}

/// The rows of classes with unique keys that a running write added or changed.
struct UniqueRows {
    private var rows: [Int: Set<Int64>] = [:]

    /// Notes a row, if its class has a unique key that has to be checked.
    /// - Parameter column: the one that was changed; nil for an added row.
    @inline(__always)
    mutating func note(_ access: ClassAccess, _ key: Int64, column: Int? = nil) {
        if access.uniqueKeys.isEmpty { return }
        if let column, !access.uniqueKeys.contains(where: { $0.columns.contains(column) }) { return }
        rows[access.table, default: []].insert(key)
    }

    /// The error for two objects with one unique key; nil if there are none.
    func offence(in instance: RealmInstance, _ view: ReadView) throws(StorageError) -> RealmError? {
        for (table, rows) in rows.sorted(by: { $0.key < $1.key }) {
            guard let access = instance.knownAccess(ofTable: table) else { continue }
            for key in access.uniqueKeys {
                if let offence = try UniqueCheck(view).offence(key, among: rows) { return offence }
            }
        }
        return nil
    }
}

extension RealmInstance {
    /// The program's unique keys of a class; none during a migration, which checks them at its end.
    func uniqueKeys(of definition: TableDefinition, _ table: Int) -> [UniqueKey] {
        guard !isMigration, !isFrozen else { return [] }
        return configuredPlan(definition.name)?.uniqueKeys(in: definition, table) ?? []
    }
}

extension ClassPlan {
    func uniqueKeys(in definition: TableDefinition, _ table: Int) -> [UniqueKey] {
        uniqueKeys.compactMap { names in
            let columnNames = names.compactMap { name in field(named: name)?.columnName }
            return UniqueKey(names, columnNames: columnNames, definition, table)
        }
    }

    /// Checks the unique keys of all rows of a file, whose classes may have just declared them.
    /// - Throws: `duplicateKey`; the error of a read that fails.
    static func uniqueOffence(_ plans: [ClassPlan], _ view: ReadView) throws(RealmError) {
        for plan in plans where !plan.uniqueKeys.isEmpty {
            guard let table = view.schema.position(named: plan.name) else { continue }
            for key in plan.uniqueKeys(in: view.schema.tables[table], table) {
                let found = try storage { () throws(StorageError) in try UniqueCheck(view).offence(key) }
                if let found { throw found }
            }
        }
    }

    /// - Throws: `schemaMismatch` for invalid unique keys.
    func checkUniqueKeys() throws(RealmError) {
        for key in uniqueKeys {
            func refuse(_ reason: String) -> RealmError {
                RealmError(.schemaMismatch, "unique key (\(key.joined(separator: ", "))) of '\(name)': \(reason)")
            }
            if key.isEmpty || Set(key).count != key.count { throw refuse("it names each of its properties once") }
            for property in key {
                guard let field = field(named: property) else {
                    throw refuse("there is no property '\(property)'")
                }
                if field.isPrimary { throw refuse("'\(property)' is the primary key, which is unique by itself") }
                if field.shape.collection != .none || field.shape.type == .linkingObjects {
                    throw refuse("'\(property)' has several values")
                }
            }
        }
    }
}
