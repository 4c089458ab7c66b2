import Statistics

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Ratios on a logarithmic axis, a line each: a dot with its interval as a whisker, the line of equality, and behind
/// each line its dead band. What is ahead is a disc, what is behind a diamond, what is open an empty circle in
/// grey, so that none is told by colour alone.
///
/// Across the drawing is measured in hundredths of its width and not in units of its own: it takes whatever width there
/// is, and its words stay as large as those beside it.
struct DotPlot {
    struct Line {
        var name: String
        /// Stands beside the line.
        var shortName: String
        /// What the ratio is of: its adjective.
        var measure: Measure
        var ratio: FigureRatio
        /// Two sides of one program in the same minutes.
        var control: FigureRatio?
        /// Where the numbers of the figure stand.
        var link: String?
    }

    var title: String
    /// From the top.
    var lines: [Line]

    /// Where things stand across, in hundredths of the width, and how tall a line is.
    private struct Layout {
        var style: String
        var names: Double
        /// The names stand over their lines.
        var isSlim = false
        var left: Double
        var right: Double
        var ratios: Double
        var peers: Double
        var step: Double
        /// Names are shortened to what fits.
        var longestName: Int

        static let wide = Layout(
            style: "fluid wide", names: 32, left: 33.5, right: 74, ratios: 89.5, peers: 90.5, step: 21,
            longestName: 33)
        static let slim = Layout(
            style: "fluid slim", names: 0, isSlim: true, left: 2, right: 60, ratios: 100, peers: 100, step: 38,
            longestName: 52)
    }

    private static let head = 22.0

    init(title: String, lines: [Line]) {
        self.title = title
        self.lines = lines
    }

    /// Twice: for a wide page, and for one that has no room beside the lines. The style sheet shows one of them.
    func draw(_ markup: inout Markup) {
        draw(.wide, &markup)
        draw(.slim, &markup)
    }

    private func draw(_ layout: Layout, _ markup: inout Markup) {
        guard !lines.isEmpty else { return }
        let scale = Scale(.logarithmic, domain, from: layout.left, to: layout.right)
        let bottom = Self.head + layout.step * Double(lines.count)
        let description = layout.isSlim ? "" : description
        Drawing.fluid(
            &markup, style: layout.style, height: bottom + 22, title: title, description: description
        ) { svg in
            for (index, line) in lines.enumerated() {
                band(line.ratio.band.factor, at: Self.head + layout.step * Double(index), layout.step, scale, &svg)
            }
            for tick in layout.isSlim ? slimTicks : ticks {
                let x = scale.position(tick)
                Drawing.fluidLine(&svg, tick == 1 ? "one" : "gr", (x, Self.head - 4), (x, bottom + 4))
                for y in [Self.head - 9, bottom + 17] {
                    Drawing.fluidLabel(&svg, "ax", x, y, .middle, Figure.trimmed(tick) + "\u{D7}")
                }
            }
            for (index, line) in lines.enumerated() {
                let share = layout.isSlim ? 0.68 : 0.5
                draw(line, layout, at: Self.head + layout.step * (Double(index) + share), scale, &svg)
            }
        }
    }

    /// The end of a name says which figure it is: what does not fit is left out of its middle.
    private static func shortened(_ name: String, to longestName: Int) -> String {
        guard name.count > longestName else { return name }
        let tail = longestName / 2
        return name.prefix(longestName - tail - 1) + "\u{2026}" + name.suffix(tail)
    }

    private func band(_ factor: Double, at top: Double, _ step: Double, _ scale: Scale, _ svg: inout Markup) {
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
        _ line: Line, _ layout: Layout, at middle: Double, _ scale: Scale, _ svg: inout Markup
    ) {
        let ratio = line.ratio
        let style = ratio.decision?.rawValue ?? Decision.open.rawValue
        let name = Self.shortened(line.shortName, to: layout.longestName)
        svg.element("a", ["href": line.link]) { link in
            link.element("title", "\(line.name): \(sentence(line))")
            if layout.isSlim {
                Drawing.fluidLabel(&link, "lb", layout.names, middle - 10, .start, name)
            } else {
                Drawing.fluidLabel(&link, "lb", layout.names, middle + 4, .end, name)
            }
        }
        if let again = line.control { control(again, at: middle, scale, &svg) }
        if let low = ratio.low, let high = ratio.high {
            let (from, to) = (scale.position(low), scale.position(high))
            Drawing.fluidLine(&svg, "wh w-\(style)", (from, middle), (to, middle))
            for x in [from, to] { Drawing.fluidLine(&svg, "wh w-\(style)", (x, middle - 3), (x, middle + 3)) }
        }
        dot(scale.position(ratio.value), middle, style, &svg)
        let words = layout.isSlim ? "\(words(line)) \(ratio.peer)" : words(line)
        Drawing.fluidLabel(&svg, "val t-\(style)", layout.ratios, middle + 4, .end, words)
        if !layout.isSlim { Drawing.fluidLabel(&svg, "ax", layout.peers, middle + 4, .start, ratio.peer) }
    }

    /// What noise alone comes to: a faint tick, with its interval, below the dot.
    private func control(_ ratio: FigureRatio, at middle: Double, _ scale: Scale, _ svg: inout Markup) {
        let y = middle + 7
        if let low = ratio.low, let high = ratio.high {
            Drawing.fluidLine(&svg, "again", (scale.position(low), y), (scale.position(high), y))
        }
        let x = scale.position(ratio.value)
        Drawing.fluidLine(&svg, "again", (x, y - 3), (x, y + 3))
    }

    private func sentence(_ line: Line) -> String { line.ratio.words(line.measure) }

    private func words(_ line: Line) -> String { line.ratio.short(line.measure) }

    /// A nested drawing, whose middle is the place in hundredths and whose shape is in pixels.
    private func dot(_ x: Double, _ y: Double, _ style: String, _ svg: inout Markup) {
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

    /// All values and bounds with some room, and equality always.
    private var domain: ClosedRange<Double> {
        let values = lines.flatMap { line in
            [line.ratio, line.control].compactMap { $0 }.flatMap { [$0.value, $0.low, $0.high].compactMap { $0 } }
        }
        .filter { $0 > 0 && $0.isFinite }
        return min((values.min() ?? 1) / 1.15, 0.9)...max((values.max() ?? 1) * 1.15, 1.12)
    }

    /// 1, 2 and 5 times the powers of ten where they have room, else powers of ten alone; 1 is always there.
    private var ticks: [Double] {
        let (low, high) = (domain.lowerBound, domain.upperBound)
        let decades = log10(high / low)
        let powers = Int(log10(low).rounded(.down))...Int(log10(high).rounded(.up))
        let step = max(1, Int((decades / 7).rounded(.up)))
        let steps: [Double] = decades < 0.4 ? [1, 1.1, 1.2, 1.5, 2, 5, 7, 8, 9] : (decades < 3 ? [1, 2, 5] : [1])
        return powers.filter { $0 % step == 0 }.flatMap { power in steps.map { $0 * pow(10, Double(power)) } }
            .filter { $0 >= low && $0 <= high }
    }

    /// Fewer of them, where they would stand in each other's way.
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
