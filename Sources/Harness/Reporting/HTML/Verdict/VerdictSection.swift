import RunRecords

/// The first screen: the run's main question, its answer as a sentence and a picture, whether promises were kept, and
/// which cases have no answer. All other contents are folded below.
struct VerdictSection: ReportPart {
    let page: ReportPage

    private var answer: PageAnswer { PageAnswer(digest: digest) }

    func write(_ main: inout Markup) {
        let answer = answer
        section("verdict", answer.question, main: &main) { section in
            section.element("div", ["class": "answer"]) { columns in
                columns.element("div", ["class": "status"]) { status(answer, &$0) }
                columns.element("div", ["class": "picture"]) { picture(answer, &$0) }
                columns.element("div", ["class": "reasons"]) { reasons(&$0) }
            }
            fold("Each question, engine by engine", nil, section: &section) { GlanceSection(page: page).write(&$0) }
            CauseList(page: page, verdict: .unpromised, title: "Damage that no promise covers").write(&section)
            fold("Cases by family and by engine", nil, section: &section) { CountTables(page: page).write(&$0) }
            ScenarioList(page: page).write(&section)
            ShownLegend(page: page).write(&section)
        }
    }

    // MARK: The answer

    private func picture(_ answer: PageAnswer, _ column: inout Markup) {
        switch answer.subject {
        case .speed: SpeedAnswer(page: page).write(&column)
        case .growth: GrowthAnswer(page: page).write(&column)
        case .question(let question): picture(question, &column)
        }
        QuestionList(page: page).write(&column)
    }

    /// The map of faults or the first charts; for a run without them, a strip of outcomes for each engine.
    private func picture(_ question: Question, _ column: inout Markup) {
        let drawing = Markup.build { markup in
            switch question {
            case .safe:
                FaultSection(page: page).harm(&markup)
                FaultHeatMap(page: page).write(&markup)
            case .fast: SpeedSection(page: page).answer(&markup)
            case .large: SizeSection(page: page).answer(&markup)
            case .deleted, .migrations: break
            }
        }
        if drawing.isEmpty {
            OutcomeStrips(page: page, question: question).write(&column)
        } else {
            column.raw(drawing)
        }
    }

    private func status(_ answer: PageAnswer, _ column: inout Markup) {
        Headline(
            tone: answer.tone, sentence: answer.promises,
            more: [answer.promiseCounts, answer.unprotected, answer.failure, answer.open]
        ).write(&column)
    }

    /// Broken promises, cases without an answer, and what casts doubt on figures.
    private func reasons(_ column: inout Markup) {
        for (verdict, title) in [(Verdict.violation, "Broken promises"), (.known, "Broken, and listed as known")] {
            CauseList(page: page, verdict: verdict, title: title).write(&column)
        }
        unanswered(&column)
        for verdict in [Verdict.suspectedHarness, .harnessError] {
            let title = verdict == .harnessError ? "Errors of the harness" : "The harness is suspected"
            CauseList(page: page, verdict: verdict, title: title).write(&column)
        }
        // Warnings about load and assertions cast doubt on figures, not on the verdict, so they come after it.
        for words in digest.notes {
            let topic = words.prefix { $0 != ":" }
            column.element("p", ["class": "note"]) {
                $0.prose(topic.prefix(1) + topic.dropFirst().lowercased() + words.dropFirst(topic.count))
            }
        }
    }

    // MARK: Cases without an answer

    /// A line per reason, with the cases that have it.
    private func unanswered(_ column: inout Markup) {
        let missing = digest.missing.count
        if missing > 0 {
            column.element("p") { text in
                text.add(
                    "\(digest.stopWords): \(Figure.count(missing, "case")) of "
                        + "\(Figure.grouped(header.cases.count)) not run. To finish it: ")
                command(digest.resumeCommand, &text)
            }
        }
        let open = digest.unanswered.filter { reason in
            reason.cases.contains { $0.verdict == .inconclusive }
        }
        if open.isEmpty { return }
        column.element("h3", "No answer")
        column.element("ul", ["class": "findings"]) { list in
            for reason in open {
                list.element("li") { item in
                    item.element("details") { details in
                        details.element("summary") { summary in
                            badge(.judged(.inconclusive), nil, &summary)
                            let only = reason.cases.count == 1 ? reason.cases.first : nil
                            let what = only.map { "\(EngineName.words($0.test.engine)), \($0.test.scenario)" }
                            summary.add(" \(what ?? Figure.count(reason.cases.count, "case")): \(reason.reason)")
                        }
                        cases(reason, &details)
                    }
                }
            }
        }
    }

    private func cases(_ reason: Unanswered, _ details: inout Markup) {
        details.element("ul", ["class": "causes"]) { list in
            for result in reason.cases.prefix(detail.rows) {
                list.element("li") { item in
                    let words = "\(result.test.engine), \(digest.name(Subject(result.test)))"
                    item.element("a", ["href": place(of: result.test.id)], words)
                    let message = result.message.firstLine
                    if !message.isEmpty { item.element("div", ["class": "example"], message) }
                    command(digest.replayCommand(result.test.id), &item)
                }
            }
        }
        leftOut(reason.cases.count, &details)
    }
}

/// A line per question that the plan asks, with a bar of how its cases ended. A question without an answer is listed,
/// too, with the reason.
struct QuestionList: ReportPart {
    let page: ReportPage

    func write(_ section: inout Markup) {
        let asked = Question.allCases.map { ($0, digest.results(for: $0), digest.missingCount(of: $0)) }
            .filter { !$0.1.isEmpty || $0.2 > 0 }
        if asked.isEmpty { return }
        section.element("table", ["class": "questions"]) { table in
            table.element("caption", "What the plan asks")
            table.element("tbody") { body in
                for (question, results, missing) in asked { line(question, results, missing: missing, body: &body) }
            }
        }
    }

    private func line(_ question: Question, _ results: [CaseResult], missing: Int, body: inout Markup) {
        body.element("tr") { row in
            row.element("th", ["scope": "row"]) { cell in
                // A question without any result has no section.
                if results.isEmpty {
                    cell.add(question.text)
                } else {
                    cell.element("a", ["href": "#\(question.rawValue)"], question.text)
                }
            }
            let shown =
                results.map { Standing.judged($0.verdict).shown }
                + Array(repeating: Standing.notRun.shown, count: missing)
            let counts = ShownVerdict.allCases.map { verdict in (verdict, shown.count { $0 == verdict }) }
                .filter { $0.1 > 0 }
            row.element("td", ["class": "bar-cell"]) { cell in
                ShareBar(
                    parts: counts.map { ShareBar.Part(style: "b-\($0.0.rawValue)", words: $0.0.rawValue, count: $0.1) }
                ).write(&cell)
            }
            row.element("td") { cell in
                cell.add(counts.map { "\(Figure.grouped($0.1)) \($0.0.rawValue)" }.joined(separator: ", "))
                let isOpen = shown.allSatisfy { $0 == .unanswered || $0 == .skipped }
                if isOpen { cell.element("small", " " + why(results, missing: missing)) }
            }
        }
    }

    /// `not answered: 4 of 4 cases, the budget of 10 min was used up`.
    private func why(_ results: [CaseResult], missing: Int) -> String {
        let ids = Set(results.map(\.test.id))
        let stopped: String = digest.stopWords.prefix(1).lowercased() + digest.stopWords.dropFirst()
        let found = digest.unanswered.map { reason in
            (reason.reason, reason.cases.count { ids.contains($0.test.id) })
        }
        let reasons = (found + [(stopped, missing)]).filter { $0.1 > 0 }
        guard let first = reasons.max(by: { $0.1 < $1.1 }) else { return "not asked of any engine that was built" }
        let all = Figure.count(results.count + missing, "case")
        return "not answered: \(Figure.grouped(first.1)) of \(all), \(first.0)"
    }
}

/// Counts as one bar, each part as wide as its share.
struct ShareBar {
    struct Part {
        var style: String
        var words: String
        var count: Int
    }

    var parts: [Part]

    func write(_ markup: inout Markup) {
        let total = parts.reduce(0) { $0 + $1.count }
        guard total > 0 else { return }
        let words = parts.map { "\(Figure.grouped($0.count)) \($0.words)" }.joined(separator: ", ")
        markup.element("div", ["class": "share-bar", "role": "img", "aria-label": words]) { bar in
            for part in parts where part.count > 0 {
                bar.element(
                    "span",
                    [
                        "class": part.style, "style": "flex-grow:\(part.count)",
                        "title": "\(Figure.grouped(part.count)) \(part.words)",
                    ], "")
            }
        }
    }
}

/// The meanings of the words for verdicts and outcomes, a line each.
struct ShownLegend: ReportPart {
    let page: ReportPage

    func write(_ section: inout Markup) {
        if digest.results.isEmpty && digest.missing.isEmpty { return }
        fold("What the words mean", nil, section: &section) { details in
            details.element("dl", ["class": "legend"]) { list in
                for verdict in ShownVerdict.allCases {
                    list.element("dt") { badge(verdict, nil, &$0) }
                    list.element("dd", verdict.explanation)
                }
                for outcome in ShownOutcome.allCases {
                    list.element("dt") { name in
                        name.open("i", ["class": "swatch o-\(outcome.rawValue)"])
                        name.close("i")
                        name.add(outcome.rawValue)
                    }
                    list.element("dd", outcome.explanation)
                }
            }
            note("Records, CSV and the gate have finer words; the entry of a case has them, too.", &details)
        }
    }
}
