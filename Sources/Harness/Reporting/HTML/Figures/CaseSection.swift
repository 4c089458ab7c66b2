import RunRecords

/// Every case, with all its figures and the command that repeats it. A link to a case unfolds it.
struct CaseSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        section("cases", "All cases", main: &main) { section in
            if digest.results.isEmpty && digest.missing.isEmpty {
                note("The plan has no case.", &section)
                return
            }
            let isWhole = page.listed.count == digest.results.count
            let count = Figure.count(page.listed.count, "case")
            section.element(
                "p", ["class": "sentence"],
                isWhole
                    ? "\(count), each with the command that repeats it, in the order of the plan."
                    : "\(count) of \(Figure.grouped(digest.results.count)), each with the command that repeats it; "
                        + "those that passed come last.")
            fold(isWhole ? "Every case" : "Cases", count, section: &section) { details in
                tools(&details)
                details.element("div", ["class": "cases", "id": "case-list"]) { list in
                    for result in page.listed { caseEntry(result, &list) }
                }
            }
            if page.listed.count < digest.results.count {
                note(
                    "\(Figure.grouped(digest.results.count - page.listed.count)) cases that passed are not listed, "
                        + "to keep this file small. All are in results.csv.", &section)
            }
            missingCases(&section)
        }
    }

    private func tools(_ section: inout Markup) {
        section.element("div", ["class": "tools"]) { tools in
            tools.element("label") { label in
                label.add("Sort by ")
                label.element("select", ["id": "case-sort"]) { select in
                    for (value, words) in [
                        ("i", "plan"), ("r", "verdict"), ("s", "scenario"), ("e", "engine"), ("d", "longest first"),
                    ] {
                        select.element("option", ["value": value], words)
                    }
                }
            }
            tools.element("button", ["type": "button", "id": "case-open"], "Open all")
            tools.element("output", ["id": "case-count", "aria-live": "polite"], "")
        }
    }

    private func caseEntry(_ result: CaseResult, _ list: inout Markup) {
        let test = result.test
        let standing = Standing.judged(result.verdict)
        list.element(
            "details",
            [
                "class": "case", "id": "c-\(test.id)", "data-r": String(standing.rank), "data-s": test.scenario,
                "data-e": test.engine, "data-d": String(result.durationNanoseconds / 1_000),
            ]
        ) { entry in
            entry.element("summary") { summary in
                summary.element("span", ["class": "c1"]) { badge(standing, nil, &$0) }
                summary.element("span", ["class": "c2"]) { name in
                    name.element("b", test.scenario)
                    let variant = digest.variant(Subject(test))
                    if !variant.isEmpty { name.add(", " + variant) }
                    let dataset = RunDigest.datasetText(Subject(test))
                    if !dataset.isEmpty { name.element("small", " " + dataset) }
                }
                summary.element("span", ["class": "c3"], test.engine)
                summary.element("span", ["class": "c4"], test.durability.rawValue)
                summary.element("span", ["class": "c5"], caseHeadline(result))
                summary.element(
                    "span", ["class": "c6"], Figure.duration(nanoseconds: Double(result.durationNanoseconds)))
            }
            entry.element("div", ["class": "body"]) { caseBody(result, &$0) }
        }
        list.raw("\n")
    }

    private func caseHeadline(_ result: CaseResult) -> String {
        if header.measures, let sample = digest.headline(result), result.trialCount <= 1 || result.outcomes.count <= 1 {
            return [Measure(sample).textAlone(sample.value), Measure.spread(sample)].filter { !$0.isEmpty }
                .joined(separator: " ")
        }
        if result.trialCount > 0 { return Figure.count(result.trialCount, "trial") }
        return result.outcome.map(\.words) ?? ""
    }

    private func caseBody(_ result: CaseResult, _ body: inout Markup) {
        let (test, standing) = (result.test, Standing.judged(result.verdict))
        if let question = digest.question(ofScenario: test.scenario) { note(question, &body) }
        if !result.message.isEmpty { body.element("p", ["class": "message"], result.message) }
        if result.isCut { note("Cut by its budget: the figures are those of the work up to the cut.", &body) }
        command(digest.replayCommand(test.id), &body)
        let facts = [
            ("verdict", standing.words), ("family", test.family.rawValue),
            ("data", RunDigest.datasetText(Subject(test))),
            ("parameters", test.parameterText), ("seed", test.seed.description),
            ("engine", "\(test.engine) \(result.engineVersion)"), ("outcome", result.outcome.map(\.words) ?? "none"),
            ("schedule", result.hasFreeSchedule ? "threads run freely" : ""), ("case", test.id),
            ("measured on", digest.shards[test.id].map { "\($0.machine.host), shard \($0.shard)" } ?? ""),
        ].filter { !$0.1.isEmpty }
        body.element("p", ["class": "facts"]) { line in
            for (name, value) in facts {
                line.element("span") { fact in
                    fact.element("i", name)
                    fact.add(" \(value)")
                }
                line.add(" ")
            }
        }
        if let crash = result.crash { crashReport(crash, &body) }
        if detail.showsPassed || result.verdict != .pass {
            outcomeList(result, &body)
            trials(result, &body)
            witnesses(result, &body)
            samples(result, &body)
        } else {
            note("The figures of cases that passed are in results.csv, to keep this file small.", &body)
        }
    }

    private func crashReport(_ crash: CrashReport, _ body: inout Markup) {
        let how = [crash.signal.map { "signal \($0)" }, crash.exitStatus.map { "exit status \($0)" }].compactMap { $0 }
        if !how.isEmpty { body.element("p", ["class": "message"], "Ended by \(how.joined(separator: ", "))") }
        if !crash.standardError.isEmpty {
            body.element("pre", String(crash.standardError.suffix(4_000)))
        }
    }

    private func outcomeList(_ result: CaseResult, _ body: inout Markup) {
        if result.outcomes.isEmpty { return }
        let words = result.outcomes.map { "\(Figure.grouped($0.count)) \($0.outcome.words)" }
        body.element("p", words.joined(separator: ", "))
    }

    private func trials(_ result: CaseResult, _ body: inout Markup) {
        if result.trials.isEmpty { return }
        body.table("grid") { row in
            for words in ["trial", "outcome", "what happened", "repeat"] {
                row.element("th", ["scope": "col"], words)
            }
        } rows: { lines in
            for trial in result.trials.prefix(detail.showsPassed ? 40 : 5) {
                lines.element("tr") { row in
                    row.element("td") { $0.element("code", trial.address.text) }
                    row.element("td", ["class": trial.outcome.isHonest ? nil : "bad"]) { cell in
                        cell.add(trial.outcome.words)
                        if let signal = trial.signal { cell.add(", signal \(signal)") }
                    }
                    row.element("td", trial.detail)
                    row.element("td") { cell in
                        cell.element(
                            "button",
                            [
                                "class": "copy", "type": "button",
                                "data-c": digest.replayCommand(result.test.id, trial: trial.address.text),
                                "title": digest.replayCommand(result.test.id, trial: trial.address.text),
                            ], "Copy")
                    }
                }
            }
        }
    }

    /// The smallest part of a history that no serial order allows: a few transactions over time.
    private func witnesses(_ result: CaseResult, _ body: inout Markup) {
        for witness in result.witnesses {
            body.element("figure", ["class": "witness"]) { figure in
                figure.element("figcaption") { caption in
                    caption.element("b", witness.title)
                    caption.element("span", witness.reasons)
                }
                HistoryTimeline(witness: witness).draw(&figure)
            }
        }
    }

    private func samples(_ result: CaseResult, _ body: inout Markup) {
        let shown = result.samples.filter { sample in
            sample.metric.name != Metric.witness.name && !result.repeats(sample)
        }
        if shown.isEmpty || !header.measures { return }
        body.element("dl", ["class": "figures"]) { list in
            for sample in shown {
                list.element("div") { entry in
                    entry.element("dt", Measure(sample).words)
                    entry.element("dd", ["title": exactText(sample)]) { value in
                        value.add(Measure(sample).text(sample.value))
                        let spread = Measure.spread(sample)
                        if !spread.isEmpty { value.element("small", ["class": "spread"], spread) }
                    }
                }
            }
        }
    }

    private func missingCases(_ section: inout Markup) {
        if digest.missing.isEmpty { return }
        section.element("h3", "Not run")
        section.element("p", ["class": "missing"]) { text in
            for id in digest.missing.prefix(detail.rows) {
                badge(.notRun, "not run \(id)", &text)
                text.add(" ")
            }
        }
        leftOut(digest.missing.count, &section)
    }
}
