import RunRecords

/// Rates of engines in one table that several cases fill.
struct FigureGridTables: ReportPart {
    let page: ReportPage
    let durability: DurabilityClass

    func write(_ section: inout Markup) {
        for grid in digest.figureGrids(durability) {
            section.element("h4", grid.caption)
            note("A figure leads to its case. What was measured once claims nothing.", &section)
            section.element("div", ["class": "scroll"]) { scroll in
                scroll.element("table", ["class": "grid"]) { table in
                    table.element("thead") { gridHead(grid.columns, &$0) }
                    table.element("tbody") { body in
                        for engine in grid.engines {
                            body.element("tr") { line in
                                line.element("th", ["scope": "row"], engine)
                                for column in grid.columns { cell(grid.cells[engine]?[column], &line) }
                            }
                        }
                    }
                }
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
