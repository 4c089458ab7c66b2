import Platform
import Statistics

/// Ratios on a logarithmic axis, one per line: a dot with its interval as a whisker, the line of equality, and the dead
/// band as background. The dot of a figure that is ahead is a disc, of one behind a diamond, of an open one an empty
/// grey circle, so that colour is never the only mark.
///
/// Horizontal places are in percent of the width: the drawing fills the available width, and its text keeps the size of
/// the surrounding text.
struct DotPlot {
    struct Line {
        var name: String
        /// The name beside the line.
        var shortName: String
        /// The figure that the ratio compares, which gives the ratio its words.
        var measure: Measure
        var ratio: FigureRatio
        /// The ratio of the control: two sides of one program, measured in the same minutes.
        var control: FigureRatio?
        /// The link to the figure's numbers.
        var link: String?
        /// Whether only the short name stands beside the line.
        var isShort = false
    }

    var title: String
    /// The lines from the top down.
    var lines: [Line]

    /// Horizontal places in percent of the width, and the height of a line.
    private struct Layout {
        var style: String
        var names: Double
        /// Names are placed above their lines.
        var isSlim = false
        var left: Double
        var right: Double
        var ratios: Double
        var peers: Double
        var step: Double
        /// Longer names are shortened.
        var longestName: Int

        static let wide = Layout(
            style: "fluid wide", names: 32, left: 33.5, right: 74, ratios: 89.5, peers: 90.5, step: 21,
            longestName: 33)
        static let roomy = Layout(
            style: "fluid roomy", names: 36, left: 37.5, right: 76, ratios: 89.5, peers: 90.5, step: 21,
            longestName: 56)
        static let slim = Layout(
            style: "fluid slim", names: 0, isSlim: true, left: 2, right: 60, ratios: 100, peers: 100, step: 38,
            longestName: 52)
    }

    private static let head = 22.0

    init(title: String, lines: [Line]) {
        self.title = title
        self.lines = lines
    }

    /// Draws a version for each width; the style sheet shows one of them.
    func draw(_ markup: inout Markup) {
        draw(.wide, &markup)
        draw(.slim, &markup)
        draw(.roomy, &markup)
    }

    private func draw(_ layout: Layout, _ markup: inout Markup) {
        guard !lines.isEmpty else { return }
        let scale = Scale(.logarithmic, domain, from: layout.left, to: layout.right)
        let bottom = Self.head + layout.step * Double(lines.count)
        let description = layout.style == Layout.wide.style ? description : ""
        Drawing.fluid(
            &markup, style: layout.style, height: bottom + 22, title: title, description: description
        ) { svg in
            for (index, line) in lines.enumerated() {
                band(
                    line.ratio.band.factor, at: Self.head + layout.step * Double(index), layout.step, scale: scale,
                    svg: &svg)
            }
            for tick in layout.isSlim ? slimTicks : ticks {
                let x = scale.position(tick)
                Drawing.fluidLine(&svg, tick == 1 ? "one" : "gr", from: (x, Self.head - 4), to: (x, bottom + 4))
                for y in [Self.head - 9, bottom + 17] {
                    Drawing.fluidLabel(&svg, "ax", x: x, y: y, anchor: .middle, words: Figure.trimmed(tick) + "\u{D7}")
                }
            }
            for (index, line) in lines.enumerated() {
                let share = layout.isSlim ? 0.68 : 0.5
                draw(line, layout, at: Self.head + layout.step * (Double(index) + share), scale: scale, svg: &svg)
            }
        }
    }

    /// Shortens a long name in its middle, since its end names the figure.
    private static func shortened(_ name: String, to longestName: Int) -> String {
        guard name.count > longestName else { return name }
        let tail = longestName / 2
        return name.prefix(longestName - tail - 1) + "\u{2026}" + name.suffix(tail)
    }

    private func band(_ factor: Double, at top: Double, _ step: Double, scale: Scale, svg: inout Markup) {
        let (start, end) = (scale.position(1 / factor), scale.position(factor))
        svg.open(
            "rect",
            [
                "class": "band", "x": Drawing.share(start), "y": Drawing.number(top),
                "width": Drawing.share(end - start), "height": Drawing.number(step),
            ])
        svg.close("rect")
    }

    private func draw(
        _ line: Line, _ layout: Layout, at middle: Double, scale: Scale, svg: inout Markup
    ) {
        let ratio = line.ratio
        let style = ratio.decision?.rawValue ?? Decision.open.rawValue
        // With the names of its parameters, if these fit.
        let fits = line.name.count <= layout.longestName && !line.isShort
        let name = fits ? line.name : Self.shortened(line.shortName, to: layout.longestName)
        svg.element("a", ["href": line.link]) { link in
            link.element("title", "\(line.name): \(sentence(line))")
            if layout.isSlim {
                Drawing.fluidLabel(&link, "lb", x: layout.names, y: middle - 10, anchor: .start, words: name)
            } else {
                Drawing.fluidLabel(&link, "lb", x: layout.names, y: middle + 4, anchor: .end, words: name)
            }
        }
        if let again = line.control { control(again, at: middle, scale, &svg) }
        if let low = ratio.low, let high = ratio.high {
            let (from, to) = (scale.position(low), scale.position(high))
            Drawing.fluidLine(&svg, "wh w-\(style)", from: (from, middle), to: (to, middle))
            for x in [from, to] { Drawing.fluidLine(&svg, "wh w-\(style)", from: (x, middle - 3), to: (x, middle + 3)) }
        }
        dot(scale.position(ratio.value), middle, style: style, svg: &svg)
        let words = layout.isSlim ? "\(words(line)) \(ratio.peer)" : words(line)
        Drawing.fluidLabel(&svg, "val t-\(style)", x: layout.ratios, y: middle + 4, anchor: .end, words: words)
        if !layout.isSlim {
            Drawing.fluidLabel(&svg, "ax", x: layout.peers, y: middle + 4, anchor: .start, words: ratio.peer)
        }
    }

    /// Draws the ratio of the control as a faint tick, with its interval, below the dot.
    private func control(_ ratio: FigureRatio, at middle: Double, _ scale: Scale, _ svg: inout Markup) {
        let y = middle + 7
        if let low = ratio.low, let high = ratio.high {
            Drawing.fluidLine(&svg, "again", from: (scale.position(low), y), to: (scale.position(high), y))
        }
        let x = scale.position(ratio.value)
        Drawing.fluidLine(&svg, "again", from: (x, y - 3), to: (x, y + 3))
    }

    private func sentence(_ line: Line) -> String { line.ratio.words(line.measure) }

    private func words(_ line: Line) -> String { line.ratio.short(line.measure) }

    /// A nested drawing, centred at a place in percent, with its shape in pixels.
    private func dot(_ x: Double, _ y: Double, style: String, svg: inout Markup) {
        svg.element("svg", ["x": Drawing.share(x), "y": Drawing.number(y), "class": "at", "width": "1", "height": "1"])
        {
            let shape =
                style == Decision.behind.rawValue
                ? "M-5 0L0 -5L5 0L0 5Z" : "M-4 0A4 4 0 1 1 4 0A4 4 0 1 1 -4 0Z"
            $0.open("path", ["class": "dot w-\(style)", "d": shape])
            $0.close("path")
        }
    }

    // MARK: Axis

    /// The domain: all values and bounds with a margin, and always 1.
    private var domain: ClosedRange<Double> {
        let values = lines.flatMap { line in
            [line.ratio, line.control].compactMap { $0 }.flatMap { [$0.value, $0.low, $0.high].compactMap { $0 } }
        }
        .filter { $0 > 0 && $0.isFinite }
        return min((values.min() ?? 1) / 1.15, 0.9)...max((values.max() ?? 1) * 1.15, 1.12)
    }

    /// 1, 2 and 5 times the powers of ten if they fit, otherwise powers of ten alone. 1 is always among them.
    private var ticks: [Double] {
        let (low, high) = (domain.lowerBound, domain.upperBound)
        let decades = log10(high / low)
        let powers = Int(log10(low).rounded(.down))...Int(log10(high).rounded(.up))
        let step = max(1, Int((decades / 7).rounded(.up)))
        let steps: [Double] = decades < 0.4 ? [1, 1.1, 1.2, 1.5, 2, 5, 7, 8, 9] : (decades < 3 ? [1, 2, 5] : [1])
        return powers.filter { $0 % step == 0 }.flatMap { power in steps.map { $0 * pow(10, Double(power)) } }
            .filter { $0 >= low && $0 <= high }
    }

    /// Fewer ticks, for a drawing so narrow that their labels would overlap.
    private var slimTicks: [Double] {
        let all = ticks
        let step = (all.count + 4) / 5
        let one = all.firstIndex(of: 1) ?? 0
        return all.enumerated().filter { abs($0.offset - one) % max(1, step) == 0 }.map(\.element)
    }

    private var description: String {
        "Ratios on a logarithmic axis, above 1 is better. "
            + lines.map { "\($0.name): \(sentence($0))" }.joined(separator: "; ")
    }
}
