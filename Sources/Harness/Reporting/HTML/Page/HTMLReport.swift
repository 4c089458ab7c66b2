import RunRecords

/// The report as one document. It consists of parts, each of which writes its own section.
struct HTMLReport {
    private let page: ReportPage

    /// The size in bytes that a report does not exceed, if a lower level of detail allows it.
    static let sizeLimit = 1_950_000

    static func text(_ digest: RunDigest) -> String {
        var text = ""
        for detail in ReportPage.Detail.steps {
            text = HTMLReport(page: ReportPage(digest: digest, detail: detail)).document
            if text.utf8.count < sizeLimit { break }
        }
        return text
    }

    private var digest: RunDigest { page.digest }
    private var run: Run { digest.run }
    private var header: RunHeader { digest.run.header }

    /// A section and its link in the navigation.
    private struct Chapter {
        var anchor: String
        var words: String
        /// How many cases or figures the section has, shown beside the link. May be empty.
        var count = ""
        var part: any ReportPart
    }

    private var document: String {
        // A question that the plan does not ask has neither a section nor a link.
        let chapters = chapters.map { ($0, $0.part.markup) }.filter { !$0.1.isEmpty }
        return Markup.build { page in
            page.raw("<!DOCTYPE html>\n")
            page.element("html", ["lang": "en"]) { html in
                DocumentHead.write(title: "Assay report: \(header.plan), seed \(header.seed)", &html)
                html.element("body", ["data-run": RunDigest.shellWord(run.directory)]) { body in
                    DocumentHead.skipLink(&body)
                    masthead(&body)
                    body.element("div", ["class": "frame"]) { frame in
                        PageNavigation(
                            entries: chapters.map { PageNavigation.Entry($0.0.anchor, $0.0.words, count: $0.0.count) },
                            hasCaseList: true
                        ).write(&frame)
                        frame.element("main", ["id": "main"]) { main in
                            DocumentHead.warnings(digest.doubts, &main)
                            for (_, markup) in chapters { main.raw(markup) }
                        }
                    }
                    body.element("script") { $0.raw(ReportScript.text) }
                }
            }
            page.raw("\n")
        }
    }

    /// The sections in reading order. Those of the main question follow the answer.
    private var chapters: [Chapter] {
        let answer = Chapter(anchor: "verdict", words: "Answer", part: VerdictSection(page: page))
        let faults = [
            Chapter(
                anchor: FaultSection.anchor, words: "Faults", count: "\(Set(digest.faultRows.map(\.fault)).count)",
                part: FaultSection(page: page)),
            Chapter(anchor: SalvageSection.anchor, words: "Salvage", part: SalvageSection(page: page)),
            question(.safe, "Safety", SafetySection(page: page)),
        ]
        let growth = Chapter(
            anchor: ScaleSection.anchor, words: "Growth", count: "\(digest.scaleFigures.count)",
            part: ScaleSection(page: page))
        let figures = [
            Chapter(anchor: "peers", words: "Peers", part: PeerSection(page: page)),
            Chapter(anchor: Question.fast.rawValue, words: "Speed", part: SpeedSection(page: page)),
            Chapter(anchor: Question.large.rawValue, words: "Size", part: SizeSection(page: page)),
            Chapter(anchor: "cost", words: "Cost", part: CostSection(page: page)),
        ]
        let objects = [
            question(.deleted, "Deleted objects", OutcomeSection(page: page, question: .deleted)),
            question(.migrations, "Migrations", OutcomeSection(page: page, question: .migrations)),
        ]
        let rest = [
            Chapter(anchor: "matrix", words: "Engine by scenario", part: MatrixSection(page: page)),
            Chapter(
                anchor: "cases", words: "All cases", count: "\(digest.results.count)", part: CaseSection(page: page)),
            Chapter(anchor: "settings", words: "Engine settings", part: SettingsSection(page: page)),
            Chapter(anchor: "environment", words: "Environment", part: EnvironmentSection(page: page)),
        ]
        switch PageAnswer(digest: digest).subject {
        case .growth: return [answer, growth] + figures + faults + objects + rest
        case .speed: return [answer] + figures + [growth] + faults + objects + rest
        case .question(.deleted), .question(.migrations): return [answer] + objects + faults + figures + [growth] + rest
        case .question: return [answer] + faults + figures + [growth] + objects + rest
        }
    }

    /// The section of a question, with the number of its cases that have an answer.
    private func question(_ question: Question, _ words: String, _ part: any ReportPart) -> Chapter {
        let results = digest.results(for: question)
        let answered = results.count { !RunDigest.isUnanswered($0) }
        let all = results.count + digest.missingCount(of: question)
        let count = answered == all ? "\(answered)" : "\(answered)/\(all)"
        return Chapter(anchor: question.rawValue, words: words, count: count, part: part)
    }

    private func masthead(_ body: inout Markup) {
        body.element("header", ["class": "top"]) { top in
            top.element("h1") { title in
                title.element("span", ["class": "faint"], "Assay")
                title.add(" \(header.plan)")
            }
            top.element("p", ["class": "facts"]) { facts in
                let machine = header.machine
                let parts = [
                    Figure.time(header.startTime).split(separator: "T").joined(separator: " ").filter { $0 != "Z" }
                        + " UTC",
                    header.commit.isEmpty ? "" : "commit \(header.commit.prefix(12))",
                    header.isReleaseBuild ? "release build" : "DEBUG BUILD",
                    Figure.count(machine.coreCount, "core") + (machine.fileSystem.isEmpty ? "" : ", ")
                        + machine.fileSystem,
                    Figure.count(header.cases.count, "case"), Figure.count(digest.trialCount, "trial"),
                    header.budgetSeconds.map { "budget \(RunDigest.minutes($0))" } ?? "", "seed \(header.seed)",
                    digest.shardWords,
                ].filter { !$0.isEmpty }
                for (index, part) in parts.enumerated() {
                    if index > 0 { facts.raw(" <i>\u{B7}</i> ") }
                    facts.element("span", part)
                }
            }
        }
    }
}

extension Reporting {
    /// A self-contained document, which fetches no script, style, font or picture. `HTMLReport` chooses a detail
    /// that keeps it under 2 MB, if one does. A document without the figures of cases that passed says so; the CSV has
    /// these figures.
    package static func html(_ run: Run) -> String {
        HTMLReport.text(RunDigest(run))
    }
}
