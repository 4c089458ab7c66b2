/// A cell of a table of the report that several cases fill, one cell each. The names in the cells define the table.
///
/// It is stored as the label of a sample, so that the CSV contains it, too: five parts separated by a bar.
package struct GridCell: Hashable, Sendable {
    /// The caption of the cell's table.
    package var grid: String
    package var row: String
    /// A heading over several columns.
    package var group: String
    package var column: String
    /// The text in the cell.
    package var text: String

    package init(grid: String, row: String, group: String, column: String, text: String) {
        self.grid = grid
        self.row = row
        self.group = group
        self.column = column
        self.text = text
    }

    package var label: String { [grid, row, group, column, text].joined(separator: "|") }

    /// nil if the label is not a cell.
    package init?(label: String) {
        let parts = label.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5 else { return nil }
        self.init(grid: parts[0], row: parts[1], group: parts[2], column: parts[3], text: parts[4])
    }
}

extension Metric {
    /// 1 if the cell is good, otherwise 0. The label has the place and the text of the cell.
    package static let gridCell = Metric("grid_cell", unit: "bool", .neutral, .deterministic)
}

extension CaseResult {
    /// The cells of tables that this case fills.
    package var gridCells: [(cell: GridCell, isGood: Bool)] {
        findings.samples.compactMap { sample in
            guard sample.metric.name == Metric.gridCell.name, let cell = GridCell(label: sample.label) else {
                return nil
            }
            return (cell, sample.value == 1)
        }
    }
}
