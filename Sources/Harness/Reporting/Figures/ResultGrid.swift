import RunRecords

/// A table with one cell per case.
struct ResultGrid {
    struct Column: Hashable {
        var group: String
        var name: String
    }

    struct Cell {
        var text: String
        var isGood: Bool
        var result: CaseResult
    }

    var caption: String
    var engine: String
    /// Rows and columns in the order in which cases named them first.
    var rows: [String] = []
    var columns: [Column] = []
    var cells: [String: [Column: Cell]] = [:]

    /// How many cells have each text, the most frequent first: `48 fine`.
    var summary: String {
        var counts: [String: Int] = [:]
        for cell in cells.values.flatMap(\.values) { counts[cell.text, default: 0] += 1 }
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }

    mutating func place(_ cell: GridCell, isGood: Bool, _ result: CaseResult) {
        let column = Column(group: cell.group, name: cell.column)
        if !rows.contains(cell.row) { rows.append(cell.row) }
        if !columns.contains(column) { columns.append(column) }
        cells[cell.row, default: [:]][column] = Cell(text: cell.text, isGood: isGood, result: result)
    }
}

extension [ResultGrid.Column] {
    /// The headings, each with the number of adjacent columns under it.
    var groups: [(name: String, span: Int)] {
        var groups: [(name: String, span: Int)] = []
        for column in self {
            if groups.last?.name == column.group {
                groups[groups.count - 1].span += 1
            } else {
                groups.append((column.group, 1))
            }
        }
        return groups
    }

    /// The columns so ordered that those of one heading are adjacent, whatever the order of the cases.
    var gathered: [ResultGrid.Column] {
        RunDigest.unique(map(\.group)).flatMap { group in filter { $0.group == group } }
    }
}

extension RunDigest {
    /// The tables that the cases of a question fill.
    func grids(_ question: Question) -> [ResultGrid] {
        var grids: [ResultGrid] = []
        for row in outcomeRows(question) {
            for (cell, isGood) in row.result.gridCells {
                let caption = engines.count > 1 ? "\(row.engine), \(cell.grid)" : cell.grid
                let place = grids.firstIndex { $0.caption == caption } ?? grids.count
                if place == grids.count { grids.append(ResultGrid(caption: caption, engine: row.engine)) }
                grids[place].place(cell, isGood: isGood, row.result)
            }
        }
        for index in grids.indices { grids[index].columns = grids[index].columns.gathered }
        return grids
    }
}

extension OutcomeRow {
    /// Whether the case passed, and a table already shows it.
    var isInGrid: Bool { result.verdict == .pass && !result.gridCells.isEmpty }
}
