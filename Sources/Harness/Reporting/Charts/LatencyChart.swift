import Measuring
import Platform

/// Latency by quantile, a line per engine. Both axes are logarithmic. The horizontal axis is the share of operations
/// that were slower (one in 10, 100, 1 000), so that the tail gets as much room as the middle.
struct LatencyChart {
    struct Line {
        /// An engine, or the limit of the machine.
        var name: String
        var histogram: Histogram
        var isLimit = false
    }

    var title: String
    var lines: [Line]
    let palette: EnginePalette

    private static let height = 236.0
    private static let left = 48.0
    private static let right = Drawing.width - 76
    private static let top = 12.0
    private static let bottom = Self.height - 34

    private static let marks: [(nines: Double, words: String)] = [
        (0.30103, "p50"), (1, "p90"), (2, "p99"), (3, "p99.9"), (4, "p99.99"), (5, "p99.999"),
    ]

    /// Where a line ends: at the last quantile that has enough values beyond it.
    private static func end(_ histogram: Histogram) -> Double {
        min(max(log10(Double(histogram.count) / Double(Histogram.fewestBeyond)), 0.30103), 6)
    }

    /// The value where a line ends.
    private static func last(_ histogram: Histogram) -> UInt64 {
        histogram.quantile(1 - pow(10, -end(histogram)))
    }

    func draw(_ markup: inout Markup) {
        let shown = lines.filter { !$0.histogram.isEmpty }
        guard !shown.isEmpty else { return }
        let low = shown.map { Double(max(1, $0.histogram.minimum)) }.min() ?? 1
        let high = shown.map { Double(max(1, Self.last($0.histogram))) }.max() ?? 10
        let y = Scale(.logarithmic, Scale.decades(low, high), from: Self.bottom, to: Self.top)
        let reach = max(2, shown.map { Self.end($0.histogram) }.max() ?? 2)
        let x = Scale(.linear, 0...reach, from: Self.left, to: Self.right)
        Drawing.svg(&markup, height: Self.height, title: title, description: description(shown)) { svg in
            for tick in y.decadeTicks {
                Drawing.line(&svg, "gr", x1: Self.left, y1: y.position(tick), x2: Self.right, y2: y.position(tick))
                Drawing.label(
                    &svg, "ax", x: Self.left - 6, y: y.position(tick) + 4, anchor: .end,
                    words: Figure.duration(nanoseconds: tick, isTick: true))
            }
            for mark in Self.marks where mark.nines <= reach + 0.01 {
                Drawing.line(
                    &svg, "tk", x1: x.position(mark.nines), y1: Self.bottom, x2: x.position(mark.nines),
                    y2: Self.bottom + 4)
                Drawing.label(
                    &svg, "ax", x: x.position(mark.nines), y: Self.bottom + 17, anchor: .middle, words: mark.words)
            }
            let ends = shown.map { y.position(Double(max(1, Self.last($0.histogram)))) }
            let places = Drawing.spread(ends, gap: 13, in: (Self.top + 4)...(Self.bottom - 2))
            for (index, line) in shown.enumerated() {
                let colour = line.isLimit ? EnginePalette.aside : palette.slot(line.name)
                let points = points(line.histogram, x, y)
                svg.open(
                    "path", ["class": line.isLimit ? "ln s\(colour) d2" : "ln s\(colour)", "d": Drawing.path(points)])
                svg.close("path")
                if let last = points.last {
                    Drawing.line(&svg, "ld s\(colour)", x1: last.x, y1: last.y, x2: Self.right + 5, y2: places[index])
                }
                if !line.isLimit, let last = points.last {
                    for place in [points[points.count / 2], last] {
                        Drawing.mark(&svg, palette, engine: line.name, x: place.x, y: place.y)
                    }
                }
                Drawing.label(&svg, "lb", x: Self.right + 8, y: places[index] + 4, anchor: .start, words: line.name)
            }
        }
    }

    private func points(_ histogram: Histogram, _ x: Scale, _ y: Scale) -> [(x: Double, y: Double)] {
        let end = Self.end(histogram)
        let count = 72
        var points: [(x: Double, y: Double)] = []
        for step in 0...count {
            let nines = end * Double(step) / Double(count)
            let value = histogram.quantile(1 - pow(10, -nines))
            let place = (x: x.position(nines), y: y.position(Double(max(1, value))))
            // Draws only the two ends of a run of equal values.
            if points.count > 1, points[points.count - 1].y == place.y, points[points.count - 2].y == place.y {
                points.removeLast()
            }
            points.append(place)
        }
        return points
    }

    private func description(_ shown: [Line]) -> String {
        shown.map { line in
            let quantiles = [("p50", 0.5), ("p99", 0.99)].filter { line.histogram.carries($0.1) }.map {
                name, fraction in
                "\(name) \(Figure.duration(nanoseconds: Double(line.histogram.quantile(fraction))))"
            }
            let maximum = Figure.duration(nanoseconds: Double(line.histogram.maximum))
            return "\(line.name): \((quantiles + ["slowest \(maximum)"]).joined(separator: ", "))"
        }.joined(separator: "; ")
    }
}
