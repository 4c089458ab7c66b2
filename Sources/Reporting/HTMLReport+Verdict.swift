import RunRecords

extension HTMLReport {
    /// Violations first, by cause; then what each engine came to; then what the other verdicts mean.
    func verdict(_ main: inout Markup) {
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
                        "The run was stopped: \(Figure.count(digest.missing.count, "case")) of "
                            + "\(Figure.grouped(header.cases.count)) not run. To finish it: ")
                    command(digest.resumeCommand, &text)
                }
            }
            glance(&section)
            ratios(&section)
            causes(.violation, "Violations", &section)
            causes(.harnessError, "Errors of the harness", &section)
            causes(.inconclusive, "Inconclusive", &section)
            engineSummary(&section)
            legend(&section)
        }
    }

    /// Green only where nothing was violated, nothing broke and nothing is missing.
    private var judgement: (tone: String, sentence: String) {
        let violations = digest.count(.violation)
        let errors = digest.count(.harnessError)
        if violations > 0 {
            let engines = digest.engines.compactMap { engine -> String? in
                let count = digest.results(of: engine).filter { $0.verdict == .violation }.count
                return count == 0 ? nil : "\(engine) \(count)"
            }
            return ("bad", "\(Figure.count(violations, "violation")): \(engines.joined(separator: ", "))")
        }
        if digest.results.isEmpty { return ("doubt", "No case was run") }
        if errors > 0 {
            return ("doubt", "No violation, but \(Figure.count(errors, "case")) broke the harness")
        }
        if !digest.missing.isEmpty { return ("doubt", "No violation so far") }
        if digest.count(.inconclusive) == digest.results.count { return ("doubt", "No case came to a conclusion") }
        let known = digest.count(.known)
        return ("good", "No violation" + (known > 0 ? " beyond \(Figure.count(known, "known one"))" : ""))
    }

    /// Cases with equal scenario, engine, outcome and message are one cause: thousands of flips show as a few.
    private func causes(_ verdict: Verdict, _ title: String, _ section: inout Markup) {
        struct Cause: Hashable {
            var scenario: String
            var engine: String
            var outcome: Outcome?
            var message: String
        }
        let results = digest.results.filter { $0.verdict == verdict }
        if results.isEmpty { return }
        let causeOf = { (result: CaseResult) in
            Cause(
                scenario: result.test.scenario, engine: result.test.engine, outcome: result.outcome,
                message: TerminalReport.firstLine(result.message))
        }
        let grouped = Dictionary(grouping: results, by: causeOf)
        let causes = RunDigest.unique(results.map(causeOf))
        section.element("h3", title)
        section.element("ul", ["class": "causes"]) { list in
            for cause in causes.prefix(detail.rows / 10) {
                guard let cases = grouped[cause], let first = cases.first else { continue }
                list.element("li") { item in
                    badge(.judged(verdict), "\(cause.engine), \(cause.scenario)", &item)
                    item.add(" ")
                    if let outcome = cause.outcome, !cause.message.contains(outcome.rawValue) {
                        item.element("span", ["class": "outcome"], Self.words(outcome))
                    }
                    if !cause.message.isEmpty { item.add(" \(cause.message)") }
                    item.element("span", ["class": "places"]) { places in
                        for result in cases.prefix(8) {
                            let variant = digest.variant(Subject(result.test))
                            places.element(
                                "a", ["href": place(of: result.test.id)], variant.isEmpty ? result.test.id : variant)
                            places.add(" ")
                        }
                        if cases.count > 8 { places.add("and \(cases.count - 8) more") }
                    }
                    command(digest.replayCommand(first), &item)
                }
            }
        }
        if causes.count > detail.rows / 10 {
            note("\(Figure.grouped(causes.count - detail.rows / 10)) more causes are in results.csv.", &section)
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

    static func words(_ outcome: Outcome) -> String {
        outcome.rawValue.split(separator: "-").joined(separator: " ")
    }
}
