import Results

/// One figure of every engine as bars from zero, with the value, the ratio to the best of the others, and the raw
/// limit as a line. The in-memory reference does not set the scale: where it leaves the drawing it ends in an arrow.
struct BarChart {
    var title: String
    var row: MeasureRow
    var engines: [String]
    var limit: Double?

    private static let left = 92.0
    private static let right = Drawing.width - 148
    private static let step = 24.0

    func draw(_ markup: inout Markup) {
        let shown = engines.filter { row.values[$0] != nil }
        let values = shown.filter { $0 != RunDigest.reference }.compactMap { row.values[$0]?.sample.value }
        let own = (values.isEmpty ? shown.compactMap { row.values[$0]?.sample.value } : values).max() ?? 0
        let shownLimit = limit.flatMap { $0 <= own * 4 ? $0 : nil }
        let high = max(own, shownLimit ?? 0)
        guard high > 0 else { return }
        let scale = Scale(.linear, 0...high, from: Self.left, to: Self.right)
        let head = shownLimit == nil ? 4.0 : 18.0
        let height = head + Self.step * Double(shown.count) + 4
        Drawing.svg(&markup, height: height, title: title, description: description(shown)) { svg in
            for (index, engine) in shown.enumerated() {
                draw(engine, at: head + Self.step * Double(index), scale, &svg)
            }
            Drawing.line(&svg, "tk", Self.left, head, Self.left, height - 4)
            if let shownLimit {
                let x = scale.position(shownLimit)
                Drawing.line(&svg, "lim", x, head - 2, x, height - 4)
                Drawing.label(&svg, "ax", x, head - 6, .middle, "raw limit")
            }
        }
    }

    private func draw(_ engine: String, at y: Double, _ scale: Scale, _ svg: inout Markup) {
        guard let sample = row.values[engine]?.sample else { return }
        let colour = Drawing.colour(engine)
        let end = max(scale.position(sample.value), Self.left + 1.5)
        Drawing.label(&svg, "lb", Self.left - 8, y + 16, .end, engine)
        let isBeyond = sample.value > scale.domain.upperBound
        let shape =
            isBeyond
            ? Drawing.path([
                (Self.left, y + 4), (end - 8, y + 4), (end, y + 12), (end - 8, y + 20), (Self.left, y + 20),
            ]) + "Z"
            : Drawing.path([(Self.left, y + 4), (end, y + 4), (end, y + 20), (Self.left, y + 20)]) + "Z"
        svg.open("path", ["class": "bar f\(colour)", "d": shape])
        svg.close("path")
        Drawing.label(
            &svg, "val", end + 6, y + 16, .start, Figure.text(sample.value, unit: row.measure.metric.unit))
        if let ratio = row.ratio(of: engine) {
            Drawing.label(&svg, "ax", Drawing.width, y + 16, .end, Figure.ratio(ratio.value))
        }
    }

    private func description(_ shown: [String]) -> String {
        let unit = row.measure.metric.unit
        let values = shown.compactMap { engine in
            row.values[engine].map { "\(engine) \(Figure.text($0.sample.value, unit: unit))" }
        }
        let raw = limit.map { ["raw limit \(Figure.text($0, unit: unit))"] } ?? []
        return (values + raw).joined(separator: ", ")
    }
}
