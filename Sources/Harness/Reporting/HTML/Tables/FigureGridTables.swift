import RunRecords

/// Tables of rates that several cases fill, with a row per engine.
struct FigureGridTables: ReportPart {
    let page: ReportPage
    let durability: DurabilityClass

    func write(_ section: inout Markup) {
        for grid in digest.figureGrids(durability) {
            section.element("h4", grid.caption)
            note("A figure leads to its case. A figure of one measurement has no claim.", &section)
            gridTable("grid", grid.engines, columns: grid.columns, section: &section) { engine, column, line in
                cell(grid.cells[engine]?[column], &line)
            }
        }
    }

    private func cell(_ cell: FigureGrid.Cell?, _ line: inout Markup) {
        guard let cell else { return line.element("td", ["class": "n zero"], "\u{B7}") }
        line.element("td", ["class": "n", "data-v": Figure.exact(cell.sample.value)]) { place in
            place.element(
                "a", ["href": self.place(of: cell.result.test.id), "title": exactText(cell.sample)],
                Figure.rounded(cell.sample.value) + (cell.result.isCut ? "\u{2020}" : ""))
            if cell.result.verdict != .pass { badge(.judged(cell.result.verdict), nil, &place) }
        }
    }
}
