/// The place of a rate in a table of the report that has a row per engine, and that several cases fill. The names in
/// the places define the table.
///
/// It is stored as the label of a sample, so that the CSV contains it, too: three parts separated by a bar.
package struct GridFigure: Hashable, Sendable {
    /// The caption of the table.
    package var grid: String
    /// A heading over several columns.
    package var group: String
    package var column: String

    package init(grid: String, group: String, column: String) {
        self.grid = grid
        self.group = group
        self.column = column
    }

    package var label: String { [grid, group, column].joined(separator: "|") }

    /// nil if the label is not a figure of a table.
    package init?(label: String) {
        let parts = label.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return nil }
        self.init(grid: parts[0], group: parts[1], column: parts[2])
    }
}

extension Metric {
    /// A rate in a table of engines. The case also reports it as a figure of its own.
    package static let gridFigure = Metric("grid_figure", unit: "1/s", .neutral, .measured)
}

extension CaseResult {
    /// The rates that this case has in tables of engines, with their places.
    package var gridFigures: [(place: GridFigure, sample: Sample)] {
        findings.samples.compactMap { sample in
            guard sample.metric.name == Metric.gridFigure.name else { return nil }
            return GridFigure(label: sample.label).map { ($0, sample) }
        }
    }
}
