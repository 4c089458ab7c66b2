import RunRecords
import Statistics

/// Every figure that was measured in rounds, as a ratio to the best peer: a drawing and a table for each engine that
/// the run is about.
struct RatioPlots: ReportPart {
    let page: ReportPage

    func write(_ section: inout Markup) {
        let headlines = digest.headlines
        if headlines.isEmpty { return }
        section.element("div", ["class": "plots", "id": "ratios"]) { plots in
            for headline in headlines {
                figure(headline.times, "speed", &plots)
                figure(headline.costs, "bytes and other costs", &plots)
            }
        }
        section.element("p", ["class": "key"]) { key in
            let shapes: [(Decision, String)] = [
                (.ahead, "ahead"), (.behind, "behind"),
                (.same, "the same within 5 %"),
                (.open, "open: the rounds decide nothing yet"),
            ]
            for (decision, words) in shapes {
                key.element("span") { entry in
                    entry.element(
                        "b", ["class": "t-\(decision.rawValue)", "aria-hidden": "true"], Self.symbol(decision))
                    entry.add(" \(words)")
                }
                key.add(" ")
            }
            key.element("span", "whisker: interval of the median of the rounds' ratios, at least 95 %")
            key.add(" ")
            key.element("span", "grey: differences this small decide nothing")
        }
        for headline in headlines { ratioTable(headline, &section) }
    }

    /// A drawing of bytes is separate from one of speed, since fewer bytes are better, but not faster.
    private func figure(_ headline: HeadlineFigures, _ what: String, _ plots: inout Markup) {
        if headline.lines.isEmpty { return }
        plots.element("figure") { figure in
            figure.element("figcaption") { caption in
                caption.element("b", "\(headline.engine) beside the best peer: \(what)")
                caption.element("span") { DecisionCounts(headline: headline).write(&$0) }
            }
            plot(headline, headline.lines).draw(&figure)
        }
    }

    private static func symbol(_ decision: Decision) -> String {
        switch decision {
        case .ahead: "\u{25CF}"
        case .behind: "\u{25C6}"
        case .same: "\u{25CE}"
        case .open: "\u{25CB}"
        }
    }

    /// - Parameter lines: the lines of the headline that are drawn.
    func plot(_ headline: HeadlineFigures, _ lines: [HeadlineFigures.Line]) -> DotPlot {
        DotPlot(
            title: "\(headline.engine) beside the best peer: \(headline.standing())",
            lines: lines.map { line in
                let id = line.figures.values[headline.engine]?.result.test.id
                return DotPlot.Line(
                    name: line.name, shortName: line.shortName, measure: line.figures.measure,
                    ratio: line.ratio, link: id.flatMap { place(of: $0) })
            })
    }

    private func ratioTable(_ headline: HeadlineFigures, _ section: inout Markup) {
        let heads = [
            headline.engine, "best peer", "compared", "interval", "equal within", "rounds",
        ]
        fold("\(headline.engine): every ratio as a table", nil, section: &section) { details in
            details.table("grid sort", id: "t-ratios-\(headline.engine)") { row in
                sortable("figure", isNumber: false, &row)
                for words in heads { sortable(words, isNumber: true, &row) }
                sortable("peer", isNumber: false, &row)
                sortable("decision", isNumber: false, &row)
            } rows: { body in
                for line in headline.lines.prefix(detail.rows) { ratioLine(line, headline.engine, &body) }
            }
            leftOut(headline.lines.count, &details)
        }
    }

    private func ratioLine(_ line: HeadlineFigures.Line, _ engine: String, _ body: inout Markup) {
        let (row, ratio) = (line.figures, line.ratio)
        body.element("tr") { cells in
            cells.element("th", ["scope": "row"], line.name)
            for name in [engine, ratio.peer] {
                guard let (sample, result) = row.values[name] else {
                    cells.element("td", ["class": "n zero"], "\u{B7}")
                    continue
                }
                figureCell(row, sample, result: result, ratio: nil, line: &cells)
            }
            // Columns sort by the numbers behind the words, and so from the best to the worst.
            let words = [
                (ratio.value, ratio.short(row.measure)), (ratio.low, ratio.interval),
                (ratio.band.factor, Figure.percent(ratio.band.factor - 1)),
            ]
            for (value, text) in words {
                cells.element(
                    "td", ["class": "n", "data-v": value.map(Figure.exact) ?? ""], text ?? "\u{B7}")
            }
            cells.element("td", ["class": "n"], String(ratio.pairCount))
            cells.element("td", ratio.peer)
            let decision = ratio.decision ?? .open
            cells.element("td", ["class": "t-\(decision.rawValue)"], decision.rawValue)
        }
        body.raw("\n")
    }
}
