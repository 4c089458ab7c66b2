import RunRecords

// Cells of tables of figures, which all parts share.

extension ReportPart {
    /// The figure relative to the best of the row's engines, which is 1. Rows of different units can be sorted by it.
    func goodness(_ value: Double, _ row: MeasureRow) -> Double {
        let values = row.values.filter { $0.key != RunDigest.reference }.map(\.value.sample.value)
        if row.measure.metric.direction == .higherIsBetter {
            let most = values.max() ?? value
            return most > 0 ? value / most : 1
        }
        // Of costs 0 is the best, and no other cost comes near it.
        return value > 0 ? max(0, values.min() ?? value) / value : 1
    }

    /// The figure of an engine in a row, or a point if the row has none.
    ///
    /// - Parameter order: the sort key of a column with several units; nil to sort by the figure.
    func figureCell(
        _ row: MeasureRow, _ engine: String, ratio: FigureRatio?, order: Double? = nil, line: inout Markup
    ) {
        let style = FigureRows.style(engine)
        guard let (sample, result) = row.values[engine] else {
            return line.element("td", ["class": "\(style) zero"], "\u{B7}")
        }
        figureCell(row, sample, result: result, ratio: ratio, order: order, style: style, line: &line)
    }

    /// A figure with its spread, and with its ratio if one is given: in colour only if the rounds decide.
    func figureCell(
        _ row: MeasureRow, _ sample: Sample, result: CaseResult, ratio: FigureRatio?, order: Double? = nil,
        style: String = "n", line: inout Markup
    ) {
        let isDoubtful = digest.isDoubtful(result, row.measure)
        let marks = (result.isCut ? "\u{2020}" : "") + (isDoubtful ? "\u{2021}" : "")
        let title = exactText(sample, ratio, row.measure) + (isDoubtful ? "; another value without the harness" : "")
        line.element("td", ["class": style, "data-v": Figure.exact(order ?? sample.value)]) { cell in
            cell.element(
                "a", ["href": place(of: result.test.id), "title": title], row.measure.text(sample.value) + marks)
            let spread = Measure.spread(sample)
            if !spread.isEmpty { cell.element("small", ["class": "spread"], spread) }
            if let ratio {
                cell.element("small", ["class": ratio.style], ratio.short(row.measure))
                if ratio.isWithheld { cell.element("small", FigureRatio.withheld) }
            }
        }
    }

    /// The limit of the machine without an engine, and the share of it that an engine reaches.
    func limitCell(_ row: MeasureRow, _ limit: Double?, share: Double?, line: inout Markup) {
        // Limits have as many units as the figures beside them, and sort alike.
        line.element("td", ["class": "n", "data-v": limit.map { Figure.exact(goodness($0, row)) } ?? ""]) { cell in
            guard let limit else { return }
            cell.add(row.measure.text(limit))
            if let share { cell.element("small", Figure.percent(share)) }
        }
    }

    /// How many measurements the figures of a row rest on: one number, or the least and the most.
    func countCell(_ row: MeasureRow, _ line: inout Markup) {
        let counts = row.values.values.map(\.sample.count)
        guard let least = counts.min(), let most = counts.max() else { return line.element("td", "") }
        line.element(
            "td", ["class": "n zero", "data-v": String(least)],
            least == most ? Figure.grouped(least) : "\(Figure.grouped(least))\u{2013}\(Figure.grouped(most))")
    }

    func exactText(_ sample: Sample) -> String { exactText(sample, nil, Measure(sample)) }

    private func exactText(_ sample: Sample, _ ratio: FigureRatio?, _ measure: Measure) -> String {
        var text = "\(Figure.exact(sample.value)) \(sample.metric.unit)"
        if let low = sample.low, let high = sample.high {
            text += ", interval \(Figure.exact(low)) to \(Figure.exact(high))"
        }
        if sample.count > 1 { text += ", n = \(Figure.grouped(sample.count))" }
        if let ratio { text += "; \(ratio.words(measure))" + (ratio.isRepeated ? "" : ", measured once") }
        return text
    }
}
