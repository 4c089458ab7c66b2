import RunRecords

/// One sentence about an engine: its trials, and the failed ones by outcome. The sentence says that none was wrong
/// only if no case, of these rows or of another family, violates a promise.
struct OutcomeAnswer {
    let engine: String
    let rows: [OutcomeRow]
    /// The engine's violations in other families, with their counts; may be empty.
    var elsewhere = ""

    func write(_ item: inout Markup) {
        let trials = rows.reduce(0) { $0 + $1.trialCount }
        item.element("strong", engine)
        var isFirst = true
        func add(_ words: String, isBad: Bool, _ rest: String = "") {
            item.add(isFirst ? "" : "; ")
            item.element("span", ["class": isBad ? "bad" : nil], words)
            item.add(rest)
            isFirst = false
        }
        item.add(trials == 0 ? ": nothing was tried" : ": \(Figure.count(trials, "trial")), ")
        if trials == 0 { isFirst = false }
        let parts: [(Verdict, String)] = [
            (.violation, "a promise broken"), (.suspectedHarness, "the harness is suspected"),
            (.known, "a known violation"), (.unpromised, "unprotected"), (.inconclusive, "unanswered"),
            (.harnessError, "the harness failed"), (.pass, "allowed"),
        ]
        for (verdict, words) in parts {
            let judged = rows.filter { $0.standing == .judged(verdict) }
            let wrong = Self.wrong(judged)
            if wrong.isEmpty {
                // A case that has no such outcome counts as one case.
                if judged.isEmpty || [.pass, .unpromised].contains(verdict) { continue }
                add(Figure.count(judged.count, "case"), isBad: verdict.isViolation, " (\(words))")
                continue
            }
            let counts = wrong.map { "\(Figure.grouped($0.count)) \($0.outcome.rawValue)" }
            add(counts.joined(separator: ", "), isBad: verdict != .pass, " (\(words))")
        }
        if isFirst && elsewhere.isEmpty { item.add("none wrong, lost or stopped") }
        if !elsewhere.isEmpty { add("violations elsewhere: \(elsewhere)", isBad: true) }
    }

    /// The outcomes behind the verdict, by the word that is shown: those that the scenario does not accept. For a case
    /// that passed, and for one without causes, they are the outcomes that are not honest.
    private static func wrong(_ rows: [OutcomeRow]) -> [(outcome: ShownOutcome, count: Int)] {
        ShownOutcome.allCases.reversed().compactMap { outcome in
            let count = rows.reduce(0) { sum, row in
                let causes = row.result.causes.filter { ShownOutcome($0.outcome) == outcome }
                if !row.result.causes.isEmpty { return sum + causes.reduce(0) { $0 + $1.count } }
                return sum + (outcome.isBad ? row.count(of: outcome) : 0)
            }
            return count == 0 ? nil : (outcome, count)
        }
    }
}

/// A strip per engine of how the trials of a question ended, for a run without a map of faults and without charts.
struct OutcomeStrips: ReportPart {
    let page: ReportPage
    let question: Question

    func write(_ column: inout Markup) {
        let rows = digest.outcomeRows(question)
        let engines = digest.engines.filter { engine in rows.contains { $0.engine == engine && $0.trialCount > 0 } }
        if engines.isEmpty { return }
        column.element("table", ["class": "questions strips"]) { table in
            table.element("caption", "How the trials of each engine ended")
            table.element("tbody") { body in
                for engine in engines { line(engine, rows.filter { $0.engine == engine }, &body) }
            }
        }
        outcomeKey(classPrefix: "o", note: "a bar is all trials of an engine", &column)
    }

    private func line(_ engine: String, _ rows: [OutcomeRow], _ body: inout Markup) {
        func count(_ outcome: ShownOutcome) -> Int { rows.reduce(0) { $0 + $1.count(of: outcome) } }
        let present = ShownOutcome.allCases.filter { count($0) > 0 }
        body.element("tr") { row in
            row.element("th", ["scope": "row"], EngineName.words(engine))
            row.element("td", ["class": "bar-cell"]) { OutcomeStrip.bar(count, &$0) }
            row.element(
                "td", present.map { "\(Figure.grouped(count($0))) \($0.rawValue)" }.joined(separator: ", "))
        }
    }
}
