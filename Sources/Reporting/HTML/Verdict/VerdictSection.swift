import RunRecords

/// What the run comes to, first of all in one sentence with its numbers; then by question, by cause, by family and by
/// engine; then what the verdicts mean.
struct VerdictSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        let (tone, judged) = judgement
        let sentence = judged + digest.unfinishedWords()
        section("verdict", "Verdict", &main) { section in
            section.element("p", ["class": "headline \(tone)"]) { headline in
                headline.element(
                    "b", ["aria-hidden": "true"], tone == "good" ? "\u{2713}" : (tone == "bad" ? "\u{2717}" : "!"))
                headline.element("span", sentence)
            }
            if !digest.missing.isEmpty {
                section.element("p") { text in
                    text.add(
                        "\(digest.stopWords): \(Figure.count(digest.missing.count, "case")) of "
                            + "\(Figure.grouped(header.cases.count)) not run. To finish it: ")
                    command(digest.resumeCommand, &text)
                }
            }
            GlanceSection(page: page).write(&section)
            for (verdict, title) in [
                (Verdict.violation, "Violations"), (.known, "Known violations"),
                (.suspectedHarness, "Suspected of the harness"), (.harnessError, "Errors of the harness"),
                (.inconclusive, "Inconclusive"),
            ] { CauseList(page: page, verdict: verdict, title: title).write(&section) }
            CauseList(page: page, verdict: .unpromised, title: "Damage that was not promised to be prevented")
                .write(&section)
            RatioPlots(page: page).write(&section)
            familySummary(&section)
            engineSummary(&section)
            legend(&section)
        }
    }

    /// Green only where nothing was violated, nothing broke and nothing is missing.
    private var judgement: (tone: String, sentence: String) {
        if let words = digest.violationWords() { return ("bad", words) }
        let counts = digest.allCounts
        if digest.results.isEmpty { return ("doubt", "No case was run") }
        if counts.suspected > 0 { return ("doubt", "No violation, but the harness is suspected of a fault") }
        if counts.harnessErrors > 0 {
            return ("doubt", "No violation, but \(Figure.count(counts.harnessErrors, "case")) broke the harness")
        }
        if !digest.missing.isEmpty { return ("doubt", "No violation so far") }
        if counts.inconclusive == counts.cases { return ("doubt", "No case came to a conclusion") }
        return ("good", "No violation")
    }

    /// Every family that has a case, with all numbers, zeros too: what stands in no row was not tried.
    private func familySummary(_ section: inout Markup) {
        let families = digest.familyCounts
        if families.isEmpty { return }
        let columns: [(String, (VerdictCounts) -> Int, Bool)] = [
            ("cases", { $0.cases }, false), ("trials", { $0.trials }, false), ("pass", { $0.passed }, false),
            ("violations of safety", { $0.safety }, true), ("of progress", { $0.progress }, true),
            ("of them known", { $0.known }, true), ("not promised", { $0.unpromised }, false),
            ("harness suspected", { $0.suspected }, true), ("harness errors", { $0.harnessErrors }, true),
            ("inconclusive", { $0.inconclusive }, false), ("cut", { $0.cut }, false),
        ]
        section.element("div", ["class": "scroll"]) { scroll in
            scroll.element("table", ["class": "grid"]) { table in
                table.element("caption", "Cases by family")
                table.element("thead") { head in
                    head.element("tr") { row in
                        row.element("th", ["scope": "col"], "family")
                        for column in columns { row.element("th", ["scope": "col", "class": "n"], column.0) }
                    }
                }
                table.element("tbody") { body in
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
        }
    }

    private func engineSummary(_ section: inout Markup) {
        if digest.results.isEmpty { return }
        let standings = Standing.order.filter { digest.counts[$0] != nil && $0 != .notRun }
        section.element("div", ["class": "scroll"]) { scroll in
            scroll.element("table", ["class": "grid"]) { table in
                table.element("caption", "Cases by engine and verdict")
                table.element("thead") { head in
                    head.element("tr") { row in
                        row.element("th", ["scope": "col"], "engine")
                        for words in ["cases", "trials"] + standings.map(\.words) {
                            row.element("th", ["scope": "col", "class": "n"], words)
                        }
                    }
                }
                table.element("tbody") { body in
                    for engine in digest.engines {
                        let results = digest.results(of: engine)
                        if results.isEmpty { continue }
                        body.element("tr") { row in
                            row.element("th", ["scope": "row"], engine)
                            row.element("td", ["class": "n"], Figure.grouped(results.count))
                            row.element("td", ["class": "n"], Figure.grouped(results.reduce(0) { $0 + $1.trialCount }))
                            for standing in standings {
                                let count = results.filter { .judged($0.verdict) == standing }.count
                                row.element("td", ["class": count == 0 ? "n zero" : "n t-\(standing.name)"]) { cell in
                                    if count > 0 { cell.element("b", ["aria-hidden": "true"], "\(standing.symbol) ") }
                                    cell.add(Figure.grouped(count))
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What the verdicts that occur mean. Open where one occurs that does not speak for itself.
    private func legend(_ section: inout Markup) {
        let shown = Standing.order.filter { digest.counts[$0] != nil }
        if shown.isEmpty { return }
        let isPlain = shown.allSatisfy { [.judged(.pass), .judged(.violation), .judged(.notApplicable)].contains($0) }
        section.element("details", ["class": "legend", "open": isPlain ? nil : ""]) { details in
            details.element("summary", "What the verdicts mean")
            details.element("dl") { list in
                for standing in shown {
                    list.element("dt") { badge(standing, nil, &$0) }
                    list.element("dd", standing.explanation)
                }
            }
        }
    }
}
