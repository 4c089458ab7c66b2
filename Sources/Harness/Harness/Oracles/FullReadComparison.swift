import RunRecords

/// A value of a row, by table, column and row.
package struct CellPlace: Hashable, Sendable {
    package var table: String
    package var row: Int
    package var column: String

    package init(table: String, row: Int, column: String) {
        self.table = table
        self.row = row
        self.column = column
    }
}

/// Compares the rows of a full read with the expected rows.
package protocol ContentComparison: RowSink {
    /// The first difference, in a sentence; nil while there is none.
    var difference: String? { get }
    /// To be called after a read that reached the end: checks for missing rows.
    func finish()
}

/// Compares the rows of a full read with the model as they arrive, and ends the read at the first difference.
///
/// Every value of every row counts, and so does their order. Only the open cells may hold any value: the comparison
/// keeps it for an oracle that knows bounds for it.
package final class FullReadComparison: ContentComparison {
    private let oracle: ExactOracle
    /// Columns by table and row.
    private let open: [String: [Int: Set<Int>]]
    private var nextRow: [String: Int] = [:]
    package private(set) var rowCount = 0
    /// The first difference, in a sentence; nil while there is none.
    package private(set) var difference: String?
    /// The values of the open cells that were read.
    package private(set) var found: [CellPlace: Value] = [:]

    package init(_ oracle: ExactOracle, open cells: some Sequence<CellPlace> = EmptyCollection()) {
        self.oracle = oracle
        var open: [String: [Int: Set<Int>]] = [:]
        for cell in cells {
            guard let column = oracle.tables[cell.table]?.content.columnIndex(cell.column) else { continue }
            open[cell.table, default: [:]][cell.row, default: []].insert(column)
        }
        self.open = open
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
        let open = open[name]?[row] ?? []
        for (column, got) in values.enumerated() where column < table.content.columns.count {
            if open.contains(column) {
                found[CellPlace(table: name, row: row, column: table.content.columns[column].name)] = got
                continue
            }
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

    /// To be called after a read that reached the end: checks for missing rows.
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

    /// Reals are compared by their bits: a flipped sign of zero is a difference, and NaN equals itself. Texts are
    /// compared by their bytes, since Swift's `String` treats a letter with a combining accent as equal to the accented
    /// letter.
    package static func isSame(_ expected: Value, _ got: Value) -> Bool {
        switch (expected, got) {
        case (.real(let first), .real(let second)): first.bitPattern == second.bitPattern
        case (.text(let first), .text(let second)): first.utf8.elementsEqual(second.utf8)
        default: expected == got
        }
    }

    static func short(_ value: Value) -> String {
        String("\(value)".prefix(80))
    }
}
