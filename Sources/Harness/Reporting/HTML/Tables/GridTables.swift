import RunRecords

/// The tables that the cases of a question fill, one cell per case.
struct GridTables: ReportPart {
    let page: ReportPage
    let question: Question

    func write(_ section: inout Markup) {
        for grid in digest.grids(question) {
            section.element("h4", capitalized(grid.caption))
            note(
                "\(grid.summary). A cell leads to its case; times are a render: median, and 99th percentile "
                    + "where there were enough of them.", &section)
            gridTable("grid cells", grid.rows, columns: grid.columns, section: &section) { row, column, line in
                gridCell(grid.cells[row]?[column], &line)
            }
        }
    }

    private func gridCell(_ cell: ResultGrid.Cell?, _ line: inout Markup) {
        guard let cell else {
            line.element("td") { $0.element("span", ["class": "zero"], "\u{B7}") }
            return
        }
        line.element("td", ["class": cell.isGood ? nil : "bad"]) { place in
            let id = cell.result.test.id
            place.element("a", ["href": self.place(of: id), "title": digest.replayCommand(id)], cell.text)
            // A cell shows its verdict only if it did not pass.
            if cell.result.verdict != .pass { badge(.judged(cell.result.verdict), nil, &place) }
            if header.measures, let median = cell.result.latencySample("p50") {
                let times = [median, cell.result.latencySample("p99")].compactMap { $0 }
                place.element(
                    "small", times.map { " " + Figure.duration(nanoseconds: $0) }.joined(separator: " \u{B7}"))
            }
        }
    }
}

extension ReportPart {
    /// A table with headings over its columns.
    func gridTable(
        _ style: String, _ rows: [String], columns: [ResultGrid.Column], section: inout Markup,
        cell: (_ row: String, _ column: ResultGrid.Column, _ line: inout Markup) -> Void
    ) {
        section.element("div", ["class": "scroll"]) { scroll in
            scroll.element("table", ["class": style]) { table in
                table.element("thead") { gridHead(columns, &$0) }
                table.element("tbody") { body in
                    for row in rows {
                        body.element("tr") { line in
                            line.element("th", ["scope": "row"], row)
                            for column in columns { cell(row, column, &line) }
                        }
                    }
                }
            }
        }
    }

    private func gridHead(_ columns: [ResultGrid.Column], _ head: inout Markup) {
        head.element("tr") { row in
            row.element("th", "")
            for group in columns.groups {
                row.element("th", ["scope": "colgroup", "colspan": String(group.span)], group.name)
            }
        }
        head.element("tr") { row in
            row.element("th", "")
            for column in columns { row.element("th", ["scope": "col"], column.name) }
        }
    }
}

extension CaseResult {
    fileprivate func latencySample(_ statistic: String) -> Double? {
        findings.samples.first { $0.metric.name == Metric.latencyNanoseconds.name && $0.statistic == statistic }?.value
    }
}
