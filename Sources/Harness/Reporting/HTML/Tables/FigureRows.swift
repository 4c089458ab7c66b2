import RunRecords

/// A table of figures by engine. A row of its own, above the figures of a subject, names the subject, so that the first
/// column is only as wide as the name of a figure. When the reader sorts, these rows are hidden, and each figure shows
/// its subject.
struct FigureRows {
    let part: any ReportPart
    let id: String
    let engines: [String]
    /// Whether the last column is the limit of the machine.
    let hasLimit: Bool

    /// - Parameters:
    ///   - cells: writes the cell of an engine in a row, which is given by its index in `rows`.
    ///   - limit: writes the cell with the limit of the machine in a row.
    func write(
        _ rows: [MeasureRow], _ section: inout Markup, cells: (Int, String, inout Markup) -> Void,
        limit: (Int, inout Markup) -> Void
    ) {
        section.table("grid sort", id: id, isFocusable: true) { row in
            part.sortable("figure", isNumber: false, &row)
            for engine in engines {
                row.element("th", ["scope": "col", "class": Self.style(engine)]) { cell in
                    cell.element("button", ["type": "button"], engine)
                }
            }
            if hasLimit { part.sortable("raw limit", isNumber: true, &row) }
            part.sortable("n", isNumber: true, &row)
        } rows: { body in
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

    /// A reader can hide the columns of tuned engines.
    static func style(_ engine: String) -> String { engine.hasSuffix("-tuned") ? "n tuned" : "n" }
}
