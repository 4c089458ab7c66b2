import RunRecords

/// Every fault and engine on one screen. The colour of a cell is the gravest outcome, its number the share of bad
/// trials, and a mark shows a broken promise. A cell links to its gravest case.
struct FaultHeatMap: ReportPart {
    let page: ReportPage

    /// A line of the map: a fault in one durability class.
    private struct Line: Hashable {
        var fault: String
        var durability: DurabilityClass
    }

    func write(_ section: inout Markup) {
        let rows = digest.faultRows
        if rows.isEmpty { return }
        let lines = RunDigest.unique(rows.map { Line(fault: $0.fault, durability: $0.durability) })
        let engines = digest.engines.filter { engine in rows.contains { $0.engine == engine } }
        let cells = Dictionary(grouping: rows) { Line(fault: $0.fault, durability: $0.durability) }
        let hasClasses = Set(rows.map(\.durability)).count > 1
        outcomeKey(
            classPrefix: "h",
            note: "number: % of trials that ended badly; \u{2717} the engine broke a promise, ? a case has no answer, "
                + "\u{B7} not tried",
            &section)
        section.element("div", ["class": "heat-box", "tabindex": "0"]) { box in
            box.element("table", ["class": "heat"]) { table in
                table.element(
                    "caption",
                    "What each fault did to each engine: the gravest outcome, and how many trials ended "
                        + "badly in %")
                table.element("thead") { head in
                    head.element("tr") { row in
                        row.element("th", ["scope": "col"], "fault")
                        for engine in engines { row.element("th", ["scope": "col"], engine) }
                    }
                }
                table.element("tbody") { body in
                    for line in lines {
                        body.element("tr") { row in
                            row.element("th", ["scope": "row"]) { name in
                                scenarioName(line.fault, &name)
                                if hasClasses, line.durability != .full {
                                    name.element("small", " " + RunDigest.durabilityText(line.durability))
                                }
                            }
                            for engine in engines { cell(cells[line]?.first { $0.engine == engine }, &row) }
                        }
                    }
                }
            }
        }
    }

    private func cell(_ row: FaultRow?, _ line: inout Markup) {
        guard let row else {
            let why = "not tried: the engine cannot be put under this fault, or the run lacks the case"
            return line.element("td", ["title": why], "\u{B7}")
        }
        guard let worst = row.worst else {
            return line.element("td", ["class": "h-none"]) { link(row, "?", what: "no trial ended", cell: &$0) }
        }
        let bad = ShownOutcome.allCases.filter(\.isBad).reduce(0) { $0 + row.count(of: $1) }
        let share = row.trialCount == 0 ? 0 : Double(bad) / Double(row.trialCount)
        let words = ShownOutcome.allCases.reversed().compactMap { outcome -> String? in
            let count = row.count(of: outcome)
            return count == 0 ? nil : "\(Figure.grouped(count)) \(outcome.rawValue)"
        }
        let mark = row.standing.shown == .broken ? "\u{2717}" : (row.standing.shown == .unanswered ? "?" : "")
        let number = bad == 0 ? "" : Self.percent(share)
        line.element("td", ["class": "h-\(worst.rawValue)"]) { cell in
            link(
                row, [mark, number].filter { !$0.isEmpty }.joined(separator: " "), what: words.joined(separator: ", "),
                cell: &cell)
        }
    }

    private func link(_ row: FaultRow, _ words: String, what: String, cell: inout Markup) {
        let first = row.cases.min { $0.standing.rank < $1.standing.rank } ?? row.cases.first
        let id = first?.result.test.id
        cell.element(
            "a",
            [
                "href": id.flatMap(place(of:)),
                "title": "\(row.engine), \(row.fault): \(what); \(row.standing.shown.rawValue)",
                "aria-label": words.isEmpty ? "\(row.engine): \(what)" : nil,
            ], words)
    }

    /// The number without the sign for percent: `38`, `0.9`, `<0.1`.
    private static func percent(_ share: Double) -> String {
        let percent = share * 100
        if percent < 0.1 { return "<0.1" }
        return percent < 9.95 ? Figure.trimmed(percent, digits: 2) : Figure.grouped(Int(percent.rounded()))
    }
}
