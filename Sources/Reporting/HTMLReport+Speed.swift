import Measuring
import Results

extension HTMLReport {
    /// Throughput, latency and what it cost, one durability class after the other: they are never set side by side.
    func speed(_ main: inout Markup) {
        section(Question.fast.rawValue, Question.fast.text, &main) { section in
            var isEmpty = true
            for durability in digest.durabilities {
                let speed = digest.rows(of: .speed, durability)
                let latency = latencyLines(durability)
                let resources = digest.rows(of: .resource, durability)
                if speed.isEmpty && latency.isEmpty && resources.isEmpty { continue }
                isEmpty = false
                section.element("h3", capitalized(RunDigest.durabilityText(durability)))
                rawLimitNote(durability, speed, &section)
                bars(speed, durability, &section)
                measures(speed, durability, "speed", "Speed, every figure", isOpen: true, &section)
                latencies(latency, durability, &section)
                measures(
                    resources, durability, "resource", "Memory, processor and system calls", isOpen: false, &section)
            }
            if isEmpty { note("This run measured no speed.", &section) }
        }
    }

    private func rawLimitNote(_ durability: DurabilityClass, _ rows: [MeasureRow], _ section: inout Markup) {
        let nanoseconds = Double(header.machine.fsyncNanoseconds)
        guard let limit = rows.lazy.compactMap({ digest.rawLimit($0.measure.metric, durability) }).first else { return }
        note(
            "Raw limit: one 4 KiB overwrite with fdatasync takes \(Figure.duration(nanoseconds: nanoseconds)) here, so "
                + "a single writer that syncs every commit cannot pass \(Figure.rounded(limit)) commits per second. "
                + "Writers that share a sync can.", &section)
    }

    private func bars(_ rows: [MeasureRow], _ durability: DurabilityClass, _ section: inout Markup) {
        let rates = rows.filter { $0.measure.metric.direction == .higherIsBetter && $0.measure.metric.unit == "1/s" }
        let times = rows.filter { $0.measure.metric.name == Metric.operationNanoseconds.name }
        let groups = [("Per second: longer is faster", rates), ("Time of one operation: shorter is faster", times)]
        for (title, group) in groups {
            let charts = barCharts(group, durability).prefix(detail.charts / 2)
            if charts.isEmpty { continue }
            section.element("h4", title)
            if charts.contains(where: { $0.chart.bars.contains { $0.ratio != nil } }) {
                note("Behind each bar: how many times as good as the best of the other engines.", &section)
            }
            section.element("div", ["class": "charts"]) { grid in
                for (row, what, chart) in charts {
                    let id = digest.engines.lazy.compactMap { row.values[$0]?.result.test.id }.first
                    let rest = [what, RunDigest.datasetText(row.subject)].filter { !$0.isEmpty }
                    grid.element("figure") { figure in
                        caption(digest.name(row.subject), rest.joined(separator: " \u{B7} "), id, &figure)
                        chart.draw(&figure)
                    }
                }
            }
        }
    }

    private typealias TitledChart = (row: MeasureRow, what: String, chart: BarChart)

    /// A chart per figure that two engines have. Of a figure that one engine has alone, the labels share a chart.
    private func barCharts(_ rows: [MeasureRow], _ durability: DurabilityClass) -> [TitledChart] {
        struct Alone: Hashable {
            var subject: Subject
            var metric: Metric
            var engine: String
        }
        var charts: [TitledChart] = []
        var seen: Set<Alone> = []
        for row in rows {
            let name = digest.name(row.subject)
            let engines = digest.engines.filter { (row.values[$0]?.sample.value ?? 0) > 0 }
            if engines.count > 1 {
                let limit = digest.rawLimit(row.measure.metric, durability)
                let title = "\(name): \(row.measure.words)"
                let chart = BarChart(title: title, row: row, engines: engines, limit: limit)
                charts.append((row, row.measure.words, chart))
            } else if let engine = engines.first {
                let key = Alone(subject: row.subject, metric: row.measure.metric, engine: engine)
                let siblings = rows.filter {
                    $0.subject == row.subject && $0.measure.metric == row.measure.metric && !$0.measure.label.isEmpty
                        && $0.values.count == 1 && $0.values[engine] != nil
                }
                if siblings.count > 1, seen.insert(key).inserted {
                    charts.append((row, engine, BarChart(title: "\(name), \(engine)", rows: siblings, engine: engine)))
                }
            }
        }
        return charts
    }

    // MARK: Tables of measures

    /// A row per subject and measure, a column per engine.
    func measures(
        _ rows: [MeasureRow], _ durability: DurabilityClass, _ name: String, _ title: String, isOpen: Bool,
        _ section: inout Markup
    ) {
        if rows.isEmpty { return }
        let engines = digest.engines.filter { engine in rows.contains { $0.values[engine] != nil } }
        let hasLimit = rows.contains { digest.rawLimit($0.measure.metric, durability) != nil }
        let id = "t-\(name)-\(durability.rawValue)"
        section.element("details", ["class": "numbers", "open": isOpen ? "" : nil]) { details in
            details.element("summary", "\(title) (\(Figure.count(rows.count, "row")))")
            if rows.count > 8 { filter(id, &details) }
            details.element("div", ["class": "scroll"]) { scroll in
                scroll.element("table", ["class": "grid sort", "id": id]) { table in
                    table.element("thead") { head in
                        head.element("tr") { row in
                            for words in ["scenario", "what"] { sortable(words, isNumber: false, &row) }
                            for engine in engines { sortable(engine, isNumber: true, &row) }
                            if hasLimit { sortable("raw limit", isNumber: true, &row) }
                        }
                    }
                    table.element("tbody") { body in
                        for row in rows.prefix(detail.rows) {
                            measureLine(row, engines, hasLimit ? durability : nil, &body)
                        }
                    }
                }
            }
            leftOut(rows.count, &details)
        }
    }

    private func measureLine(
        _ row: MeasureRow, _ engines: [String], _ limited: DurabilityClass?, _ body: inout Markup
    ) {
        body.element("tr") { line in
            line.element("th", ["scope": "row"]) { cell in
                cell.add(digest.name(row.subject))
                let dataset = RunDigest.datasetText(row.subject)
                if !dataset.isEmpty { cell.element("small", " " + dataset) }
            }
            line.element("td", row.measure.words)
            for engine in engines {
                guard let (sample, result) = row.values[engine] else {
                    line.element("td", ["class": "n zero"], "\u{B7}")
                    continue
                }
                line.element("td", ["class": "n", "data-v": Figure.exact(sample.value)]) { cell in
                    cell.element(
                        "a", ["href": place(of: result.test.id), "title": exactText(sample, row.ratio(of: engine))],
                        row.measure.text(sample.value) + (result.isCut ? "\u{2020}" : ""))
                    if let ratio = row.ratio(of: engine) {
                        cell.element("small", ["class": ratio.value >= 1.05 ? "up" : nil], Figure.ratio(ratio.value))
                    }
                }
            }
            if let limited {
                let limit = digest.rawLimit(row.measure.metric, limited)
                line.element(
                    "td", ["class": "n", "data-v": limit.map(Figure.exact) ?? ""],
                    limit.map { row.measure.text($0) } ?? "")
            }
        }
        body.raw("\n")
    }

    func exactText(_ sample: Sample, _ ratio: (value: Double, peer: String)? = nil) -> String {
        var text = "\(Figure.exact(sample.value)) \(sample.metric.unit)"
        if let low = sample.low, let high = sample.high {
            text += ", interval \(Figure.exact(low)) to \(Figure.exact(high))"
        }
        if sample.count > 1 { text += ", n = \(Figure.grouped(sample.count))" }
        if let ratio { text += "; \(Figure.ratio(ratio.value)) of \(ratio.peer)" }
        return text
    }

    func filter(_ table: String, _ markup: inout Markup) {
        markup.open(
            "input",
            [
                "type": "search", "class": "filter", "data-for": table, "placeholder": "Filter",
                "aria-label": "Filter rows",
            ])
    }

    // MARK: Latency

    /// The distributions of one name of one subject.
    private struct LatencyGroup {
        var subject: Subject
        var name: String
        var lines: [(result: CaseResult, histogram: Histogram)]
    }

    private func latencyLines(_ durability: DurabilityClass) -> [LatencyGroup] {
        digest.comparisons.filter { $0.subject.durability == durability }.flatMap { comparison -> [LatencyGroup] in
            let results = digest.engines.compactMap { comparison.results[$0] }
            let named = results.flatMap { result in
                (run.details[result.test.id]?.histograms ?? []).map { (result: result, named: $0) }
            }
            return RunDigest.unique(named.map(\.named.name)).map { name in
                LatencyGroup(
                    subject: comparison.subject, name: name,
                    lines: named.filter { $0.named.name == name && !$0.named.histogram.isEmpty }.map {
                        ($0.result, $0.named.histogram)
                    })
            }.filter { !$0.lines.isEmpty }
        }
    }

    private func latencies(_ groups: [LatencyGroup], _ durability: DurabilityClass, _ section: inout Markup) {
        if groups.isEmpty { return }
        section.element("h4", "Latency: lower is faster")
        let shown = groups.prefix(detail.charts / 2)
        section.element("div", ["class": "charts"]) { grid in
            for group in shown {
                let title = digest.name(group.subject)
                let name = group.name == Metric.latencyNanoseconds.name ? "latency" : group.name
                grid.element("figure") { figure in
                    let rest = [name, RunDigest.datasetText(group.subject)].filter { !$0.isEmpty }
                    caption(title, rest.joined(separator: " \u{B7} "), group.lines.first?.result.test.id, &figure)
                    LatencyChart(
                        title: "\(title): \(name)",
                        lines: group.lines.map {
                            LatencyChart.Line(engine: $0.result.test.engine, histogram: $0.histogram)
                        }
                    ).draw(&figure)
                }
            }
        }
        latencyTable(groups, durability, &section)
    }

    private func latencyTable(_ groups: [LatencyGroup], _ durability: DurabilityClass, _ section: inout Markup) {
        let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)]
        let count = groups.reduce(0) { $0 + $1.lines.count }
        let id = "t-latency-\(durability.rawValue)"
        section.element("details", ["class": "numbers", "open": ""]) { details in
            details.element("summary", "Latency, every distribution (\(Figure.count(count, "row")))")
            if count > 8 { filter(id, &details) }
            details.element("div", ["class": "scroll"]) { scroll in
                scroll.element("table", ["class": "grid sort", "id": id]) { table in
                    table.element("thead") { head in
                        head.element("tr") { row in
                            for words in ["scenario", "what", "engine"] { sortable(words, isNumber: false, &row) }
                            for words in quantiles.map(\.0) + ["max", "mean", "n"] {
                                sortable(words, isNumber: true, &row)
                            }
                        }
                    }
                    table.element("tbody") { body in
                        let lines = groups.flatMap { group in group.lines.map { (group, $0) } }
                        for (group, line) in lines.prefix(detail.rows) {
                            latencyLine(group, line.result, line.histogram, quantiles.map(\.1), &body)
                        }
                    }
                }
            }
            leftOut(count, &details)
        }
    }

    private func latencyLine(
        _ group: LatencyGroup, _ result: CaseResult, _ histogram: Histogram, _ quantiles: [Double],
        _ body: inout Markup
    ) {
        body.element("tr") { line in
            line.element("th", ["scope": "row"]) {
                $0.element("a", ["href": place(of: result.test.id)], digest.name(group.subject))
            }
            line.element("td", group.name == Metric.latencyNanoseconds.name ? "latency" : group.name)
            line.element("td", result.test.engine)
            for quantile in quantiles {
                // Beyond one in `count` a quantile is only the slowest again.
                let isKnown = Double(histogram.count) * (1 - quantile) >= 0.999
                time(isKnown ? Double(histogram.quantile(quantile)) : nil, &line)
            }
            time(Double(histogram.maximum), &line)
            time(histogram.mean, &line)
            line.element("td", ["class": "n", "data-v": String(histogram.count)], Figure.grouped(Int(histogram.count)))
        }
        body.raw("\n")
    }

    private func time(_ nanoseconds: Double?, _ line: inout Markup) {
        guard let nanoseconds else {
            line.element("td", ["class": "n zero", "data-v": "", "title": "too few operations"], "\u{B7}")
            return
        }
        line.element(
            "td", ["class": "n", "data-v": Figure.exact(nanoseconds), "title": Figure.exact(nanoseconds) + " ns"],
            Figure.duration(nanoseconds: nanoseconds))
    }
}
