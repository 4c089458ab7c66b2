import RunRecords

/// Values as bars from zero, each with its number, its interval as a whisker, and its ratio to the best of the other
/// engines in words. The raw limit is a line. The in-memory reference does not set the scale: if its bar leaves the
/// drawing, the bar ends in a point.
struct BarChart {
    struct Bar {
        var name: String
        var engine: String
        var value: Double
        var text: String
        /// Bounds of the value's interval, if it has one.
        var low: Double?
        var high: Double?
        /// The ratio to the best of the other engines; `measure` is the compared figure.
        var ratio: FigureRatio?
        var measure: Measure

        /// `4.3 times as slow as LMDB`; empty if there is no ratio.
        var comparison: String { ratio?.sentence(measure) ?? "" }
    }

    var title: String
    var bars: [Bar]
    var limit: Double?
    let palette: EnginePalette

    var hasRatios: Bool { bars.contains { $0.ratio != nil } }

    private static let left = 90.0
    /// Leaves room for the longest value and, to its right, for the ratio, so that they do not overlap.
    private static let right = Drawing.width - 150
    private static let step = 23.0

    /// A bar per engine of one figure.
    init(title: String, row: MeasureRow, engines: [String], limit: Double?, digest: RunDigest) {
        self.title = title
        self.limit = limit
        palette = digest.palette
        bars = engines.compactMap { engine in
            guard let sample = row.values[engine]?.sample else { return nil }
            return Bar(
                name: engine, engine: engine, value: sample.value, text: row.measure.shortText(sample.value),
                low: sample.low, high: sample.high, ratio: digest.ratio(row, of: engine), measure: row.measure)
        }
    }

    /// A bar per label of the figures of one engine.
    init(title: String, rows: [MeasureRow], engine: String, palette: EnginePalette) {
        self.title = title
        self.palette = palette
        limit = nil
        bars = rows.compactMap { row in
            guard let sample = row.values[engine]?.sample else { return nil }
            return Bar(
                name: row.measure.label, engine: engine, value: sample.value, text: row.measure.shortText(sample.value),
                low: sample.low, high: sample.high, ratio: nil, measure: row.measure)
        }
    }

    func draw(_ markup: inout Markup) {
        let peers = bars.filter { $0.engine != RunDigest.reference }
        let own = (peers.isEmpty ? bars : peers).map { max($0.value, $0.high ?? 0) }.max() ?? 0
        // A distant limit would make the bars tiny. The text above the chart has its value.
        let shownLimit = limit.flatMap { $0 <= own * 4 ? $0 : nil }
        let high = max(own, shownLimit ?? 0)
        guard high > 0 else { return }
        let scale = Scale(.linear, 0...high, from: Self.left, to: Self.right)
        let head = shownLimit == nil ? 2.0 : 16.0
        let height = head + Self.step * Double(bars.count) + 2
        Drawing.svg(&markup, height: height, title: title, description: description) { svg in
            if let shownLimit {
                let x = scale.position(shownLimit)
                Drawing.line(&svg, "lim", x1: x, y1: head - 2, x2: x, y2: height)
                Drawing.label(&svg, "ax", x: x, y: head - 6, anchor: .middle, words: "raw limit")
            }
            for (index, bar) in bars.enumerated() {
                draw(bar, at: head + Self.step * Double(index), scale, &svg)
            }
            Drawing.line(&svg, "tk", x1: Self.left, y1: head, x2: Self.left, y2: height)
        }
    }

    private func draw(_ bar: Bar, at y: Double, _ scale: Scale, _ svg: inout Markup) {
        let end = max(scale.position(bar.value), Self.left + 1.5)
        let (top, middle, bottom) = (y + 3, y + Self.step / 2, y + Self.step - 3)
        Drawing.label(
            &svg, "lb", x: Self.left - 7, y: y + 15.5, anchor: .end, words: TextTable.shortened(bar.name, to: 14))
        let isBeyond = bar.value > scale.domain.upperBound
        let corners: [(x: Double, y: Double)] =
            isBeyond
            ? [(Self.left, top), (end - 7, top), (end, middle), (end - 7, bottom), (Self.left, bottom)]
            : [(Self.left, top), (end, top), (end, bottom), (Self.left, bottom)]
        svg.element("path", ["class": "bar f\(palette.slot(bar.engine))", "d": Drawing.path(corners) + "Z"]) { path in
            if !bar.comparison.isEmpty { path.element("title", "\(bar.name): \(bar.comparison)") }
        }
        var reach = end
        if let low = bar.low, let high = bar.high, !isBeyond {
            let (from, to) = (scale.position(low), scale.position(high))
            Drawing.line(&svg, "wb", x1: from, y1: middle, x2: to, y2: middle)
            for x in [from, to] { Drawing.line(&svg, "wb", x1: x, y1: middle - 3, x2: x, y2: middle + 3) }
            reach = max(reach, to)
        }
        Drawing.label(&svg, "val", x: reach + 6, y: y + 15.5, anchor: .start, words: bar.text)
        if let ratio = bar.ratio {
            let style = ratio.decision.map { "ax t-\($0.rawValue)" } ?? "ax"
            Drawing.label(
                &svg, style, x: Drawing.width, y: y + 15.5, anchor: .end, words: ratio.short(bar.measure))
        }
    }

    private var description: String {
        bars.map { bar in
            let interval = [bar.low, bar.high].compactMap { $0.map { Figure.rounded($0) } }
            return "\(bar.name) \(bar.text)" + (interval.count == 2 ? " (\(interval.joined(separator: " to ")))" : "")
                + (bar.comparison.isEmpty ? "" : " \(bar.comparison)")
        }.joined(separator: ", ")
            + (limit.map { "; raw limit \(Figure.rounded($0))" } ?? "")
    }
}
