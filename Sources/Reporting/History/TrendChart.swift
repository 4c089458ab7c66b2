import RunRecords
import Statistics

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A trend as a drawing: a point per run at equal distances, its interval as a whisker, the level of each stretch as a
/// line, and where a stretch begins a line across with what changed. The axis is logarithmic: as much better reaches as
/// far up as as much worse reaches down.
struct TrendChart {
    let trend: Trend
    let palette: EnginePalette

    private static let height = 168.0
    private static let left = 62.0
    private static let right = Drawing.width - 8
    private static let top = 16.0
    private static let bottom = Self.height - 22
    /// At least so much lies between the two ends of the axis: noise stays small.
    private static let leastSpan = 1.2

    private struct Mark {
        var index: Int
        var value: Double
        var low: Double?
        var high: Double?
    }

    private var words: TrendWords { TrendWords(trend: trend) }

    /// What is drawn of a point: the number that is looked at over time, or the figure where there is none.
    private var marks: [Mark] {
        trend.points.enumerated().compactMap { index, point in
            var mark: Mark
            if case .ratio = trend.basis {
                guard let ratio = point.ratio else { return nil }
                mark = Mark(index: index, value: ratio.value, low: ratio.low, high: ratio.high)
            } else {
                mark = Mark(index: index, value: point.value, low: point.low, high: point.high)
            }
            guard mark.value > 0, mark.value.isFinite else { return nil }
            if let low = mark.low, low <= 0 { mark.low = nil }
            return mark
        }
    }

    func draw(_ markup: inout Markup) {
        let marks = marks
        let values = marks.flatMap { [$0.value, $0.low, $0.high].compactMap { $0 } }
        guard let least = values.min(), let most = values.max() else {
            markup.element("p", ["class": "note"], "No run has a number above zero here.")
            return
        }
        let spare = max(1.02, (Self.leastSpan / (most / least)).squareRoot())
        let y = Scale(.logarithmic, least / spare...most * spare, from: Self.bottom, to: Self.top)
        let last = Double(max(1, trend.points.count - 1))
        let x = Scale(.linear, 0...last, from: Self.left + 6, to: Self.right - 4)
        Drawing.svg(&markup, height: Self.height, title: words.pageTitle, description: description) { svg in
            axes(y, &svg)
            levels(marks, x, y, &svg)
            for mark in marks { draw(mark, x, y, &svg) }
            for change in trend.changes { draw(change, x, &svg) }
        }
    }

    private func axes(_ y: Scale, _ svg: inout Markup) {
        let (low, high) = (log(y.domain.lowerBound), log(y.domain.upperBound))
        for share in [0.08, 0.5, 0.92] {
            let value = exp(low + (high - low) * share)
            let place = y.position(value)
            Drawing.line(&svg, "gr", Self.left, place, Self.right, place)
            Drawing.label(&svg, "ax", Self.left - 6, place + 4, .end, text(value))
        }
        if case .ratio = trend.basis, y.domain.contains(1) {
            Drawing.line(&svg, "lim", Self.left, y.position(1), Self.right, y.position(1))
        }
        guard let first = trend.points.first, let last = trend.points.last else { return }
        Drawing.label(&svg, "ax", Self.left, Self.height - 6, .start, Self.day(first))
        if trend.points.count > 1 { Drawing.label(&svg, "ax", Self.right, Self.height - 6, .end, Self.day(last)) }
    }

    private static func day(_ point: TrendPoint) -> String { String(Figure.time(point.run.startTime).prefix(10)) }

    private func text(_ value: Double) -> String {
        if case .ratio = trend.basis { return Figure.ratio(value) }
        return Figure.tick(value, unit: trend.figure.metric.unit)
    }

    /// From one change to the next the median.
    private func levels(_ marks: [Mark], _ x: Scale, _ y: Scale, _ svg: inout Markup) {
        if trend.basis == .nothing { return }
        var rest = marks[...]
        for end in trend.changes.map(\.index) + [trend.points.count] {
            let stretch = rest.prefix { $0.index < end }
            rest = rest.dropFirst(stretch.count)
            guard let first = stretch.first, let last = stretch.last, first.index < last.index else { continue }
            let place = y.position(MedianInterval.median(stretch.map(\.value)))
            Drawing.line(
                &svg, "lv s\(colour)", x.position(Double(first.index)), place, x.position(Double(last.index)), place)
        }
    }

    private var colour: Int { palette.slot(trend.test.engine) }

    private func draw(_ mark: Mark, _ x: Scale, _ y: Scale, _ svg: inout Markup) {
        let place = (x: x.position(Double(mark.index)), y: y.position(mark.value))
        let point = trend.points[mark.index]
        svg.element("a", ["href": HistorySite.name(of: point.run)]) { link in
            let ratio = words.ratio(point)
            link.element(
                "title",
                "\(point.run.id), \(point.run.shortCommit): \(words.value(point))\(ratio.isEmpty ? "" : ", \(ratio)")")
            if let low = mark.low, let high = mark.high {
                Drawing.line(&link, "wh s\(colour)", place.x, y.position(high), place.x, y.position(low))
            }
            link.open(
                "circle",
                [
                    "class": "bar f\(colour)", "cx": Drawing.number(place.x), "cy": Drawing.number(place.y),
                    "r": "2.6",
                ])
            link.close("circle")
        }
    }

    /// Half a step before the first run of the new level.
    private func draw(_ change: Trend.Change, _ x: Scale, _ svg: inout Markup) {
        let place = x.position(Double(change.index) - 0.5)
        Drawing.line(&svg, "wh d2 w-\(words.tone(change))", place, Self.top, place, Self.bottom)
        let isRight = place > Drawing.width / 2
        Drawing.label(
            &svg, "t-\(words.tone(change))", place, Self.top - 4, isRight ? .end : .start, words.step(change))
    }

    private var description: String {
        let count = Figure.count(trend.points.count, "run")
        if trend.changes.isEmpty { return "\(count), \(words.basis); no change point" }
        return "\(count), \(words.basis); \(trend.changes.map { words.sentence($0) }.joined(separator: "; "))"
    }
}
