import Commands

/// Counts by fault and outcome, for a terminal.
enum TrialTable {
    static func lines(_ corner: String, columns: [String], rows: [(name: String, counts: [Int])]) -> [String] {
        let first = ([corner] + rows.map(\.name)).map(\.count).max() ?? 0
        func line(_ name: String, _ cells: [String]) -> String {
            let aligned = zip(columns, cells).map { column, cell in
                String(repeating: " ", count: max(0, max(column.count, 6) - cell.count)) + cell
            }
            return ([name.padded(to: first)] + aligned).joined(separator: "  ")
        }
        return [line(corner, columns)] + rows.map { line($0.name, $0.counts.map(String.init)) }
    }
}
