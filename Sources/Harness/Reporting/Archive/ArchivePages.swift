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
        let page = SitePage(title: "Archive of runs", facts: ["\(runs), \(scenarios)"])
        return page.text { main in
            ArchiveAnswer(trends: site.workloads.flatMap(\.trends)).write(&main)
            SitePage.section("Where figures changed", &main, content: changeSection)
            SitePage.section("Scenarios", &main, content: workloadSection)
            SitePage.section("Runs", &main, content: runSection)
        }
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
        SitePage.table(caption, ["from run", "commit", "figure", "change"], &section) { body in
            for (trend, change) in all.prefix(Self.most) {
                let (run, words) = (trend.points[change.index].run, TrendWords(trend: trend))
                body.element("tr") { row in
                    SitePage.link(run.id, ArchiveSite.name(of: run), &row)
                    row.element("td", run.shortCommit)
                    SitePage.link(words.pageTitle, ArchiveSite.name(ofWorkload: trend.test.scenario), &row)
                    row.element("td") { cell in
                        cell.element("span", ["class": words.style(change)], words.step(change))
                        if !change.remarks.isEmpty { cell.add("; " + change.remarks.joined(separator: "; ")) }
                    }
                }
            }
        }
    }

    private func workloadSection(_ section: inout Markup) {
        SitePage.table("By name", ["scenario", "engines", "trends", "changes"], &section) { body in
            for (scenario, trends) in site.workloads {
                body.element("tr") { row in
                    SitePage.link(scenario, ArchiveSite.name(ofWorkload: scenario), &row)
                    row.element("td", RunDigest.unique(trends.map(\.test.engine)).sorted().joined(separator: ", "))
                    row.element("td", ["class": "n"], String(trends.count))
                    row.element("td", ["class": "n"], String(trends.reduce(0) { $0 + $1.changes.count }))
                }
            }
        }
    }

    private func runSection(_ section: inout Markup) {
        SitePage.table("The latest first", ["run", "started", "commit", "branch", "plan", "host", "cases"], &section) {
            body in
            for run in site.runs.reversed() {
                body.element("tr") { row in
                    SitePage.link(run.id, ArchiveSite.name(of: run), &row)
                    let words = [
                        Figure.time(run.startTime), run.shortCommit, run.branch, run.plan, run.machine.host,
                        String(run.cases.count),
                    ]
                    for word in words { row.element("td", word) }
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
        let page = SitePage(
            title: scenario, path: [("Archive of runs", ArchiveSite.index)],
            facts: ["\(Figure.count(trends.count, "trend")), a point per run in the order of their start"])
        var subjects: [Subject] = []
        var groups: [Subject: [Trend]] = [:]
        for trend in trends {
            let subject = Subject(trend.test)
            if groups[subject] == nil { subjects.append(subject) }
            groups[subject, default: []].append(trend)
        }
        return page.text { main in
            ArchiveAnswer(trends: trends).write(&main)
            for subject in subjects {
                let title = [
                    RunDigest.datasetText(subject),
                    subject.parameters.map { "\($0.name) \($0.value)" }.joined(separator: ", "),
                ]
                SitePage.section(
                    (title + [RunDigest.durabilityText(subject.durability)]).filter { !$0.isEmpty }
                        .joined(separator: "; "), &main
                ) { section in
                    section.element("div", ["class": "charts"]) { grid in
                        for trend in groups[subject] ?? [] { figure(trend, &grid) }
                    }
                }
            }
        }
    }

    private func figure(_ trend: Trend, _ grid: inout Markup) {
        let words = TrendWords(trend: trend)
        grid.element("figure") { figure in
            figure.element("figcaption") { caption in
                caption.element("b", "\(trend.test.engine): \(words.figureWords)")
                caption.element("span", words.basis)
            }
            TrendChart(trend: trend, palette: palette).draw(&figure)
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
        SitePage.table(words.pageTitle, ["run", "commit", "figure", "beside", "change"], &details) { body in
            for (index, point) in trend.points.enumerated() {
                body.element("tr") { row in
                    SitePage.link(point.run.id, ArchiveSite.name(of: point.run), &row)
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
        let page = SitePage(
            title: run.id, path: [("Archive of runs", ArchiveSite.index)],
            facts: [
                "\(Figure.time(run.startTime)), plan \(run.plan), seed \(run.seed)",
                "commit \(run.commit.isEmpty ? "unknown" : run.commit)\(run.branch.isEmpty ? "" : ", \(run.branch)"), "
                    + "assay \(run.assayVersion), build \(run.buildDigest)",
                "\(machine.host): \(machine.processor), \(Figure.count(machine.coreCount, "core")), \(machine.system), "
                    + machine.fileSystem,
            ])
        return page.text { main in
            SitePage.section("Cases", &main) { section in
                SitePage.table(
                    "With the figures that have charts", ["case", "engine", "verdict", "figure", "value", "beside"],
                    &section
                ) { body in
                    for recorded in run.cases { rows(recorded, &body) }
                }
            }
        }
    }

    private func rows(_ recorded: RecordedCase, _ body: inout Markup) {
        let chosen = Set(ArchiveSite.figures(of: recorded.figures.map(\.name)))
        let figures = recorded.figures.filter { chosen.contains($0.name) }
        for figure in figures.map(Optional.some) + (figures.isEmpty ? [nil] : []) {
            body.element("tr") { row in
                // A figure without a chart has no page to link to.
                let title = recorded.test.title
                if figure == nil {
                    row.element("td", title)
                } else {
                    SitePage.link(title, ArchiveSite.name(ofWorkload: recorded.test.scenario), &row)
                }
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
