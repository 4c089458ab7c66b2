import RunRecords

/// The first page of an archive: whether anything became worse, what changed last, the scenarios, the runs.
struct ArchiveIndexPage {
    let site: ArchiveSite

    /// The changes of all trends, those of the latest run first; within a run the largest first.
    private var changes: [(trend: Trend, change: Trend.Change)] {
        func time(_ entry: (trend: Trend, change: Trend.Change)) -> Int {
            entry.trend.points[entry.change.index].run.startTime
        }
        return site.workloads.flatMap(\.trends).flatMap { trend in trend.changes.map { (trend, $0) } }
            .sorted { first, second in
                if time(first) != time(second) { return time(first) > time(second) }
                return ArchiveAnswer.size(first.change) > ArchiveAnswer.size(second.change)
            }
    }

    private static let most = 100

    var text: String {
        let runs = Figure.count(site.runs.count, "run")
        let scenarios = Figure.count(site.workloads.count, "scenario")
        return SitePage(
            title: "Archive of runs", facts: ["\(runs), \(scenarios)"],
            sections: [
                ArchiveAnswer(trends: site.workloads.flatMap(\.trends)).section,
                SiteSection(
                    anchor: "changes", title: "Where figures changed", words: "Changes", count: "\(changes.count)",
                    content: changeSection),
                SiteSection(
                    anchor: "scenarios", title: "Scenarios", count: "\(site.workloads.count)",
                    content: workloadSection),
                SiteSection(anchor: "runs", title: "Runs", count: "\(site.runs.count)", content: runSection),
            ]
        ).text
    }

    private func changeSection(_ section: inout Markup) {
        let all = changes
        section.element(
            "p", ["class": "note"],
            "A trend takes a figure as a ratio to an engine of the same run, a count by itself. A change is a hint "
                + "where to look: assay bisect, or assay ab, decides.")
        if all.isEmpty {
            section.element("p", "No change point in any trend.")
            return
        }
        let caption = all.count > Self.most ? "The latest \(Self.most) of \(all.count)" : "The latest first"
        let table = SiteTable(
            id: "t-changes", caption: caption,
            columns: [.text("from run"), .text("commit"), .text("figure"), .text("change")])
        table.write(&section) { body in
            for (trend, change) in all.prefix(Self.most) {
                let (run, words) = (trend.points[change.index].run, TrendWords(trend: trend))
                body.element("tr") { row in
                    SiteTable.name(run.id, ArchiveSite.name(of: run), row: &row)
                    row.element("td", run.shortCommit)
                    row.element("td") { cell in
                        cell.element(
                            "a", ["href": ArchiveSite.name(ofWorkload: trend.test.scenario)], words.pageTitle)
                    }
                    // The reader sorts by the size of the change, the largest loss first.
                    row.element("td", ["data-v": Figure.exact(change.factor)]) { cell in
                        cell.element("span", ["class": words.style(change)], words.step(change))
                        if !change.remarks.isEmpty { cell.add("; " + change.remarks.joined(separator: "; ")) }
                    }
                }
            }
        }
    }

    private func workloadSection(_ section: inout Markup) {
        let table = SiteTable(
            id: "t-scenarios", caption: "By name",
            columns: [.text("scenario"), .text("engines"), .number("trends"), .number("changes")])
        table.write(&section) { body in
            for (scenario, trends) in site.workloads {
                body.element("tr") { row in
                    SiteTable.name(scenario, ArchiveSite.name(ofWorkload: scenario), row: &row)
                    row.element("td", RunDigest.unique(trends.map(\.test.engine)).sorted().joined(separator: ", "))
                    SiteTable.number(trends.count, &row)
                    SiteTable.number(trends.reduce(0) { $0 + $1.changes.count }, &row)
                }
            }
        }
    }

    private func runSection(_ section: inout Markup) {
        let table = SiteTable(
            id: "t-runs", caption: "The latest first",
            columns: [
                .text("run"), .text("started"), .text("commit"), .text("branch"), .text("plan"), .text("host"),
                .number("cases"),
            ])
        table.write(&section) { body in
            for run in site.runs.reversed() {
                body.element("tr") { row in
                    SiteTable.name(run.id, ArchiveSite.name(of: run), row: &row)
                    let words = [
                        Figure.time(run.startTime), run.shortCommit, run.branch, run.plan, run.machine.host,
                    ]
                    for word in words { row.element("td", word) }
                    SiteTable.number(run.cases.count, &row)
                }
            }
        }
    }
}

/// The page of one scenario: a chart over the runs for each case and figure.
struct WorkloadPage {
    let scenario: String
    let trends: [Trend]
    let palette: EnginePalette

    var text: String {
        var subjects: [Subject] = []
        var groups: [Subject: [Trend]] = [:]
        for trend in trends {
            let subject = Subject(trend.test)
            if groups[subject] == nil { subjects.append(subject) }
            groups[subject, default: []].append(trend)
        }
        let charts = subjects.enumerated().map { index, subject in
            let own = groups[subject] ?? []
            return SiteSection(
                anchor: "s-\(index + 1)", title: Self.title(subject), count: "\(own.count)",
                content: { section in
                    section.element("div", ["class": "charts"]) { grid in
                        for trend in own { figure(trend, among: own, grid: &grid) }
                    }
                })
        }
        return SitePage(
            title: scenario, path: [("Archive of runs", ArchiveSite.index)],
            facts: ["\(Figure.count(trends.count, "trend")), a point per run in the order of their start"],
            sections: [ArchiveAnswer(trends: trends).section] + charts
        ).text
    }

    private static func title(_ subject: Subject) -> String {
        let words = [
            RunDigest.datasetText(subject), subject.parameters.map { "\($0.name) \($0.value)" }.joined(separator: ", "),
            RunDigest.durabilityText(subject.durability),
        ]
        return words.filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// The numbers of all charts that have the axis of a trend: ratios to one engine, or one figure otherwise.
    private func shared(_ trend: Trend, among trends: [Trend]) -> ClosedRange<Double>? {
        let ranges = trends.filter { other in
            if case .ratio = trend.basis { return other.basis == trend.basis }
            return other.basis == trend.basis && other.figure == trend.figure
        }.compactMap { TrendChart(trend: $0, palette: palette).range }
        guard let least = ranges.map(\.lowerBound).min(), let most = ranges.map(\.upperBound).max() else { return nil }
        return least...most
    }

    private func figure(_ trend: Trend, among trends: [Trend], grid: inout Markup) {
        let words = TrendWords(trend: trend)
        grid.element("figure") { figure in
            figure.element("figcaption") { caption in
                caption.element("b", "\(trend.test.engine): \(words.figureWords)")
                caption.element("span", words.basis)
            }
            TrendChart(trend: trend, palette: palette, shared: shared(trend, among: trends)).draw(&figure)
            for change in trend.changes {
                figure.element("p", ["class": "note"]) { note in
                    note.element("span", ["class": words.style(change)], words.step(change))
                    note.add(words.sentence(change).dropFirst(words.step(change).count).description)
                }
            }
            for remark in trend.remarks { figure.element("p", ["class": "note"], remark) }
            figure.element("details", ["class": "numbers"]) { details in
                details.element("summary", "Numbers")
                table(trend, words, &details)
            }
        }
        grid.raw("\n")
    }

    private func table(_ trend: Trend, _ words: TrendWords, _ details: inout Markup) {
        // In the order of the chart. The search leads to charts, not to these rows.
        let table = SiteTable(
            caption: words.pageTitle,
            columns: [
                .unordered("run", isNumber: false), .unordered("commit", isNumber: false),
                .unordered("figure", isNumber: true), .unordered("beside", isNumber: true),
                .unordered("change", isNumber: false),
            ])
        table.write(&details) { body in
            for (index, point) in trend.points.enumerated() {
                body.element("tr") { row in
                    SiteTable.name(point.run.id, ArchiveSite.name(of: point.run), row: &row)
                    row.element("td", point.run.shortCommit)
                    row.element("td", ["class": "n"], words.value(point))
                    row.element("td", ["class": "n"], words.ratio(point))
                    row.element("td", trend.changes.first { $0.index == index }.map { words.step($0) } ?? "")
                }
            }
        }
    }
}

/// The page of one run: its origin, and the figures that have charts.
struct RecordedRunPage {
    let run: RecordedRun

    var text: String {
        let machine = run.machine
        return SitePage(
            title: run.id, path: [("Archive of runs", ArchiveSite.index)],
            facts: [
                "\(Figure.time(run.startTime)), plan \(run.plan), seed \(run.seed)",
                "commit \(run.commit.isEmpty ? "unknown" : run.commit)\(run.branch.isEmpty ? "" : ", \(run.branch)"), "
                    + "assay \(run.assayVersion), build \(run.buildDigest)",
                "\(machine.host): \(machine.processor), \(Figure.count(machine.coreCount, "core")), \(machine.system), "
                    + machine.fileSystem,
            ],
            sections: sections
        ).text
    }

    /// A section for each family of cases.
    private var sections: [SiteSection] {
        if run.cases.isEmpty {
            return [
                SiteSection(anchor: "cases", title: "Cases") { $0.element("p", "The run finished no case.") }
            ]
        }
        return Family.allCases.compactMap { family in
            let own = run.cases.filter { $0.test.family == family }
            if own.isEmpty { return nil }
            let name = family.rawValue
            return SiteSection(
                anchor: name, title: name.prefix(1).uppercased() + name.dropFirst(), count: "\(own.count)",
                content: { table(own, id: "t-\(name)", section: &$0) })
        }
    }

    private func table(_ cases: [RecordedCase], id: String, section: inout Markup) {
        let table = SiteTable(
            id: id, caption: "With the figures that have charts",
            columns: [
                .text("case"), .text("engine"), .text("verdict"), .text("figure"), .unordered("value", isNumber: true),
                .unordered("beside", isNumber: false),
            ])
        table.write(&section) { body in for recorded in cases { rows(recorded, &body) } }
    }

    private func rows(_ recorded: RecordedCase, _ body: inout Markup) {
        let chosen = Set(ArchiveSite.figures(of: recorded.figures.map(\.name)))
        let figures = recorded.figures.filter { chosen.contains($0.name) }
        for figure in figures.map(Optional.some) + (figures.isEmpty ? [nil] : []) {
            body.element("tr") { row in
                // A figure without a chart has no page to link to.
                let page = figure == nil ? nil : ArchiveSite.name(ofWorkload: recorded.test.scenario)
                SiteTable.name(recorded.test.title, page, row: &row)
                row.element("td", "\(recorded.test.engine) \(recorded.engineVersion)")
                row.element("td", recorded.verdict.shownWord)
                row.element("td", figure.map { Measure($0.name).words } ?? "")
                row.element(
                    "td", ["class": "n"],
                    figure.map { Figure.text($0.value, unit: $0.name.metric.unit) } ?? "")
                let ratios = figure.map { figure in figure.ratios.map { TrendWords.words($0, figure.name) } } ?? []
                row.element("td", ratios.joined(separator: ", "))
            }
        }
    }
}
