import Measuring
import RunRecords

/// Throughput and latency by durability class. Figures of different classes are never compared.
struct SpeedSection: ReportPart {
    let page: ReportPage

    func write(_ main: inout Markup) {
        let content = Markup.build(content)
        // A question of the plan keeps its section, even if it has no figures.
        if content.isEmpty && digest.results(for: .fast).isEmpty && digest.headlines.isEmpty { return }
        section(Question.fast.rawValue, Question.fast.text, main: &main) { section in
            if content.isEmpty { note("This run measured no speed.", &section) }
            section.raw(content)
        }
    }

    private func content(_ section: inout Markup) {
        if !header.measures {
            if !digest.results(for: .fast).isEmpty { measuresNothing(&section) }
            return
        }
        sentence(&section)
        for durability in digest.durabilities {
            let speed = digest.rows(of: .speed, durability)
            let latency = LatencyCharts(page: page, durability: durability)
            if speed.isEmpty && latency.groups.isEmpty { continue }
            let figures = { (part: inout Markup) in
                rawLimitNote(speed, &part)
                FigureGridTables(page: page, durability: durability).write(&part)
                bars(durability, &part)
                MeasureTable(
                    page: page, rows: speed, durability: durability, name: "speed", title: "Speed, every figure"
                ).write(&part)
                latency.write(&part)
            }
            let title = capitalized(RunDigest.durabilityText(durability))
            // The section of the strictest class is open, those of the others are folded.
            if durability == digest.durabilities.first {
                section.element("h3", title)
                figures(&section)
            } else {
                fold(title, nil, section: &section, content: figures)
            }
        }
        fold("The machine without an engine", nil, section: &section, content: rawFigures)
    }

    /// A sentence per engine with the decisions of the rounds on its speed.
    private func sentence(_ section: inout Markup) {
        for headline in digest.headlines.map(\.times) where !headline.lines.isEmpty {
            section.element(
                "p", ["class": "sentence"], "\(EngineName.words(headline.engine)) is \(headline.sentence()).")
        }
    }

    /// The figures of the machine without an engine.
    private func rawFigures(_ section: inout Markup) {
        let figures = digest.rawResults.flatMap { result in
            result.samples.filter { Measure($0).isRate }.map { (result, $0) }
        }
        if figures.isEmpty { return }
        section.element("dl", ["class": "figures"]) { list in
            for (result, sample) in figures {
                list.element("div") { entry in
                    entry.element("dt") { name in
                        let words = sample.label.isEmpty ? Measure(sample).words : sample.label
                        name.element("a", ["href": place(of: result.test.id)], words)
                    }
                    entry.element(
                        "dd", ["title": exactText(sample)], Figure.text(sample.value, unit: sample.metric.unit))
                }
            }
        }
    }

    private func rawLimitNote(_ rows: [MeasureRow], _ section: inout Markup) {
        // In a merged run, each machine has a limit of its own, which stands with its figures.
        guard digest.run.header.merged.isEmpty, let row = rows.first(where: { digest.rawLimit($0) != nil }),
            let result = row.values.values.first?.result,
            let limit = digest.rawOverwritesPerSecond(beside: result)
        else { return }
        note(
            "Raw limit: this disk takes \(Figure.rounded(limit)) overwrites of 4 KiB with fdatasync per second, one "
                + "after the other. A single writer that syncs every commit cannot pass that; writers that share a "
                + "sync can. Where a case measured it again beside its commits, its own figure stands.", &section)
    }

    private func bars(_ durability: DurabilityClass, _ section: inout Markup) {
        let isAnswer = PageAnswer(digest: digest).planQuestion == .fast && durability == answeringClass
        for (index, group) in barGroups(durability).enumerated() {
            let charts = group.charts.dropFirst(isAnswer && index == 0 ? Self.mostInAnswer : 0)
            if charts.isEmpty { continue }
            section.element("h4", group.title)
            if charts.contains(where: \.chart.hasRatios) {
                note(
                    Self.besideBars + " In colour where the rounds decide. A line across the end of a bar is the "
                        + "interval of its median.", &section)
            }
            let drawings = charts.map { chart in { (grid: inout Markup) in draw(chart, &grid) } }
            gallery(drawings, shown: 3, &section)
        }
    }

    /// What the words behind the bars compare.
    private static let besideBars =
        "To the right of each bar: how many times as fast or as slow as the best of the others. Strata and its storage "
        + "are not compared with each other."

    /// The number of charts in the answer.
    private static let mostInAnswer = 4

    /// The durability class whose first bars are the answer of a run about speed without rounds.
    private var answeringClass: DurabilityClass? { digest.durabilities.first { !barGroups($0).isEmpty } }

    /// The first bars, if the run measures.
    func answer(_ column: inout Markup) {
        guard header.measures, let durability = answeringClass, let group = barGroups(durability).first else { return }
        let words = highestRates(durability)
        if !words.isEmpty { column.element("p", ["class": "sentence"], words) }
        column.element("h3", group.title)
        if group.charts.contains(where: \.chart.hasRatios) { note(Self.besideBars, &column) }
        column.element("div", ["class": "charts"]) { grid in
            for chart in group.charts.prefix(Self.mostInAnswer) { draw(chart, &grid) }
        }
    }

    /// `Highest rate: Strata storage in 5 of 6 scenarios, LMDB in 1. ..`, by the first rate of each scenario that
    /// several engines have. Empty without one.
    private func highestRates(_ durability: DurabilityClass) -> String {
        let rows = digest.chartRows(durability).filter(\.measure.isRate)
        let winners = RunDigest.unique(rows.map(\.subject.scenario)).compactMap { scenario -> String? in
            let first = rows.first { $0.subject.scenario == scenario && $0.values.count > 1 }
            let values = first?.values.filter { $0.key != RunDigest.reference }.mapValues(\.sample.value) ?? [:]
            return values.count > 1 ? digest.engines.max { values[$0] ?? 0 < values[$1] ?? 0 } : nil
        }
        if winners.isEmpty { return "" }
        let counts = RunDigest.unique(winners).map { engine in (engine, winners.count { $0 == engine }) }
            .sorted { $0.1 > $1.1 }
        let words = counts.enumerated().map { index, part in
            let all = index == 0 ? " of \(Figure.count(winners.count, "scenario"))" : ""
            return "\(EngineName.words(part.0)) in \(Figure.grouped(part.1))\(all)"
        }
        return "Highest rate: \(words.joined(separator: ", ")). Each was measured once, which "
            + "supports no claim."
    }

    /// Rates, then times of one operation; without a group that has no chart.
    private func barGroups(_ durability: DurabilityClass) -> [(title: String, charts: [TitledChart])] {
        let rows = digest.chartRows(durability)
        let groups = [
            ("Per second: longer is faster", rows.filter(\.measure.isRate)),
            ("Time of one operation: shorter is faster", rows.filter(\.measure.isOperationTime)),
        ]
        return groups.map { (title: $0.0, charts: Array(barCharts($0.1).prefix(detail.charts / 2))) }
            .filter { !$0.charts.isEmpty }
    }

    private func draw(_ titled: TitledChart, _ grid: inout Markup) {
        let row = titled.row
        let id = digest.engines.lazy.compactMap { row.values[$0]?.result.test.id }.first
        let rest = [titled.what, RunDigest.datasetText(row.subject)].filter { !$0.isEmpty }
        grid.element("figure") { figure in
            caption(
                digest.name(row.subject), rest.joined(separator: " \u{B7} "), id: id, scenario: row.subject.scenario,
                figure: &figure)
            titled.chart.draw(&figure)
        }
    }

    private typealias TitledChart = (row: MeasureRow, what: String, chart: BarChart)

    /// A chart per figure that at least two engines have. If a single engine has a figure under several labels, these
    /// share a chart.
    private func barCharts(_ rows: [MeasureRow]) -> [TitledChart] {
        struct Alone: Hashable {
            var subject: Subject
            var metric: Metric
            var engine: String
        }
        func peers(_ row: MeasureRow) -> [String] {
            let engines = digest.engines.filter { (row.values[$0]?.sample.value ?? 0) > 0 }
            let peers = engines.filter { $0 != RunDigest.reference }
            return peers.isEmpty ? engines : peers
        }
        let aloneOf = { (row: MeasureRow) -> Alone? in
            let engines = peers(row)
            guard engines.count == 1, let engine = engines.first, !row.measure.label.isEmpty else { return nil }
            return Alone(subject: row.subject, metric: row.measure.metric, engine: engine)
        }
        let alone = Dictionary(grouping: rows.filter { aloneOf($0) != nil }, by: aloneOf)
        var seen: Set<Alone> = []
        var charts: [TitledChart] = []
        for row in rows {
            let name = digest.name(row.subject)
            if let key = aloneOf(row), let siblings = alone[key], siblings.count > 1 {
                if seen.insert(key).inserted {
                    let chart = BarChart(
                        title: "\(name), \(key.engine)", rows: siblings, engine: key.engine, palette: digest.palette)
                    charts.append((row, key.engine, chart))
                }
                continue
            }
            let engines = digest.engines.filter { (row.values[$0]?.sample.value ?? 0) > 0 }
            if engines.count > 1 {
                let title = "\(name): \(row.measure.words)"
                let chart = BarChart(
                    title: title, row: row, engines: engines, limit: digest.rawLimit(row), digest: digest)
                charts.append((row, row.measure.words, chart))
            }
        }
        return charts
    }
}
