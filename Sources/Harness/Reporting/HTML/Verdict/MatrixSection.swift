import RunRecords

/// Engine by scenario. A cell shows the gravest verdict of its cases, and links to the case that has it.
struct MatrixSection: ReportPart {
    let page: ReportPage

    /// A row of the matrix: all cases of a scenario in one durability class.
    private struct MatrixRow {
        var scenario: String
        var family: Family
        var durability: DurabilityClass
        var cells: [String: [CaseResult]]
    }

    func write(_ main: inout Markup) {
        let rows = matrixRows
        section("matrix", "Engine by scenario", main: &main) { section in
            if rows.isEmpty {
                note("No case was run.", &section)
                return
            }
            section.element("p", ["class": "sentence"], sentence(rows))
            fold("The matrix", Figure.count(rows.count, "scenario"), section: &section) { details in
                matrix(rows, &details)
            }
        }
    }

    private func sentence(_ rows: [MatrixRow]) -> String {
        let shown = digest.results.map { Standing.judged($0.verdict).shown }
        let counts = ShownVerdict.allCases.map { verdict in (verdict, shown.count { $0 == verdict }) }
        return "\(Figure.count(rows.count, "scenario")), \(Figure.count(digest.results.count, "case")): "
            + counts.filter { $0.1 > 0 }.map { "\(Figure.grouped($0.1)) \($0.0.rawValue)" }.joined(separator: ", ")
            + "."
    }

    private func matrix(_ rows: [MatrixRow], _ section: inout Markup) {
        note(
            "Each cell shows the gravest verdict of its cases and leads to that case\u{2019}s numbers; "
                + "the command that repeats it stands in the cell\u{2019}s tooltip and with the numbers.", &section)
        section.table("grid matrix") { row in
            row.element("th", ["scope": "col"], "scenario")
            if digest.durabilities.count > 1 { row.element("th", ["scope": "col"], "durability") }
            for engine in digest.engines { row.element("th", ["scope": "col"], engine) }
        } rows: {
            matrixBody(rows, &$0)
        }
    }

    private func matrixBody(_ rows: [MatrixRow], _ body: inout Markup) {
        var family: Family?
        let columns = digest.engines.count + (digest.durabilities.count > 1 ? 2 : 1)
        for row in rows.prefix(detail.rows) {
            if row.family != family {
                family = row.family
                body.element("tr", ["class": "family"]) {
                    $0.element("th", ["colspan": String(columns), "scope": "colgroup"], row.family.rawValue)
                }
            }
            body.element("tr") { line in
                line.element("th", ["scope": "row"]) { scenarioName(row.scenario, &$0) }
                if digest.durabilities.count > 1 { line.element("td", row.durability.rawValue) }
                for engine in digest.engines {
                    line.element("td") { matrixCell(row.cells[engine] ?? [], &$0) }
                }
            }
        }
    }

    private func matrixCell(_ results: [CaseResult], _ cell: inout Markup) {
        let standings = results.map { Standing.judged($0.verdict) }
        let shown = standings.map(\.shown)
        guard let gravest = standings.min(by: { $0.rank < $1.rank }),
            let index = standings.firstIndex(of: gravest)
        else {
            cell.element("span", ["class": "zero", "title": "not in the plan, or not run"], "\u{B7}")
            return
        }
        let result = results[index]
        let count = shown.count { $0 == gravest.shown }
        let share = results.count == 1 ? "" : (count == results.count ? " \(count)" : " \(count) of \(results.count)")
        cell.element(
            "a",
            [
                "href": place(of: result.test.id), "class": "v v-\(gravest.shown.rawValue)",
                "title": digest.replayCommand(result.test.id),
            ]
        ) { link in
            link.element("b", ["aria-hidden": "true"], gravest.shown.symbol)
            link.add(gravest.shown.rawValue + share)
        }
    }

    private var matrixRows: [MatrixRow] {
        struct Key: Hashable {
            var scenario: String
            var durability: DurabilityClass
        }
        var rows: [MatrixRow] = []
        var index: [Key: Int] = [:]
        for result in digest.results {
            let test = result.test
            let key = Key(scenario: test.scenario, durability: test.durability)
            let place = index[key] ?? rows.count
            if place == rows.count {
                index[key] = place
                rows.append(
                    MatrixRow(scenario: test.scenario, family: test.family, durability: test.durability, cells: [:]))
            }
            rows[place].cells[test.engine, default: []].append(result)
        }
        return Family.allCases.flatMap { family in rows.filter { $0.family == family } }
    }
}
