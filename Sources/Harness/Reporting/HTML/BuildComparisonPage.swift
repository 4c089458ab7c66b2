import RunRecords
import Statistics

/// A comparison of two builds as one document: the verdict, and every interval as a drawing and in a table.
struct BuildComparisonPage {
    let comparison: BuildComparison

    private var header: RunHeader { comparison.header }
    private var band: DeadBand { DeadBand(threshold: comparison.threshold) }

    var text: String {
        Markup.build { page in
            page.raw("<!DOCTYPE html>\n")
            page.element("html", ["lang": "en"]) { html in
                DocumentHead.write(title: "Assay ab: \(verdict.sentence)", style: Self.style, &html)
                html.element("body", ["data-run": RunDigest.shellWord(comparison.directory)]) { body in
                    DocumentHead.skipLink(&body)
                    masthead(&body)
                    body.element("div", ["class": "frame"]) { frame in
                        navigation.write(&frame)
                        frame.element("main", ["id": "main"]) { main in
                            DocumentHead.warnings(header.warnings, &main)
                            section("verdict", "Is B slower than A?", &main, content: verdictSection)
                            section("cases", "Every case", &main, content: cases)
                            section("others", "Other differences", &main, content: others)
                            section("environment", "Environment", &main, content: environment)
                        }
                    }
                    body.element("script") { $0.raw(ReportScript.text) }
                }
            }
            page.raw("\n")
        }
    }

    /// A link from the drawing leads to the first row of a case: the row above, with the case's name, stays in view
    /// below the head.
    private static let style = ".scroll tbody tr { scroll-margin-top: 80px }"

    private var navigation: PageNavigation {
        PageNavigation(
            entries: [
                PageNavigation.Entry("verdict", "Answer"),
                PageNavigation.Entry("cases", "Every case", count: "\(comparison.cases.count)"),
                PageNavigation.Entry("others", "Other differences", count: "\(hints.count)"),
                PageNavigation.Entry("environment", "Environment"),
            ],
            subject: "comparison")
    }

    private func section(
        _ anchor: String, _ title: String, _ main: inout Markup, content: (inout Markup) -> Void
    ) {
        main.element("section", ["id": anchor, "aria-labelledby": "\(anchor)-title"]) { section in
            section.element("h2", ["id": "\(anchor)-title"], title)
            content(&section)
        }
        main.raw("\n")
    }

    private func masthead(_ body: inout Markup) {
        body.element("header", ["class": "top"]) { top in
            top.element("h1") { title in
                title.element("span", ["class": "faint"], "Assay ab")
                title.add(" \(header.plan == "ab" ? "" : header.plan)")
            }
            for (name, side) in [("A", comparison.a), ("B", comparison.b)] {
                top.element("p", ["class": "facts"]) { facts in
                    facts.element("b", name)
                    facts.add(" \(side.revision.isEmpty ? side.path : side.revision), ")
                    facts.add("\(side.build.isRelease ? "release" : "DEBUG")\(side.build.hasZoo ? " ZOO" : "") ")
                    facts.add(side.build.digest)
                }
            }
            top.element("p", ["class": "facts"]) { facts in
                let time = Figure.time(header.startTime).split(separator: "T").joined(separator: " ").filter {
                    $0 != "Z"
                }
                facts.add(
                    "\(time) UTC, seed \(header.seed), \(comparison.pairs) pairs, threshold "
                        + Figure.percent(comparison.threshold))
            }
        }
    }

    // MARK: Verdict

    private func count(_ finding: SideComparison.Finding) -> Int {
        comparison.cases.count { $0.finding == finding }
    }

    /// Green only if every case was decided, and none is slower.
    private var verdict: (tone: PageAnswer.Tone, sentence: String) {
        let wrong = comparison.cases.compactMap(\.failure).filter { $0.side == .b && $0.result.verdict == .violation }
        if !wrong.isEmpty { return (.bad, "B breaks a promise in \(Figure.count(wrong.count, "case"))") }
        let slower = count(.slower)
        if slower > 0 { return (.bad, "B is slower in \(slower) of \(Figure.count(comparison.cases.count, "case"))") }
        let open = count(.inconclusive)
        if comparison.cases.isEmpty { return (.doubt, "Nothing was compared") }
        if open == comparison.cases.count { return (.doubt, "Nothing was decided") }
        if open > 0 {
            let words = "\(Figure.count(open, "case")) \(open == 1 ? "is" : "are") not decided"
            return (.doubt, "Nothing is shown to be slower, and \(words)")
        }
        let faster = count(.faster)
        return (.good, "B is not slower" + (faster > 0 ? ", and faster in \(Figure.count(faster, "case"))" : ""))
    }

    private func verdictSection(_ section: inout Markup) {
        let (tone, sentence) = verdict
        Headline(tone: tone, sentence: sentence).write(&section)
        section.element("p") { text in
            let counts = SideComparison.Finding.allCases.map { "\($0.rawValue) \(count($0))" }
            text.add("Cases: \(counts.joined(separator: ", ")).")
        }
        let lines = comparison.cases.flatMap(plotLines)
        if lines.isEmpty { return }
        section.element(
            "p", ["class": "note"],
            "The median ratio of B to A over the pairs; right of 1 B is better. Whisker: the 99 % interval of that "
                + "median. Shaded: differences below the threshold. In colour: differences that the batch flags. They "
                + "count only if the second batch flags them, too. The faint tick below a dot is A2, A once more: it "
                + "differs from A by noise alone.")
        section.element("div", ["class": "forest"]) { box in
            DotPlot(title: "B beside A: \(sentence)", lines: lines).draw(&box)
        }
    }

    private func plotLines(_ compared: ComparedCase) -> [DotPlot.Line] {
        let name = shortName(compared.test)
        return compared.batches.enumerated().flatMap { index, batch in
            let again = index == 0 ? "" : ", again"
            var line = plotLine(
                "\(name)\(again)", "B", figure: batch.judged.name, measured: batch.judged.measured, compared: compared)
            line?.control =
                plotLine(name, "A2", figure: batch.judged.name, measured: batch.judged.control, compared: compared)?
                .ratio
            return [line].compactMap { $0 }
        }
    }

    /// The scenario, the parameters that tell the case from others of its scenario and engine, and the engine:
    /// `point-read each strata`.
    private func shortName(_ test: Case) -> String {
        let siblings = comparison.cases.map(\.test).filter { $0.scenario == test.scenario && $0.engine == test.engine }
        let telling = test.parameters.filter { parameter in
            siblings.contains { $0.parameter(parameter.name) != parameter.value }
        }
        let data = "\(test.dataset) \(Figure.grouped(test.size))"
        let hasSeveral = siblings.contains { "\($0.dataset) \(Figure.grouped($0.size))" != data }
        let words = [test.scenario] + telling.map(\.value) + (hasSeveral ? [data] : []) + [test.engine]
        return words.joined(separator: " ")
    }

    private func plotLine(
        _ name: String, _ side: String, figure: FigureName, measured: SideComparison?, compared: ComparedCase
    ) -> DotPlot.Line? {
        guard let measured else { return nil }
        return DotPlot.Line(
            name: "\(compared.test.title), \(side)", shortName: name, measure: Measure(figure), ratio: ratio(measured),
            link: "#c-\(compared.test.id)", isShort: true)
    }

    /// The ratio of a side to A.
    private func ratio(_ measured: SideComparison) -> FigureRatio {
        let decision: Decision =
            switch measured.finding {
            case .slower: .behind
            case .faster: .ahead
            case .same: .same
            case .inconclusive: .open
            }
        return FigureRatio(
            value: measured.ratio, peer: "A", low: measured.low, high: measured.high, pairCount: measured.pairCount,
            band: band, decision: decision)
    }

    // MARK: Tables

    /// With more cases than this, the reader opens the table.
    private static let mostOpen = 10

    private func cases(_ section: inout Markup) {
        if !comparison.cases.isEmpty {
            let isOpen = comparison.cases.count <= Self.mostOpen
            section.element("details", ["class": "fold", "open": isOpen ? "" : nil]) { details in
                details.element("summary") { summary in
                    summary.add("Each figure, and A beside itself")
                    summary.element("small", " \(Figure.count(comparison.cases.count, "case"))")
                }
                BuildComparisonTable(cases: comparison.cases, ratio: ratio).write(&details)
            }
        }
        if comparison.refused.isEmpty { return }
        section.element("h3", "Left out")
        section.element("ul", ["class": "causes findings"]) { list in
            for refused in comparison.refused {
                list.element("li") { item in
                    item.element("b", refused.test.title)
                    item.add(": \(refused.reason)")
                }
            }
        }
    }

    private var hints: [(title: String, words: String)] {
        comparison.cases.flatMap { compared in compared.hints.map { (compared.test.title, $0.sideWords()) } }
    }

    /// Figures that take no part in the decision, but may hint at the cause.
    private func others(_ section: inout Markup) {
        let hints = hints
        guard !hints.isEmpty else {
            section.element("p", ["class": "note"], "No other figure was flagged.")
            return
        }
        section.element(
            "p", ["class": "note"],
            "Not judged: twenty figures would give twenty chances of an alarm. They hint at causes.")
        section.element("ul", ["class": "causes findings"]) { list in
            for (title, words) in hints.prefix(200) {
                list.element("li") { item in
                    item.element("b", title)
                    item.add(": \(words)")
                }
            }
        }
    }

    private func environment(_ section: inout Markup) {
        let machine = header.machine
        let facts = [
            ("machine", machine.host), ("system", machine.system), ("processor", machine.processor),
            ("cores", String(machine.coreCount)), ("file system", machine.fileSystem), ("A", comparison.a.path),
            ("B", comparison.b.path),
            ("confirmed", comparison.confirms ? "what is flagged is measured again" : "one batch decides"),
        ]
        section.element("dl", ["class": "environment"]) { list in
            for (name, value) in facts {
                list.element("dt", name)
                list.element("dd", value)
            }
        }
        section.element("h3", "Repeat this comparison")
        section.element("button", ["class": "cmd", "type": "button", "title": "Click to copy"]) { button in
            button.element("code", header.command)
        }
        section.element(
            "p", ["class": "note"], "Every measurement is in ab.csv and measurements.jsonl, the findings in ab.json.")
    }
}

extension ComparedCase {
    /// Other figures that differ beyond doubt, but take no part in the decision.
    var hints: [ComparedFigure] { (batches.last?.others ?? []).filter { $0.measured?.isFlagged == true } }
}

extension ComparedFigure {
    /// `commits/s, 1 200 on A and 1 100 on B`.
    func sideWords(gap: String = Figure.gap) -> String {
        let measure = Measure(name)
        return "\(measure.words), \(measure.text(medianA, gap: gap)) on A and \(measure.text(medianB, gap: gap)) on B"
    }
}
