import RunRecords

/// A table of figures by engine: what was measured on is a row of its own above its figures, so that the first column
/// is as narrow as the name of a figure. Where the reader sorts, these rows go and each figure says what it is of.
struct FigureRows {
    let part: any ReportPart
    let id: String
    let engines: [String]
    /// Of the machine, a column behind the engines.
    let hasLimit: Bool

    /// - Parameters:
    ///   - cells: writes the cell of a row, by its place in `rows`, for an engine.
    ///   - limit: writes the cell of the machine.
    func write(
        _ rows: [MeasureRow], _ section: inout Markup, cells: (Int, String, inout Markup) -> Void,
        limit: (Int, inout Markup) -> Void
    ) {
        section.element("div", ["class": "scroll", "tabindex": "0"]) { scroll in
            scroll.element("table", ["class": "grid sort", "id": id]) { table in
                table.element("thead") { head in
                    head.element("tr") { row in
                        part.sortable("figure", isNumber: false, &row)
                        for engine in engines {
                            row.element("th", ["scope": "col", "class": Self.style(engine)]) { cell in
                                cell.element("button", ["type": "button"], engine)
                            }
                        }
                        if hasLimit { part.sortable("raw limit", isNumber: true, &row) }
                        part.sortable("n", isNumber: true, &row)
                    }
                }
                table.element("tbody") { body in
                    for (index, row) in rows.enumerated() {
                        if index == 0 || rows[index - 1].subject != row.subject { group(row.subject, &body) }
                        body.element("tr") { line in
                            line.element("th", ["scope": "row"]) { cell in
                                cell.element("span", ["class": "of"], "\(part.digest.name(row.subject)) ")
                                cell.add(row.measure.words)
                            }
                            for engine in engines { cells(index, engine, &line) }
                            if hasLimit { limit(index, &line) }
                            part.countCell(row, &line)
                        }
                        body.raw("\n")
                    }
                }
            }
        }
    }

    private func group(_ subject: Subject, _ body: inout Markup) {
        let words = [
            RunDigest.datasetText(subject),
            subject.durability == .full ? "" : RunDigest.durabilityText(subject.durability),
        ].filter { !$0.isEmpty }
        body.element("tr", ["class": "group"]) { row in
            row.element(
                "th", ["scope": "rowgroup", "colspan": String(engines.count + (hasLimit ? 3 : 2))]
            ) { cell in
                cell.element("span") { name in
                    name.add(part.digest.name(subject))
                    if !words.isEmpty { name.element("small", " " + words.joined(separator: ", ")) }
                }
            }
        }
    }

    /// A tuned engine's column is one that the reader may leave out.
    static func style(_ engine: String) -> String { engine.hasSuffix("-tuned") ? "n tuned" : "n" }
}
