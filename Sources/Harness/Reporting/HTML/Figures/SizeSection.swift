import RunRecords
import Seeds

/// File sizes over time, then every figure in bytes.
struct SizeSection: ReportPart {
    let page: ReportPage

    /// The number of charts in the answer.
    private static let mostInAnswer = 4

    /// The first charts of the strictest durability class that has any, which are the answer of a run about sizes.
    func answer(_ column: inout Markup) {
        let lines = header.measures ? digest.sizeLines : []
        let drawings = digest.durabilities.lazy.map { durability in
            self.drawings(lines.filter { $0.subject.durability == durability })
        }.first { !$0.isEmpty }
        guard let drawings else { return }
        column.element("div", ["class": "charts"]) { grid in
            for draw in drawings.prefix(Self.mostInAnswer) { draw(&grid) }
        }
        lineNote(&column)
    }

    func write(_ main: inout Markup) {
        let growth = digest.outcomeRows(.large)
        let lines = header.measures ? digest.sizeLines : []
        let figures = digest.durabilities.map { ($0, header.measures ? digest.rows(of: .size, $0) : []) }
        if growth.isEmpty && lines.isEmpty && figures.allSatisfy(\.1.isEmpty) { return }
        section(Question.large.rawValue, Question.large.text, main: &main) { section in
            if !header.measures { measuresNothing(&section) }
            sentence(lines, &section)
            // If the run is about sizes, the first charts are in the answer above.
            var answered = PageAnswer(digest: digest).planQuestion == .large ? Self.mostInAnswer : 0
            for (durability, rows) in figures {
                let own = lines.filter { $0.subject.durability == durability }
                if own.isEmpty && rows.isEmpty { continue }
                section.element("h3", capitalized(RunDigest.durabilityText(durability)))
                let drawings = drawings(own)
                sizeCharts(Array(drawings.dropFirst(answered)), &section)
                if !drawings.isEmpty { answered = 0 }
                seriesTable(own, durability, &section)
                MeasureTable(page: page, rows: rows, durability: durability, name: "size", title: "Sizes, every figure")
                    .write(&section)
            }
            fold("Were the bounds kept?", Figure.count(growth.count, "case"), section: &section) { details in
                OutcomeTables(page: page, rows: growth).write(&details)
            }
        }
    }

    /// The first and the last file size of the engine that the run is about, if the sizes were sampled.
    private func sentence(_ lines: [SizeLine], _ section: inout Markup) {
        let engine = digest.sides.own.first
        guard let line = lines.first(where: { $0.engine == engine }) ?? lines.first else { return }
        let totals = line.series.points.map { Double($0.totalBytes) }
        guard let first = totals.first, let last = totals.last, let largest = totals.max() else { return }
        section.element(
            "p", ["class": "sentence"],
            "\(EngineName.words(line.engine)), \(digest.name(line.subject)): \(Figure.bytes(first)) at first, "
                + "\(Figure.bytes(largest)) at most, \(Figure.bytes(last)) at last.")
    }

    /// The subject of a chart: one scenario on one data set, with all engines and policies.
    private struct ChartKey: Hashable {
        var scenario: String
        var dataset: String
        var size: Int
        var seed: Seed
        var name: String
        var step: String
    }

    private func sizeCharts(_ drawings: [(inout Markup) -> Void], _ section: inout Markup) {
        if drawings.isEmpty { return }
        lineNote(&section)
        gallery(drawings, shown: 3, &section)
    }

    private func lineNote(_ section: inout Markup) {
        note(
            "Thick lines are data and log together, thin ones the live data. If an engine has several lines, they "
                + "are those of its policies.", &section)
    }

    private func drawings(_ lines: [SizeLine]) -> [(inout Markup) -> Void] {
        let keyOf = { (line: SizeLine) in
            ChartKey(
                scenario: line.subject.scenario, dataset: line.subject.dataset, size: line.subject.size,
                seed: line.subject.seed, name: line.series.name, step: line.series.step)
        }
        let groups = Dictionary(grouping: lines, by: keyOf)
        var drawings: [(inout Markup) -> Void] = []
        for key in RunDigest.unique(lines.map(keyOf)).prefix(detail.charts / 2) {
            // More than eight lines in one chart cannot be told apart: then each engine gets a chart.
            let all = groups[key] ?? []
            let parts =
                all.count <= 8
                ? [all] : digest.engines.map { engine in all.filter { $0.engine == engine } }.filter { !$0.isEmpty }
            // The charts of one key have the same axis, so that their sizes can be compared.
            let high = all.flatMap(\.series.points).map(\.drawnBytes).max() ?? 0
            for part in parts {
                drawings.append { (grid: inout Markup) in sizeChart(key, Array(part.prefix(8)), high: high, grid: &grid)
                }
            }
        }
        return drawings
    }

    private func sizeChart(_ key: ChartKey, _ lines: [SizeLine], high: Int, grid: inout Markup) {
        guard let first = lines.first else { return }
        grid.element("figure") { figure in
            let rest = [key.name, RunDigest.datasetText(first.subject)].filter { !$0.isEmpty }
            caption(
                key.scenario, rest.joined(separator: " \u{B7} "), id: first.caseID, scenario: key.scenario,
                figure: &figure)
            SizeChart(
                title: "\(key.scenario): \(key.name)",
                lines: lines.map {
                    SizeChart.Line(engine: $0.engine, variant: digest.shortVariant($0.subject), series: $0.series)
                }, palette: digest.palette, sharedHigh: high
            ).draw(&figure)
        }
    }

    private func seriesTable(_ lines: [SizeLine], _ durability: DurabilityClass, _ section: inout Markup) {
        if lines.isEmpty { return }
        let heads = ["at first", "largest", "at last", "live at last", "free at last", "of it log, at most"]
        fold("Data and log over time", Figure.count(lines.count, "row"), section: &section) { details in
            details.table("grid sort", id: "t-series-\(durability.rawValue)") { row in
                for words in ["scenario", "what", "engine"] { sortable(words, isNumber: false, &row) }
                for words in heads { sortable(words, isNumber: true, &row) }
            } rows: { body in
                for line in lines.prefix(detail.rows) { seriesLine(line, &body) }
            }
            leftOut(lines.count, &details)
        }
    }

    private func seriesLine(_ line: SizeLine, _ body: inout Markup) {
        let points = line.series.points
        guard let first = points.first, let last = points.last else { return }
        let sizes: [Int?] = [
            first.totalBytes, points.map(\.totalBytes).max(), last.totalBytes, last.liveBytes, last.freeBytes,
            points.map(\.logBytes).max(),
        ]
        body.element("tr") { row in
            row.element("th", ["scope": "row"]) {
                $0.element("a", ["href": place(of: line.caseID)], digest.name(line.subject))
            }
            row.element("td", line.series.name)
            row.element("td", line.engine)
            for size in sizes {
                row.element(
                    "td",
                    [
                        "class": size == nil ? "n zero" : "n", "data-v": size.map(String.init) ?? "",
                        "title": size.map { "\(Figure.grouped($0)) bytes" } ?? "the engine does not say",
                    ], size.map { Figure.bytes(Double($0)) } ?? "\u{B7}")
            }
        }
        body.raw("\n")
    }
}
