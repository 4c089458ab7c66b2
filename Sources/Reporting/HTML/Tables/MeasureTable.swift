import RunRecords

/// A row per subject and measure, a column per engine.
struct MeasureTable: ReportPart {
    let page: ReportPage
    let rows: [MeasureRow]
    let durability: DurabilityClass
    /// Part of the table's id.
    let name: String
    let title: String

    func write(_ section: inout Markup) {
        if rows.isEmpty { return }
        let engines = digest.engines.filter { engine in rows.contains { $0.values[engine] != nil } }
        let hasLimit = rows.contains { digest.rawLimit($0) != nil }
        let id = "t-\(name)-\(durability.rawValue)"
        fold(title, Figure.count(rows.count, "row"), section: &section) { details in
            details.element("div", ["class": "scroll"]) { scroll in
                scroll.element("table", ["class": "grid sort", "id": id]) { table in
                    table.element("thead") { head in
                        head.element("tr") { row in
                            for words in ["scenario", "what"] { sortable(words, isNumber: false, &row) }
                            for engine in engines { sortable(engine, isNumber: true, &row) }
                            if hasLimit { sortable("raw limit", isNumber: true, &row) }
                            sortable("n", isNumber: true, &row)
                        }
                    }
                    table.element("tbody") { body in
                        for row in rows.prefix(detail.rows) {
                            measureLine(row, engines, hasLimit: hasLimit, body: &body)
                        }
                    }
                }
            }
            leftOut(rows.count, &details)
        }
    }

    private func measureLine(
        _ row: MeasureRow, _ engines: [String], hasLimit: Bool, body: inout Markup
    ) {
        body.element("tr") { line in
            line.element("th", ["scope": "row"]) { cell in
                cell.add(digest.name(row.subject))
                let dataset = RunDigest.datasetText(row.subject)
                if !dataset.isEmpty { cell.element("small", " " + dataset) }
            }
            line.element("td", row.measure.words)
            for engine in engines {
                guard let (sample, result) = row.values[engine] else {
                    line.element("td", ["class": "n zero"], "\u{B7}")
                    continue
                }
                figureCell(row, sample, result: result, ratio: digest.ratio(row, of: engine), line: &line)
            }
            if hasLimit {
                let limit = digest.rawLimit(row)
                line.element(
                    "td", ["class": "n", "data-v": limit.map(Figure.exact) ?? ""],
                    limit.map { row.measure.text($0) } ?? "")
            }
            countCell(row, &line)
        }
        body.raw("\n")
    }
}
