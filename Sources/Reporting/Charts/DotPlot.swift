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
        var ratio: FigureRatio
        /// Where the numbers of the figure stand.
        var link: String?
    }

    var title: String
    /// From the top.
    var lines: [Line]

    private static let names = 32.0
    private static let left = 33.5
    private static let right = 80.0
    private static let ratios = 87.5
    private static let peers = 88.5
    private static let step = 21.0
    private static let head = 22.0
    /// Names are shortened to what fits beside a drawing in a narrow column.
    private static let longestName = 36

    init(title: String, lines: [Line]) {
        self.title = title
        self.lines = lines
    }

    func draw(_ markup: inout Markup) {
        guard !lines.isEmpty else { return }
        let scale = Scale(.logarithmic, domain, from: Self.left, to: Self.right)
        let bottom = Self.head + Self.step * Double(lines.count)
        Drawing.fluid(&markup, height: bottom + 22, title: title, description: description) { svg in
            for (index, line) in lines.enumerated() {
                band(line.ratio.band.factor, at: Self.head + Self.step * Double(index), scale, &svg)
            }
            for tick in ticks {
                let x = scale.position(tick)
                Drawing.fluidLine(&svg, tick == 1 ? "one" : "gr", (x, Self.head - 4), (x, bottom + 4))
                for y in [Self.head - 9, bottom + 17] {
                    Drawing.fluidLabel(&svg, "ax", x, y, .middle, Figure.trimmed(tick) + "\u{D7}")
                }
            }
            for (index, line) in lines.enumerated() {
                draw(line, at: Self.head + Self.step * (Double(index) + 0.5), scale, &svg)
            }
        }
    }

    /// The end of a name says which figure it is: what does not fit is left out of its middle.
    private static func shortened(_ name: String) -> String {
        guard name.count > longestName else { return name }
        let tail = longestName / 2
        return name.prefix(longestName - tail - 1) + "\u{2026}" + name.suffix(tail)
    }

    private func band(_ factor: Double, at top: Double, _ scale: Scale, _ svg: inout Markup) {
        let (start, end) = (scale.position(1 / factor), scale.position(factor))
        svg.open(
            "rect",
            [
                "class": "band", "x": Drawing.share(start), "y": Drawing.number(top),
                "width": Drawing.share(end - start), "height": Drawing.number(Self.step),
            ])
        svg.close("rect")
    }

    private func draw(_ line: Line, at middle: Double, _ scale: Scale, _ svg: inout Markup) {
        let ratio = line.ratio
        let style = ratio.decision?.rawValue ?? Decision.open.rawValue
        svg.element("a", ["href": line.link]) { link in
            link.element("title", "\(line.name): \(ratio.words)")
            Drawing.fluidLabel(
                &link, "lb", Self.names, middle + 4, .end, Self.shortened(line.shortName))
        }
        if let low = ratio.low, let high = ratio.high {
            let (from, to) = (scale.position(low), scale.position(high))
            Drawing.fluidLine(&svg, "wh w-\(style)", (from, middle), (to, middle))
            for x in [from, to] { Drawing.fluidLine(&svg, "wh w-\(style)", (x, middle - 3), (x, middle + 3)) }
        }
        dot(scale.position(ratio.value), middle, style, &svg)
        Drawing.fluidLabel(&svg, "val t-\(style)", Self.ratios, middle + 4, .end, Figure.ratio(ratio.value))
        Drawing.fluidLabel(&svg, "ax", Self.peers, middle + 4, .start, ratio.peer)
    }

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
        let values = lines.flatMap { [$0.ratio.value, $0.ratio.low, $0.ratio.high].compactMap { $0 } }
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

    private var description: String {
        "Ratios on a logarithmic axis, above 1 is better. "
            + lines.map { "\($0.name): \($0.ratio.words)" }.joined(separator: "; ")
    }
}
