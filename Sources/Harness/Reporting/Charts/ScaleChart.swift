import Platform
import RunRecords

/// A figure over size, a line per engine, both axes logarithmic: linear growth is parallel to the dotted line, a
/// constant cost is flat. A whisker is the interval over the rounds; a point without a whisker was measured once. A
/// ring is the figure of another data set.
struct ScaleChart {
    var title: String
    var figure: ScaleFigure
    /// The label of the rings: `4.1 GiB`.
    var asideWords = ""
    let palette: EnginePalette

    private static let height = 236.0
    private static let left = 52.0
    private static let labels = Drawing.width - 96
    private static let asideRoom = 40.0
    private static let top = 12.0
    private static let bottom = Self.height - 34

    private var hasAside: Bool { figure.asideSubject != nil }
    private var right: Double { hasAside ? Self.labels - Self.asideRoom : Self.labels - 6 }

    func draw(_ markup: inout Markup) {
        let points = figure.lines.flatMap { $0.points + [$0.aside].compactMap { $0 } }
        let values = points.flatMap { [$0.sample.value, $0.sample.low, $0.sample.high].compactMap { $0 } }
            .filter { $0 > 0 }
        guard let low = values.min(), let high = values.max(), let smallest = figure.sizes.first,
            let largest = figure.sizes.last, largest > smallest
        else { return }
        let y = Scale(.logarithmic, Scale.decades(low, high), from: Self.bottom, to: Self.top)
        let x = Scale(.logarithmic, Double(smallest)...Double(largest), from: Self.left + 8, to: right - 8)
        Drawing.svg(&markup, height: Self.height, title: title, description: description) { svg in
            axes(x, y, &svg)
            let ends = figure.lines.map { line in
                y.position((line.aside ?? line.points.last)?.sample.value ?? low)
            }
            let places = Drawing.spread(ends, gap: 13, in: (Self.top + 4)...(Self.bottom - 2))
            for (line, place) in zip(figure.lines, places) { draw(line, x, y: y, label: place, svg: &svg) }
            // Above the lines, so that none crosses it out.
            let linear = linear(x, y)
            Drawing.label(
                &svg, "ax", x: x.position(x.domain.lowerBound * pow(10, linear.decades * 0.82)),
                y: y.position(linear.from * pow(linear.to / linear.from, 0.82)) - 6, anchor: .end,
                words: linear.rises ? "\u{221D} n" : "\u{221D} 1/n")
        }
    }

    /// Linear growth, ten times the size and ten times the cost: its ends in y over so many decades of x.
    private func linear(_ x: Scale, _ y: Scale) -> (rises: Bool, from: Double, to: Double, decades: Double) {
        let rises = figure.measure.metric.direction != .higherIsBetter
        let decades = min(
            log10(x.domain.upperBound / x.domain.lowerBound), log10(y.domain.upperBound / y.domain.lowerBound))
        return rises
            ? (rises, y.domain.lowerBound, y.domain.lowerBound * pow(10, decades), decades)
            : (rises, y.domain.upperBound, y.domain.upperBound * pow(10, -decades), decades)
    }

    private func axes(_ x: Scale, _ y: Scale, _ svg: inout Markup) {
        for tick in y.decadeTicks {
            Drawing.line(&svg, "gr", x1: Self.left, y1: y.position(tick), x2: right, y2: y.position(tick))
            Drawing.label(&svg, "ax", x: Self.left - 6, y: y.position(tick) + 4, anchor: .end, words: valueTick(tick))
        }
        for size in figure.sizes {
            let place = x.position(Double(size))
            Drawing.line(&svg, "tk", x1: place, y1: Self.bottom, x2: place, y2: Self.bottom + 4)
            Drawing.label(&svg, "ax", x: place, y: Self.bottom + 17, anchor: .middle, words: Figure.sizeTick(size))
        }
        let (_, from, to, decades) = linear(x, y)
        Drawing.line(
            &svg, "lim", x1: x.position(x.domain.lowerBound), y1: y.position(from),
            x2: x.position(x.domain.lowerBound * pow(10, decades)), y2: y.position(to))
        if hasAside {
            Drawing.label(&svg, "ax", x: asidePlace, y: Self.bottom + 17, anchor: .middle, words: asideWords)
            Drawing.line(&svg, "tk", x1: asidePlace, y1: Self.bottom, x2: asidePlace, y2: Self.bottom + 4)
        }
    }

    private var asidePlace: Double { right + Self.asideRoom / 2 + 4 }

    private func draw(_ line: ScaleFigure.Line, _ x: Scale, y: Scale, label: Double, svg: inout Markup) {
        let colour = palette.slot(line.engine)
        let places = line.points.map { (x: x.position(Double($0.size)), y: y.position($0.sample.value)) }
        svg.open("path", ["class": "ln s\(colour)", "d": Drawing.path(places)])
        svg.close("path")
        for (point, place) in zip(line.points, places) {
            whisker(point.sample, at: place.x, colour, y: y, svg: &svg)
            Drawing.mark(&svg, palette, engine: line.engine, x: place.x, y: place.y)
        }
        var end = places.last ?? (right, label)
        if let aside = line.aside {
            end = (asidePlace, y.position(aside.sample.value))
            whisker(aside.sample, at: end.x, colour, y: y, svg: &svg)
            dot(end, "ring s\(colour)", &svg)
        }
        Drawing.line(&svg, "ld s\(colour)", x1: end.x, y1: end.y, x2: Self.labels + 5, y2: label)
        Drawing.label(
            &svg, "lb", x: Self.labels + 8, y: label + 4, anchor: .start,
            words: TextTable.shortened(line.engine, to: 15))
    }

    private func dot(_ place: (x: Double, y: Double), _ style: String, _ svg: inout Markup) {
        svg.open(
            "circle",
            ["class": style, "cx": Drawing.number(place.x), "cy": Drawing.number(place.y), "r": "2.8"])
        svg.close("circle")
    }

    private func whisker(_ sample: Sample, at place: Double, _ colour: Int, y: Scale, svg: inout Markup) {
        guard let low = sample.low, let high = sample.high, low > 0 else { return }
        let (top, bottom) = (y.position(high), y.position(low))
        Drawing.line(&svg, "wh s\(colour)", x1: place, y1: top, x2: place, y2: bottom)
        for end in [top, bottom] { Drawing.line(&svg, "wh s\(colour)", x1: place - 3, y1: end, x2: place + 3, y2: end) }
    }

    private func valueTick(_ value: Double) -> String {
        let unit = figure.measure.metric.unit
        let nanoseconds = ["ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9][unit]
        if let nanoseconds { return Figure.duration(nanoseconds: value * nanoseconds, isTick: true) }
        return Figure.si(value) + (unit == "1/s" ? "/s" : "")
    }

    private var description: String {
        figure.lines.map { line in
            let points = line.points.map {
                "\(figure.measure.text($0.sample.value)) at \(figure.sizeWords($0.size))"
            }
            let growth = line.growth.map { ", \($0.words) from the smallest to the largest" } ?? ""
            let law = line.law.map { ", \($0.words)" } ?? ""
            return "\(line.engine): \(points.joined(separator: ", "))\(growth)\(law)"
        }.joined(separator: "; ")
    }
}
