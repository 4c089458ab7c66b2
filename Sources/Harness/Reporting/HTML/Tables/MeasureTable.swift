import RunRecords

/// A table with a row per figure, below a row that names the subject, and a column per engine.
struct MeasureTable: ReportPart {
    let page: ReportPage
    let rows: [MeasureRow]
    let durability: DurabilityClass
    /// The part of the table's id that tells it from the other tables of its durability class.
    let name: String
    let title: String

    func write(_ section: inout Markup) {
        if rows.isEmpty { return }
        let engines = digest.engines.filter { engine in rows.contains { $0.values[engine] != nil } }
        let hasLimit = rows.contains { digest.rawLimit($0) != nil }
        let id = "t-\(name)-\(durability.rawValue)"
        let shown = Array(rows.prefix(detail.rows))
        // A single engine is the best of every row, so that only its figures give an order.
        let hasBest = engines.count { $0 != RunDigest.reference } > 1
        fold(title, Figure.count(rows.count, "row"), section: &section) { details in
            if hasBest { note("A column sorts by how near its figures come to the best of their row.", &details) }
            FigureRows(part: self, id: id, engines: engines, hasLimit: hasLimit).write(shown, &details) {
                index, engine, line in
                let row = shown[index]
                let order = hasBest ? (row.values[engine]?.sample.value).map { goodness($0, row) } : nil
                figureCell(row, engine, ratio: digest.ratio(row, of: engine), order: order, line: &line)
            } limit: { index, line in
                limitCell(shown[index], digest.rawLimit(shown[index]), share: nil, line: &line)
            }
            leftOut(rows.count, &details)
        }
    }
}
