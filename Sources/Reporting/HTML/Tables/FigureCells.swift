import RunRecords

// Cells of tables of figures, shared by all parts.

extension ReportPart {
    /// A figure with its spread and its ratio, if any; coloured only if the rounds decide.
    ///
    /// - Parameter order: the sort key of a column with several units; nil to sort by the figure.
    func figureCell(
        _ row: MeasureRow, _ sample: Sample, result: CaseResult, ratio: FigureRatio?, order: Double? = nil,
        line: inout Markup
    ) {
        let isDoubtful = digest.isDoubtful(result, row.measure)
        let marks = (result.isCut ? "\u{2020}" : "") + (isDoubtful ? "\u{2021}" : "")
        let title = exactText(sample, ratio) + (isDoubtful ? "; another one without the harness" : "")
        line.element("td", ["class": "n", "data-v": Figure.exact(order ?? sample.value)]) { cell in
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

    /// The number of measurements behind the figures of a row: one number, or minimum and maximum.
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
        if let ratio { text += "; \(ratio.words)" + (ratio.claim == nil ? ", measured once" : "") }
        return text
    }
}
