import RunRecords

/// The findings of checks in damaged copies, and the rows that salvages recovered from them, in counts.
struct SalvageSection: ReportPart {
    static let anchor = "salvage"

    let page: ReportPage

    func write(_ main: inout Markup) {
        let rows = digest.salvageRows
        if rows.isEmpty { return }
        section(Self.anchor, RunDigest.salvageQuestion, main: &main) { section in
            for engine in RunDigest.unique(rows.map(\.engine)) {
                section.element("p", ["class": "sentence"], sentence(engine, rows.filter { $0.engine == engine }))
            }
            fold("Every fault and engine", Figure.count(rows.count, "row"), section: &section) { details in
                note(RunDigest.salvageNote, &details)
                table(rows, &details)
            }
        }
    }

    private func sentence(_ engine: String, _ rows: [SalvageRow]) -> String {
        func sum(_ count: SalvageFigures.Count) -> Int { rows.reduce(0) { $0 + $1.figures[count] } }
        let right = sum(.rowsRight)
        let all = right + sum(.rowsPartial) + sum(.rowsWrong) + sum(.rowsMissing)
        if all == 0, sum(.falseClaims) == 0 { return "\(EngineName.words(engine)): no salvage was made." }
        return "\(EngineName.words(engine)): \(Figure.grouped(right)) of \(Figure.count(all, "row")) came back right, "
            + "\(Figure.grouped(sum(.rowsWrong))) wrong; \(Figure.count(sum(.falseClaims), "false claim"))."
    }

    private func table(_ rows: [SalvageRow], _ section: inout Markup) {
        section.table("grid sort") { row in
            for words in ["engine", "fault"] { sortable(words, isNumber: false, &row) }
            for column in SalvageRow.columns { sortable(column.words, isNumber: true, &row) }
        } rows: { body in
            for row in rows { line(row, &body) }
        }
    }

    private func line(_ row: SalvageRow, _ body: inout Markup) {
        body.element("tr") { line in
            line.element("th", ["scope": "row"], row.engine)
            line.element("td") { cell in
                cell.element("a", ["href": row.cases.first.flatMap { place(of: $0.test.id) }], row.fault)
            }
            for column in SalvageRow.columns {
                let count = row.figures[column.count]
                let style = count == 0 ? "n zero" : (column.isBad ? "n bad" : "n")
                line.element("td", ["class": style, "data-v": String(count)], Figure.grouped(count))
            }
        }
        body.raw("\n")
    }
}
