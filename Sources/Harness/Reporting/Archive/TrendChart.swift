import Platform
import RunRecords
import Statistics

/// A trend as a drawing, for a page of the archive. Runs stand at equal distances in the order of their start, each as
/// a point with its interval as a whisker; a click on a point leads to the page of its run. A stretch is the runs from
/// one change, or the first run, to the next change, or the last run: a horizontal line is its level, and where a
/// stretch begins, a vertical line has the change.
///
/// The vertical axis is logarithmic and just holds all numbers, those of adjacent charts included: equal factors are
/// equal distances anywhere on it. The middle has no meaning. In a trend of ratios, a line is at 1, where an engine
/// equals its reference, if the axis contains 1.
struct TrendChart {
    let trend: Trend
    let palette: EnginePalette
    /// The numbers of all adjacent charts that share an axis; nil for a chart with its own axis.
    var shared: ClosedRange<Double>?

    private static let height = 168.0
    private static let left = 62.0
    private static let right = Drawing.width - 8
    private static let top = 16.0
    private static let bottom = Self.height - 22
    /// The least factor between the ends of the axis, so that noise looks small.
    private static let leastSpan = 1.2

    private struct Mark {
        /// The index in `trend.points`.
        var index: Int
        var value: Double
        /// The interval. Without both ends there is no whisker.
        var low: Double?
        var high: Double?
    }

    private var words: TrendWords { TrendWords(trend: trend) }

    /// The value of a point in the chart: its ratio if that is the basis of the trend, otherwise the figure itself.
    ///
    /// A point without a ratio in a trend of ratios, or with a number that is not above 0, has no mark, and its place
    /// stays empty. An interval that reaches 0 has no whisker, since a logarithmic axis has no 0.
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

    /// The least and the largest number, ends of whiskers included; nil without a mark.
    var range: ClosedRange<Double>? {
        let values = marks.flatMap { [$0.value, $0.low, $0.high].compactMap { $0 } }
        guard let least = values.min(), let most = values.max() else { return nil }
        return least...most
    }

    /// Adds the drawing: axes, levels, points and changes, later parts over earlier ones. Adds a note instead if there
    /// is no mark.
    func draw(_ markup: inout Markup) {
        let marks = marks
        guard let range = range.map({ shared ?? $0 }) else {
            markup.element("p", ["class": "note"], "No run has a number above zero here.")
            return
        }
        let (least, most) = (range.lowerBound, range.upperBound)
        let spare = max(1.02, (Self.leastSpan / (most / least)).squareRoot())
        let y = Scale(.logarithmic, least / spare...most * spare, from: Self.bottom, to: Self.top)
        let last = Double(max(1, trend.points.count - 1))
        let x = Scale(.linear, 0...last, from: Self.left + 6, to: Self.right - 4)
        Drawing.svg(&markup, height: Self.height, title: words.pageTitle, description: description) { svg in
            axes(y, &svg)
            levels(marks, x, y: y, svg: &svg)
            for mark in marks { draw(mark, x, y: y, svg: &svg) }
            for change in trend.changes { draw(change, x, &svg) }
        }
    }

    /// Draws three lines with their numbers, the line at 1, and the days of the first and the last run.
    private func axes(_ y: Scale, _ svg: inout Markup) {
        let (low, high) = (log(y.domain.lowerBound), log(y.domain.upperBound))
        for share in [0.08, 0.5, 0.92] {
            let value = exp(low + (high - low) * share)
            let place = y.position(value)
            Drawing.line(&svg, "gr", x1: Self.left, y1: place, x2: Self.right, y2: place)
            Drawing.label(&svg, "ax", x: Self.left - 6, y: place + 4, anchor: .end, words: text(value))
        }
        if case .ratio = trend.basis, y.domain.contains(1) {
            Drawing.line(&svg, "lim", x1: Self.left, y1: y.position(1), x2: Self.right, y2: y.position(1))
        }
        guard let first = trend.points.first, let last = trend.points.last else { return }
        Drawing.label(&svg, "ax", x: Self.left, y: Self.height - 6, anchor: .start, words: Self.day(first))
        if trend.points.count > 1 {
            Drawing.label(&svg, "ax", x: Self.right, y: Self.height - 6, anchor: .end, words: Self.day(last))
        }
    }

    private static func day(_ point: TrendPoint) -> String { String(Figure.time(point.run.startTime).prefix(10)) }

    private func text(_ value: Double) -> String {
        if case .ratio = trend.basis { return Figure.ratio(value) }
        return Figure.tick(value, unit: trend.figure.metric.unit)
    }

    /// Draws the median of each stretch, from its first mark to its last. A stretch with one mark has no line, nor has
    /// a trend in which no value is comparable over time.
    private func levels(_ marks: [Mark], _ x: Scale, y: Scale, svg: inout Markup) {
        if trend.basis == .nothing { return }
        var rest = marks[...]
        for end in trend.changes.map(\.index) + [trend.points.count] {
            let stretch = rest.prefix { $0.index < end }
            rest = rest.dropFirst(stretch.count)
            guard let first = stretch.first, let last = stretch.last, first.index < last.index else { continue }
            let place = y.position(MedianInterval.median(stretch.map(\.value)))
            Drawing.line(
                &svg, "lv s\(colour)", x1: x.position(Double(first.index)), y1: place,
                x2: x.position(Double(last.index)), y2: place)
        }
    }

    private var colour: Int { palette.slot(trend.test.engine) }

    private func draw(_ mark: Mark, _ x: Scale, y: Scale, svg: inout Markup) {
        let place = (x: x.position(Double(mark.index)), y: y.position(mark.value))
        let point = trend.points[mark.index]
        svg.element("a", ["href": ArchiveSite.name(of: point.run)]) { link in
            let ratio = words.ratio(point)
            link.element(
                "title",
                "\(point.run.id), \(point.run.shortCommit): \(words.value(point))\(ratio.isEmpty ? "" : ", \(ratio)")")
            if let low = mark.low, let high = mark.high {
                Drawing.line(
                    &link, "wh s\(colour)", x1: place.x, y1: y.position(high), x2: place.x, y2: y.position(low))
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

    /// The line of a change is half a step before the first run of the new level.
    private func draw(_ change: Trend.Change, _ x: Scale, _ svg: inout Markup) {
        let place = x.position(Double(change.index) - 0.5)
        Drawing.line(&svg, "wh d2 w-\(words.tone(change))", x1: place, y1: Self.top, x2: place, y2: Self.bottom)
        let isRight = place > Drawing.width / 2
        Drawing.label(
            &svg, "t-\(words.tone(change))", x: place, y: Self.top - 4, anchor: isRight ? .end : .start,
            words: words.step(change))
    }

    private var description: String {
        let count = Figure.count(trend.points.count, "run")
        if trend.changes.isEmpty { return "\(count), \(words.basis); no change point" }
        return "\(count), \(words.basis); \(trend.changes.map { words.sentence($0) }.joined(separator: "; "))"
    }
}
