import RunRecords

/// A table of outcomes per durability class.
struct OutcomeTables: ReportPart {
    let page: ReportPage
    let rows: [OutcomeRow]

    func write(_ section: inout Markup) {
        for durability in digest.durabilities {
            let shown = rows.filter { $0.subject.durability == durability }
            if shown.isEmpty { continue }
            section.element("h4", capitalized(RunDigest.durabilityText(durability)))
            outcomeTable(shown, &section)
        }
    }

    private func outcomeTable(_ rows: [OutcomeRow], _ section: inout Markup) {
        let columns = ShownOutcome.allCases
        section.table("grid sort") { row in
            for words in ["scenario", "engine", "verdict"] { sortable(words, isNumber: false, &row) }
            row.element("th", ["scope": "col"], "shares")
            for words in ["trials"] + columns.map(\.rawValue) { sortable(words, isNumber: true, &row) }
            sortable("promise", isNumber: false, &row)
        } rows: { body in
            for row in rows.prefix(detail.rows) { outcomeLine(row, columns, &body) }
        }
        leftOut(rows.count, &section)
    }

    private func outcomeLine(_ row: OutcomeRow, _ columns: [ShownOutcome], _ body: inout Markup) {
        let id = row.result.test.id
        body.element("tr") { line in
            line.element("th", ["scope": "row"]) { cell in
                cell.element("a", ["href": place(of: id), "title": digest.replayCommand(id)], digest.name(row.subject))
                if row.result.isCut { cell.element("small", " cut by budget") }
            }
            line.element("td", row.engine)
            line.element("td") { badge(row.standing, nil, &$0) }
            line.element("td") { OutcomeStrip.bar(row.count(of:), &$0) }
            number(row.trialCount, "n", title: nil, line: &line)
            for column in columns {
                let count = row.count(of: column)
                let style = count == 0 ? "n zero" : (column.isBad ? "n bad" : "n")
                number(count, style, title: row.parts(of: column), line: &line)
            }
            line.element("td", row.promise)
        }
        body.raw("\n")
    }

    private func number(_ value: Int, _ style: String, title: String?, line: inout Markup) {
        line.element(
            "td", ["class": style, "data-v": value < 1_000 ? nil : String(value), "title": title],
            Figure.grouped(value))
    }
}
