import RunRecords

/// An in-memory model of the data: runs the same operations as the engine, and says what every read must give.
///
/// Rows are named by their index in the loaded data; rows inserted later follow. Deleted rows keep their index.
package struct ExactOracle {
    package private(set) var tables: [String: ModelTable] = [:]
    package let schema: TableSet

    /// Complexity: O(rows) for the keys; the columns are shared with `data`.
    package init(_ data: TableSet) {
        schema = data
        for table in data.tables {
            tables[table.name] = ModelTable(table)
        }
    }

    /// What `TableSession.readPoints` must return. Keys that are not there add nothing.
    package func digest(_ reads: PointReads) -> ReadDigest {
        var digest = ReadDigest()
        guard let table = tables[reads.table] else { return digest }
        let columns = reads.columns.compactMap { table.content.columnIndex($0) }
        for key in reads.keys {
            guard let row = table.row(key: key) else { continue }
            for column in columns {
                digest.add(table.value(row: row, column: column))
            }
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
}

/// A table of the model: the loaded columns, and what changed since.
package struct ModelTable {
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

    /// For each row of the target table the rows of this one that link to it, once per link.
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
}

/// Compares the rows of a full read with the model, as they come. Stops at the first difference.
package final class FullReadComparison: RowSink {
    private let oracle: ExactOracle
    private var nextRow: [String: Int] = [:]
    package private(set) var rowCount = 0
    /// What was wrong first, in a sentence; nil while all is right.
    package private(set) var difference: String?

    package init(_ oracle: ExactOracle) {
        self.oracle = oracle
    }

    package func receive(table name: String, row: Int, values: [Value]) -> Bool {
        rowCount += 1
        guard let table = oracle.tables[name] else {
            return differ("table \(name) does not exist, but a row of it came")
        }
        let expectedRow = firstLive(table, from: nextRow[name, default: 0])
        guard row == expectedRow else {
            return differ("\(name): expected row \(expectedRow.map(String.init) ?? "none"), got row \(row)")
        }
        nextRow[name] = row + 1
        for (column, got) in values.enumerated() where column < table.content.columns.count {
            let expected = table.value(row: row, column: column)
            guard Self.isSame(expected, got) else {
                let place = "\(name) row \(row) \(table.content.columns[column].name)"
                return differ("\(place): expected \(Self.short(expected)), got \(Self.short(got))")
            }
        }
        guard values.count == table.content.columns.count else {
            return differ("\(name) row \(row): expected \(table.content.columns.count) values, got \(values.count)")
        }
        return true
    }

    /// To be called after a read that came to its end: are rows missing?
    package func finish() {
        guard difference == nil else { return }
        for table in oracle.schema.tables {
            guard let model = oracle.tables[table.name] else { continue }
            if let missing = firstLive(model, from: nextRow[table.name, default: 0]) {
                difference = "\(table.name): row \(missing) and those after it are missing"
                return
            }
        }
    }

    private func differ(_ text: String) -> Bool {
        difference = text
        return false
    }

    private func firstLive(_ table: ModelTable, from row: Int) -> Int? {
        var row = row
        while row < table.content.rowCount {
            if table.isLive(row: row) { return row }
            row += 1
        }
        return nil
    }

    /// Reals are compared by their bits: a flipped sign of zero is a difference, and not-a-number equals itself.
    static func isSame(_ expected: Value, _ got: Value) -> Bool {
        if case .real(let first) = expected, case .real(let second) = got {
            return first.bitPattern == second.bitPattern
        }
        return expected == got
    }

    private static func short(_ value: Value) -> String {
        String("\(value)".prefix(80))
    }
}
