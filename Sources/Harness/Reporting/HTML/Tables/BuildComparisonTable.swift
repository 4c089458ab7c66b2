import RunRecords
import Statistics

/// Every figure by which a comparison of two builds judges, in a row for B beside A, and one for A2, which is A once
/// more. A row above names the case; when the reader sorts, these rows are hidden, and each figure shows its case.
struct BuildComparisonTable {
    let cases: [ComparedCase]
    /// The ratio of a side to A.
    let ratio: (SideComparison) -> FigureRatio

    /// The columns A and "it" have figures of several units, which have no common order.
    private static let columns: [SortHead.Column] = [
        .text("figure"), .text("side"), .unordered("A", isNumber: true), .unordered("it", isNumber: true),
        .number("beside A"), .number("interval"), .number("pairs"), .number("would be seen"), .text("finding"),
    ]

    private struct Line {
        var words: String
        var side = ""
        var figure: ComparedFigure?
        var measured: SideComparison?
    }

    func write(_ details: inout Markup) {
        details.table(
            "grid sort", id: "t-cases", isFocusable: true, head: SortHead(columns: Self.columns).write
        ) { body in
            for compared in cases {
                group(compared, &body)
                for (index, line) in Self.lines(compared).enumerated() {
                    row(line, of: compared, id: index == 0 ? "c-\(compared.test.id)" : nil, body: &body)
                }
            }
        }
    }

    private static func lines(_ compared: ComparedCase) -> [Line] {
        if compared.batches.isEmpty { return [Line(words: "no figure")] }
        return compared.batches.enumerated().flatMap { index, batch in
            let judged = batch.judged
            let words = (index == 0 ? "" : "again: ") + Measure(judged.name).words
            return [
                Line(words: words, side: "B", figure: judged, measured: judged.measured),
                Line(words: words, side: "A2", figure: judged, measured: judged.control),
            ]
        }
    }

    private func group(_ compared: ComparedCase, _ body: inout Markup) {
        let style: String =
            switch compared.finding {
            case .slower: "t-behind bad"
            case .faster: "t-ahead"
            case .same: "t-same"
            case .inconclusive: "t-open"
            }
        body.element("tr", ["class": "group"]) { row in
            row.element("th", ["scope": "rowgroup", "colspan": String(Self.columns.count)]) { cell in
                cell.element("span") { name in
                    name.add(compared.test.title)
                    name.element("small", ["class": style], " \(compared.finding.rawValue)")
                    if !compared.reason.isEmpty { name.element("small", ", \(compared.reason)") }
                }
            }
        }
    }

    private func row(_ line: Line, of compared: ComparedCase, id: String?, body: inout Markup) {
        body.element("tr", ["id": id]) { row in
            row.element("th", ["scope": "row"]) { cell in
                cell.element("span", ["class": "of"], "\(compared.test.title) ")
                cell.add(line.words)
            }
            row.element("td", line.side)
            guard let figure = line.figure else {
                for _ in 2..<Self.columns.count - 1 { row.element("td", "") }
                return row.element("td", compared.finding.rawValue)
            }
            let measure = Measure(figure.name)
            for value in [figure.medianA, figure.medianB] {
                row.element("td", ["class": "n"], line.side == "B" ? measure.text(value) : "")
            }
            cells(line.measured, measure, row: &row)
            row.element("td", line.measured?.finding.rawValue ?? "")
        }
        body.raw("\n")
    }

    private func cells(_ measured: SideComparison?, _ measure: Measure, row: inout Markup) {
        let beside = measured.map(ratio)
        row.element(
            "td", ["class": "n", "data-v": beside.map { Figure.exact($0.value) }],
            beside.map { $0.short(measure) } ?? "")
        row.element("td", ["class": "n", "data-v": beside?.low.map(Figure.exact)], beside?.interval ?? "")
        row.element("td", ["class": "n"], measured.map { String($0.pairCount) } ?? "too few")
        row.element(
            "td", ["class": "n", "data-v": measured.map { Figure.exact($0.smallestVisible) }],
            measured.map { Figure.percent($0.smallestVisible) } ?? "")
    }
}
