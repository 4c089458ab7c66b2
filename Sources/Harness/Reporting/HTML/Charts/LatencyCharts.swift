import Measuring
import RunRecords

/// The distributions of one durability class: a chart per subject and name, and a table of all.
struct LatencyCharts: ReportPart {
    /// The distributions that have one name, of one subject.
    struct LatencyGroup {
        var subject: Subject
        var name: String
        var lines: [(result: CaseResult, histogram: Histogram)]
    }

    let page: ReportPage
    let durability: DurabilityClass
    let groups: [LatencyGroup]

    init(page: ReportPage, durability: DurabilityClass) {
        self.page = page
        self.durability = durability
        groups = Self.groups(page, durability)
    }

    private static func groups(_ page: ReportPage, _ durability: DurabilityClass) -> [LatencyGroup] {
        let digest = page.digest
        let limits = digest.rawScenarios
        return digest.comparisons.filter {
            $0.subject.durability == durability && !limits.contains($0.subject.scenario)
        }.flatMap { comparison -> [LatencyGroup] in
            // Cases that fill a table of the report show their times there.
            let results = digest.engines.compactMap { comparison.results[$0] }.filter(\.gridCells.isEmpty)
            let named = results.flatMap { result in
                (digest.run.details[result.test.id]?.histograms ?? []).map { (result: result, named: $0) }
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

    func write(_ section: inout Markup) {
        if groups.isEmpty { return }
        section.element("h4", "Latency: lower is faster")
        let shown = groups.prefix(detail.charts / 2)
        let drawings = shown.map { group in
            { (grid: inout Markup) in
                let title = digest.name(group.subject)
                let name = group.name == Metric.latencyNanoseconds.name ? "latency" : group.name
                grid.element("figure") { figure in
                    let rest = [name, RunDigest.datasetText(group.subject)].filter { !$0.isEmpty }
                    caption(
                        title, rest.joined(separator: " \u{B7} "), id: group.lines.first?.result.test.id,
                        scenario: group.subject.scenario, figure: &figure)
                    let own = group.lines.map {
                        LatencyChart.Line(name: $0.result.test.engine, histogram: $0.histogram)
                    }
                    LatencyChart(
                        title: "\(title): \(name)", lines: own + rawLines(group), palette: digest.palette
                    ).draw(&figure)
                }
            }
        }
        gallery(drawings, shown: 3, &section)
        table(&section)
    }

    /// The loop of overwrites and syncs without an engine, for commits that each sync: no engine with one writer is
    /// faster.
    private func rawLines(_ group: LatencyGroup) -> [LatencyChart.Line] {
        guard group.subject.durability == .full, group.name.hasPrefix("commit") else { return [] }
        let histograms = digest.rawResults.flatMap { run.details[$0.test.id]?.histograms ?? [] }
        guard let raw = histograms.first(where: { $0.name == RunDigest.rawOverwrite }) else { return [] }
        return [LatencyChart.Line(name: "raw disk", histogram: raw.histogram, isLimit: true)]
    }

    private func table(_ section: inout Markup) {
        let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)]
        let count = groups.reduce(0) { $0 + $1.lines.count }
        let id = "t-latency-\(durability.rawValue)"
        fold("Latency, every distribution", Figure.count(count, "row"), section: &section) { details in
            details.table("grid sort", id: id) { row in
                for words in ["scenario", "what", "engine"] { sortable(words, isNumber: false, &row) }
                for words in quantiles.map(\.0) + ["max", "mean", "n"] {
                    sortable(words, isNumber: true, &row)
                }
            } rows: { body in
                let lines = groups.flatMap { group in group.lines.map { (group, $0) } }
                for (group, line) in lines.prefix(detail.rows) {
                    latencyLine(
                        group, line.result, histogram: line.histogram, quantiles: quantiles.map(\.1),
                        body: &body)
                }
            }
            leftOut(count, &details)
        }
    }

    private func latencyLine(
        _ group: LatencyGroup, _ result: CaseResult, histogram: Histogram, quantiles: [Double],
        body: inout Markup
    ) {
        body.element("tr") { line in
            line.element("th", ["scope": "row"]) {
                $0.element("a", ["href": place(of: result.test.id)], digest.name(group.subject))
            }
            line.element("td", group.name == Metric.latencyNanoseconds.name ? "latency" : group.name)
            line.element("td", result.test.engine)
            for quantile in quantiles {
                time(histogram.carries(quantile) ? Double(histogram.quantile(quantile)) : nil, &line)
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
