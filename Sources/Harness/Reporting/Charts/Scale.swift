import Platform

/// Maps values to places of a drawing.
struct Scale {
    enum Kind {
        case linear, logarithmic
    }

    let kind: Kind
    let domain: ClosedRange<Double>
    let start: Double
    let end: Double

    init(_ kind: Kind, _ domain: ClosedRange<Double>, from start: Double, to end: Double) {
        self.kind = kind
        self.domain = domain
        self.start = start
        self.end = end
    }

    /// The place of a value. A value outside of the domain is placed on its edge.
    func position(_ value: Double) -> Double {
        let clamped = min(max(value, domain.lowerBound), domain.upperBound)
        let (low, high, at) =
            kind == .linear
            ? (domain.lowerBound, domain.upperBound, clamped)
            : (log10(domain.lowerBound), log10(domain.upperBound), log10(clamped))
        return high > low ? start + (end - start) * (at - low) / (high - low) : start
    }

    /// A domain of whole decades around positive values, one decade at least.
    static func decades(_ low: Double, _ high: Double) -> ClosedRange<Double> {
        let bottom = floor(log10(max(low, 1e-12)))
        let top = max(ceil(log10(max(high, low))), bottom + 1)
        return pow(10, bottom)...pow(10, top)
    }

    /// The powers of ten inside the domain; of many only every second or third one.
    var decadeTicks: [Double] {
        let bottom = Int(log10(domain.lowerBound).rounded())
        let top = Int(log10(domain.upperBound).rounded())
        let step = max(1, (top - bottom + 5) / 7)
        return stride(from: bottom, through: top, by: step).map { pow(10, Double($0)) }
    }

    /// Round steps from 0 to `high` or just above: 1, 2 or 5 times a power of ten of `unit`, at most `count`.
    static func steps(upTo high: Double, unit: Double = 1, count: Int = 5) -> [Double] {
        guard high > 0, unit > 0 else { return [0, unit] }
        let raw = high / unit / Double(count)
        let power = pow(10, floor(log10(raw)))
        let step = ([1, 2, 5, 10].first { $0 * power >= raw } ?? 10) * power
        let last = (high / unit / step).rounded(.up)
        return (0...Int(last)).map { Double($0) * step * unit }
    }
}

/// Values and functions that all drawings use.
enum Drawing {
    /// The width of a drawing in its own units; on the page it fills its column.
    static let width = 352.0

    /// One decimal is finer than a pixel.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let (whole, rest) = (abs(tenths) / 10, abs(tenths) % 10)
        return rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest)"
    }

    static func path(_ points: [(x: Double, y: Double)]) -> String {
        points.enumerated().map { ($0 == 0 ? "M" : "L") + number($1.x) + " " + number($1.y) }.joined()
    }

    /// Places for labels near `wanted` that are at least `gap` apart and between the bounds; in the order of `wanted`.
    static func spread(_ wanted: [Double], gap: Double, in bounds: ClosedRange<Double>) -> [Double] {
        let order = wanted.indices.sorted { wanted[$0] == wanted[$1] ? $0 < $1 : wanted[$0] < wanted[$1] }
        var places = wanted
        var floor = bounds.lowerBound
        for index in order {
            places[index] = max(wanted[index], floor)
            floor = places[index] + gap
        }
        var ceiling = bounds.upperBound
        for index in order.reversed() {
            places[index] = min(places[index], ceiling)
            ceiling = places[index] - gap
        }
        return places
    }

    static func svg(
        _ markup: inout Markup, width: Double = Drawing.width, height: Double, title: String, description: String,
        content: (inout Markup) -> Void
    ) {
        markup.element(
            "svg",
            [
                "viewBox": "0 0 \(number(width)) \(number(height))", "role": "img", "aria-label": title,
            ]
        ) { svg in
            svg.element("title", title)
            svg.element("desc", description)
            content(&svg)
        }
    }

    static func line(
        _ markup: inout Markup, _ style: String, x1: Double, y1: Double, x2: Double, y2: Double
    ) {
        markup.open("path", ["class": style, "d": path([(x1, y1), (x2, y2)])])
        markup.close("path")
    }

    enum Anchor: String {
        case start, middle, end
    }

    static func label(
        _ markup: inout Markup, _ style: String, x: Double, y: Double, anchor: Anchor, words: String
    ) {
        markup.element(
            "text",
            [
                "class": style, "x": number(x), "y": number(y),
                "text-anchor": anchor == .start ? nil : anchor.rawValue,
            ], words)
    }

    // MARK: Drawings without a size of their own

    /// A horizontal place in percent of the width.
    static func share(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100)" + (rest == 0 ? "" : rest < 10 ? ".0\(rest)" : ".\(rest)") + "%"
    }

    /// A drawing as wide as its column: horizontal places are in percent of the width, vertical ones in pixels.
    static func fluid(
        _ markup: inout Markup, style: String, height: Double, title: String, description: String,
        content: (inout Markup) -> Void
    ) {
        markup.element(
            "svg",
            [
                "class": style, "height": number(height), "style": "height:\(number(height))px", "role": "img",
                "aria-label": title,
            ]
        ) { svg in
            svg.element("title", title)
            if !description.isEmpty { svg.element("desc", description) }
            content(&svg)
        }
    }

    static func fluidLine(
        _ markup: inout Markup, _ style: String, from: (x: Double, y: Double), to: (x: Double, y: Double)
    ) {
        markup.open(
            "line",
            [
                "class": style, "x1": share(from.x), "y1": number(from.y), "x2": share(to.x), "y2": number(to.y),
            ])
        markup.close("line")
    }

    static func fluidLabel(
        _ markup: inout Markup, _ style: String, x: Double, y: Double, anchor: Anchor, words: String
    ) {
        markup.element(
            "text",
            [
                "class": style, "x": share(x), "y": number(y), "text-anchor": anchor == .start ? nil : anchor.rawValue,
            ], words)
    }
}
