import RunRecords

/// A model of the data in memory: it runs the same operations as the engine, and gives the right answer to every read.
///
/// Rows are named by their index in the loaded data; rows inserted later follow. Deleted rows keep their index.
package struct ExactOracle: Sendable {
    package private(set) var tables: [String: ModelTable] = [:]
    package let schema: TableSet

    /// Complexity: O(rows) for the keys; the columns are shared with `data`.
    package init(_ data: TableSet) {
        schema = data
        for table in data.tables {
            tables[table.name] = ModelTable(table)
        }
    }

    /// What `TableSession.readPoints` must return. Missing keys add nothing.
    package func digest(_ reads: PointReads) -> ReadDigest {
        var digest = ReadDigest()
        guard let table = tables[reads.table] else { return digest }
        let columns = reads.columns.compactMap { table.content.columnIndex($0) }
        // If keys outnumber rows, rows are read many times: compute the contribution of each row once.
        let rows = table.content.rowCount
        var known = [ReadDigest?](repeating: nil, count: reads.keys.count > rows ? rows : 0)
        for key in reads.keys {
            guard let row = table.row(key: key) else { continue }
            if row < known.count, let one = known[row] {
                digest.add(one)
                continue
            }
            var one = ReadDigest()
            for column in columns { one.add(table.value(row: row, column: column)) }
            if row < known.count { known[row] = one }
            digest.add(one)
        }
        return digest
    }

    /// What `QuerySession.countEqual` must return. Complexity: O(rows).
    package func countEqual(table name: String, column: String, text: String) -> Int {
        guard let table = tables[name], let column = table.content.columnIndex(column) else { return 0 }
        return table.liveRows.count { table.value(row: $0, column: column) == .text(text) }
    }

    /// What `QuerySession.count` must return. Complexity: O(rows).
    package func count(_ filter: TwoColumnFilter) -> Int {
        guard let table = tables[filter.table], let first = table.content.columnIndex(filter.integer),
            let second = table.content.columnIndex(filter.real)
        else { return 0 }
        return table.liveRows.count { row in
            guard case .integer(let integer) = table.value(row: row, column: first), integer > filter.above,
                case .real(let real) = table.value(row: row, column: second)
            else { return false }
            return real < filter.below
        }
    }

    /// What `QuerySession.iterate` must return; its sum is that of `QuerySession.sum`. Complexity: O(rows).
    package func iterate(table name: String, column: String) -> ReadDigest {
        var digest = ReadDigest()
        guard let table = tables[name], let column = table.content.columnIndex(column) else { return digest }
        for row in table.liveRows { digest.add(table.value(row: row, column: column)) }
        return digest
    }

    /// What `LinkSession.traverse` must return.
    package func digest(_ traversal: Traversal) -> ReadDigest {
        var digest = ReadDigest()
        guard let owner = tables[traversal.table], let column = owner.content.columnIndex(traversal.column),
            let target = owner.targetTable(column: column).flatMap({ tables[$0] })
        else { return digest }
        let other = traversal.direction == .forward ? target : owner
        let property = traversal.property.flatMap { other.content.columnIndex($0) }
        func visit(_ row: Int) {
            guard let property else {
                digest.count += 1
                return
            }
            digest.add(other.value(row: row, column: property))
        }
        switch traversal.direction {
        case .forward:
            for row in traversal.rows {
                for linked in owner.links(row: Int(row), column: column) { visit(linked) }
            }
        case .backward:
            let owners = owner.backlinks(column: column, targetCount: target.content.rowCount)
            for row in traversal.rows {
                for linking in owners[Int(row)] { visit(linking) }
            }
        }
        return digest
    }

    package mutating func update(table: String, column: String, keys: [Int64], values: [Int64]) {
        for (key, value) in zip(keys, values) {
            tables[table]?.set(key: key, column: column, value: .integer(value))
        }
    }

    package mutating func delete(table: String, keys: [Int64]) {
        for key in keys { tables[table]?.delete(key: key) }
    }

    package mutating func deleteAll(table: String) { tables[table]?.deleteAll() }

    /// Adds to the integer of one row. Without such a row, or if it holds no integer, nothing is changed.
    package mutating func increment(table name: String, column: String, key: Int64, by amount: Int64) {
        guard let table = tables[name], let row = table.row(key: key), let place = table.content.columnIndex(column),
            case .integer(let value) = table.value(row: row, column: place)
        else { return }
        tables[name]?.set(key: key, column: column, value: .integer(value &+ amount))
    }
}

/// A table of the model: the loaded columns, and the changes since.
package struct ModelTable: Sendable {
    package let content: Table
    private var rowsByKey: [Int64: Int]?
    private var changed: [Int: [Int: Value]] = [:]
    private var deleted: Set<Int> = []

    init(_ table: Table) {
        content = table
        // Keys 0 ..< n in order, as the generated data has them, need no dictionary.
        if case .integer(let keys)? = table.keyColumn?.values,
            !keys.enumerated().allSatisfy({ Int64($0.offset) == $0.element })
        {
            rowsByKey = Dictionary(keys.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        }
    }

    package func row(key: Int64) -> Int? {
        let row: Int?
        if let rowsByKey {
            row = rowsByKey[key]
        } else {
            row = key >= 0 && key < content.rowCount ? Int(key) : nil
        }
        guard let row, !deleted.contains(row) else { return nil }
        return row
    }

    package var liveRows: some Sequence<Int> {
        (0..<content.rowCount).lazy.filter { [deleted] in !deleted.contains($0) }
    }

    package var liveCount: Int { content.rowCount - deleted.count }

    package func isLive(row: Int) -> Bool {
        row < content.rowCount && !deleted.contains(row)
    }

    package func value(row: Int, column: Int) -> Value {
        changed[row]?[column] ?? content.value(row: row, column: column)
    }

    package func values(row: Int) -> [Value] {
        content.columns.indices.map { value(row: row, column: $0) }
    }

    func targetTable(column: Int) -> String? {
        switch content.columns[column].values {
        case .link(let target, _): target
        case .links(let target, _): target
        default: nil
        }
    }

    func links(row: Int, column: Int) -> [Int] {
        switch content.value(row: row, column: column) {
        case .link(let row): [row]
        case .links(let rows): rows
        default: []
        }
    }

    /// For each row of the target table, the rows of this table that link to it, once per link.
    func backlinks(column: Int, targetCount: Int) -> [[Int]] {
        var owners = [[Int]](repeating: [], count: targetCount)
        for row in liveRows {
            for target in links(row: row, column: column) { owners[target].append(row) }
        }
        return owners
    }

    mutating func set(key: Int64, column: String, value: Value) {
        guard let row = row(key: key), let column = content.columnIndex(column) else { return }
        changed[row, default: [:]][column] = value
    }

    mutating func delete(key: Int64) {
        if let row = row(key: key) { deleted.insert(row) }
    }

    mutating func deleteAll() { deleted = Set(0..<content.rowCount) }
}
