import RunRecords

/// What checks said of damaged copies, and what salvages got back, in counts.
struct SalvageSection: ReportPart {
    static let anchor = "salvage"

    let page: ReportPage

    func write(_ main: inout Markup) {
        let rows = digest.salvageRows
        if rows.isEmpty { return }
        section(Self.anchor, RunDigest.salvageQuestion, &main) { section in
            note(RunDigest.salvageNote, &section)
            section.element("div", ["class": "scroll"]) { scroll in
                scroll.element("table", ["class": "grid sort"]) { table in
                    table.element("thead") { head in
                        head.element("tr") { row in
                            for words in ["engine", "fault"] { sortable(words, isNumber: false, &row) }
                            for column in SalvageRow.columns { sortable(column.words, isNumber: true, &row) }
                        }
                    }
                    table.element("tbody") { body in for row in rows { line(row, &body) } }
                }
            }
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
