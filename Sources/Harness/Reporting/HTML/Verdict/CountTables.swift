import RunRecords

/// Counts of cases: by family, with the violations by kind, and by engine.
struct CountTables: ReportPart {
    let page: ReportPage

    func write(_ section: inout Markup) {
        familySummary(&section)
        engineSummary(&section)
    }

    /// Every family that has a case, also without violations: a family that is not listed was not tested.
    private func familySummary(_ section: inout Markup) {
        let families = digest.familyCounts
        if families.isEmpty { return }
        let columns: [(String, (VerdictCounts) -> Int, Bool)] = [
            ("cases", { $0.cases }, false), ("trials", { $0.trials }, false), ("kept", { $0.passed }, false),
            ("violations of safety", { $0.safety }, true), ("of progress", { $0.progress }, true),
            ("of them known", { $0.known }, true), ("unprotected", { $0.unpromised }, false),
            ("harness suspected", { $0.suspected }, true), ("harness errors", { $0.harnessErrors }, true),
            ("inconclusive", { $0.inconclusive }, false), ("cut", { $0.cut }, false),
        ]
        section.table("grid", caption: "Cases by family") { row in
            row.element("th", ["scope": "col"], "family")
            for column in columns { row.element("th", ["scope": "col", "class": "n"], column.0) }
        } rows: { body in
            let all = families.map { ($0.family.rawValue, $0.counts) }
            for (name, counts) in all + (all.count > 1 ? [("all", digest.allCounts)] : []) {
                body.element("tr") { row in
                    row.element("th", ["scope": "row"], name)
                    for (_, count, isBad) in columns {
                        let value = count(counts)
                        row.element(
                            "td", ["class": value == 0 ? "n zero" : (isBad ? "n bad" : "n")],
                            Figure.grouped(value))
                    }
                }
            }
        }
    }

    private func engineSummary(_ section: inout Markup) {
        if digest.results.isEmpty { return }
        let verdicts = ShownVerdict.allCases
        section.table("grid", caption: "Cases by engine and verdict") { row in
            row.element("th", ["scope": "col"], "engine")
            for words in ["cases", "trials"] + verdicts.map(\.rawValue) {
                row.element("th", ["scope": "col", "class": "n"], words)
            }
        } rows: { body in
            for engine in digest.engines {
                let results = digest.results(of: engine)
                if !results.isEmpty { engineLine(engine, results, &body) }
            }
        }
    }

    private func engineLine(_ engine: String, _ results: [CaseResult], _ body: inout Markup) {
        body.element("tr") { row in
            row.element("th", ["scope": "row"], engine)
            row.element("td", ["class": "n"], Figure.grouped(results.count))
            row.element("td", ["class": "n"], Figure.grouped(results.reduce(0) { $0 + $1.trialCount }))
            for verdict in ShownVerdict.allCases {
                let count = results.count { Standing.judged($0.verdict).shown == verdict }
                row.element("td", ["class": count == 0 ? "n zero" : "n t-\(verdict.rawValue)"]) { cell in
                    if count > 0 { cell.element("b", ["aria-hidden": "true"], "\(verdict.symbol) ") }
                    cell.add(Figure.grouped(count))
                }
            }
        }
    }
}
