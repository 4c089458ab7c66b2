import RunRecords
import Statistics

extension HTMLReport {
    /// Every figure that was measured in rounds beside the best peer: a drawing per engine that the run is about, and
    /// the same as a table.
    func ratios(_ section: inout Markup) {
        let headlines = digest.headlines
        if headlines.isEmpty { return }
        section.element("div", ["class": "plots"]) { plots in
            for headline in headlines {
                plots.element("figure") { figure in
                    figure.element("figcaption") { caption in
                        caption.element("b", "\(headline.engine) beside the best peer")
                        caption.element("span") { counted(headline, &$0) }
                    }
                    plot(headline).draw(&figure)
                }
            }
        }
        section.element("p", ["class": "key"]) { key in
            let shapes: [(Decision, String)] = [
                (.ahead, "ahead"), (.behind, "behind"),
                (.undecided, "undecided: the interval touches what two sides of one program differ by"),
            ]
            for (decision, words) in shapes {
                key.element("span") { entry in
                    entry.element(
                        "b", ["class": "t-\(decision.rawValue)", "aria-hidden": "true"], Self.symbol(decision))
                    entry.add(" \(words)")
                }
                key.add(" ")
            }
            key.element("span", "whisker: interval of the median ratio over the rounds, 95 % or more")
            key.add(" ")
            key.element("span", "shaded: that difference, the dead band")
        }
        for headline in headlines { ratioTable(headline, &section) }
    }

    private static func symbol(_ decision: Decision) -> String {
        switch decision {
        case .ahead: "\u{25CF}"
        case .behind: "\u{25C6}"
        case .undecided: "\u{25CB}"
        }
    }

    private func plot(_ headline: HeadlineFigures) -> DotPlot {
        DotPlot(
            title: "\(headline.engine) beside the best peer: \(headline.standing())",
            lines: headline.lines.map { line in
                let id = line.figures.values[headline.engine]?.result.test.id
                return DotPlot.Line(
                    name: line.name, shortName: line.shortName, ratio: line.ratio, link: id.flatMap { place(of: $0) })
            })
    }

    private func ratioTable(_ headline: HeadlineFigures, _ section: inout Markup) {
        let heads = [
            headline.engine, "best peer", "ratio", "from", "to", "equal within", "rounds",
        ]
        section.element("details", ["class": "numbers"]) { details in
            details.element("summary", "\(headline.engine): every ratio as a table")
            details.element("div", ["class": "scroll"]) { scroll in
                scroll.element("table", ["class": "grid sort", "id": "t-ratios-\(headline.engine)"]) { table in
                    table.element("thead") { head in
                        head.element("tr") { row in
                            sortable("figure", isNumber: false, &row)
                            for words in heads { sortable(words, isNumber: true, &row) }
                            sortable("peer", isNumber: false, &row)
                            sortable("decision", isNumber: false, &row)
                        }
                    }
                    table.element("tbody") { body in
                        for line in headline.lines.prefix(detail.rows) { ratioLine(line, headline.engine, &body) }
                    }
                }
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
                figureCell(row, sample, result, nil, &cells)
            }
            for value in [ratio.value, ratio.low, ratio.high, ratio.band.factor] {
                cells.element(
                    "td", ["class": "n", "data-v": value.map(Figure.exact) ?? ""],
                    value.map { Figure.ratio($0) } ?? "\u{B7}")
            }
            cells.element("td", ["class": "n"], String(ratio.pairCount))
            cells.element("td", ratio.peer)
            let decision = ratio.decision ?? .undecided
            cells.element("td", ["class": "t-\(decision.rawValue)"], decision.rawValue)
        }
        body.raw("\n")
    }

    // MARK: Figures in tables

    /// A figure with its spread, and its ratio where it is given: coloured only where the rounds decide.
    func figureCell(
        _ row: MeasureRow, _ sample: Sample, _ result: CaseResult, _ ratio: FigureRatio?, _ line: inout Markup
    ) {
        line.element("td", ["class": "n", "data-v": Figure.exact(sample.value)]) { cell in
            cell.element(
                "a", ["href": place(of: result.test.id), "title": exactText(sample, ratio)],
                row.measure.text(sample.value) + (result.isCut ? "\u{2020}" : ""))
            let spread = Measure.spread(sample)
            if !spread.isEmpty { cell.element("small", ["class": "spread"], spread) }
            if let ratio { cell.element("small", ["class": ratio.style], Figure.ratio(ratio.value)) }
        }
    }

    /// How many measurements stand behind the figures of a row: one number, or the least and the most.
    func countCell(_ row: MeasureRow, _ line: inout Markup) {
        let counts = row.values.values.map(\.sample.count)
        guard let least = counts.min(), let most = counts.max() else { return line.element("td", "") }
        line.element(
            "td", ["class": "n zero", "data-v": String(least)],
            least == most ? Figure.grouped(least) : "\(Figure.grouped(least))\u{2013}\(Figure.grouped(most))")
    }

    func exactText(_ sample: Sample, _ ratio: FigureRatio? = nil) -> String {
        var text = "\(Figure.exact(sample.value)) \(sample.metric.unit)"
        if let low = sample.low, let high = sample.high {
            text += ", interval \(Figure.exact(low)) to \(Figure.exact(high))"
        }
        if sample.count > 1 { text += ", n = \(Figure.grouped(sample.count))" }
        if let ratio { text += "; \(ratio.words)" + (ratio.decision == nil ? ", measured once" : "") }
        return text
    }
}
