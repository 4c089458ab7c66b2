import RunRecords

/// File sizes over time, for cases that differ only in engine and policy. A thick line is data and log, a thin line the
/// live data; a bar at the bottom marks when a reader pins a version.
struct SizeChart {
    struct Line {
        var engine: String
        /// The label that distinguishes the line from the engine's other lines; empty for a single line.
        var variant: String
        var series: Series
    }

    var title: String
    var lines: [Line]
    let palette: EnginePalette
    /// The largest value of all adjacent charts, which share an axis.
    var sharedHigh = 0

    private static let height = 236.0
    private static let left = 52.0
    private static let right = Drawing.width - 98
    private static let top = 12.0
    private static let bottom = Self.height - 34
    /// With more points than this, the chart draws the largest point of each stretch.
    private static let pointLimit = 150

    func draw(_ markup: inout Markup) {
        let points = lines.flatMap(\.series.points)
        guard let high = points.map(\.drawnBytes).max().map({ max($0, sharedHigh) }), high > 0 else { return }
        let positions = points.map { Double($0.position) }
        let first = positions.min() ?? 0
        let last = max(positions.max() ?? 1, first + 1)
        let unit = Figure.byteUnit(Double(high))
        let ticks = Scale.steps(upTo: Double(high), unit: unit.size)
        let y = Scale(.linear, 0...(ticks.last ?? Double(high)), from: Self.bottom, to: Self.top)
        let x = Scale(.linear, first...last, from: Self.left, to: Self.right)
        Drawing.svg(&markup, height: Self.height, title: title, description: description) { svg in
            for tick in ticks {
                Drawing.line(&svg, "gr", x1: Self.left, y1: y.position(tick), x2: Self.right, y2: y.position(tick))
                Drawing.label(
                    &svg, "ax", x: Self.left - 6, y: y.position(tick) + 4, anchor: .end,
                    words: "\(Figure.trimmed(tick / unit.size)) \(unit.name)")
            }
            for (place, anchor) in [(first, Drawing.Anchor.start), (last, .end)] {
                Drawing.label(
                    &svg, "ax", x: x.position(place), y: Self.bottom + 17, anchor: anchor,
                    words: Figure.grouped(Int(place)))
            }
            Drawing.label(
                &svg, "ax", x: (Self.left + Self.right) / 2, y: Self.bottom + 17, anchor: .middle,
                words: lines.first?.series.step ?? "")
            pins(x, &svg)
            curves(x, y, &svg)
        }
    }

    private func curves(_ x: Scale, _ y: Scale, _ svg: inout Markup) {
        let thinned = lines.map { Self.thinned($0.series.points) }
        let ends = thinned.map { y.position(Double($0.last?.totalBytes ?? 0)) }
        let places = Drawing.spread(ends, gap: 13, in: (Self.top + 4)...(Self.bottom - 2))
        let variants = RunDigest.unique(lines.map(\.variant))
        for (index, line) in lines.enumerated() {
            let colour = palette.slot(line.engine)
            let dash = variants.firstIndex(of: line.variant) ?? 0
            let files = thinned[index].map {
                (x: x.position(Double($0.position)), y: y.position(Double($0.totalBytes)))
            }
            svg.open("path", ["class": "ln s\(colour) d\(dash % 4)", "d": Drawing.path(files)])
            svg.close("path")
            let live = thinned[index].compactMap { point in
                point.liveBytes.map { (x: x.position(Double(point.position)), y: y.position(Double($0))) }
            }
            if live.count > 1 {
                svg.open("path", ["class": "lv s\(colour)", "d": Drawing.path(live)])
                svg.close("path")
            }
            if let last = files.last {
                Drawing.line(&svg, "ld s\(colour)", x1: last.x, y1: last.y, x2: Self.right + 5, y2: places[index])
                for place in [files[files.count / 2], last] {
                    Drawing.mark(&svg, palette, engine: line.engine, x: place.x, y: place.y)
                }
            }
            let name = variants.count > 1 ? "\(line.engine) \(line.variant)" : line.engine
            Drawing.label(
                &svg, "lb", x: Self.right + 8, y: places[index] + 4, anchor: .start,
                words: TextTable.shortened(name, to: 18))
        }
    }

    private func pins(_ x: Scale, _ svg: inout Markup) {
        for line in lines {
            let pinned = line.series.points.filter { $0.oldestPinnedVersion != nil }
            // A reader that is active all the time needs no mark.
            guard pinned.count < line.series.points.count, let first = pinned.first, let last = pinned.last else {
                continue
            }
            let (start, end) = (x.position(Double(first.position)), x.position(Double(last.position)))
            Drawing.line(&svg, "pin", x1: start, y1: Self.bottom, x2: end, y2: Self.bottom)
            Drawing.label(
                &svg, "ax", x: (start + end) / 2, y: Self.bottom - 5, anchor: .middle, words: "a reader pins a version")
            return
        }
    }

    private static func thinned(_ points: [SizePoint]) -> [SizePoint] {
        guard points.count > pointLimit else { return points }
        let stretch = (points.count + pointLimit - 1) / pointLimit
        var kept: [SizePoint] = []
        for start in stride(from: 0, to: points.count, by: stretch) {
            let part = points[start..<min(start + stretch, points.count)]
            if let largest = part.max(by: { $0.totalBytes < $1.totalBytes }) { kept.append(largest) }
        }
        if let last = points.last, kept.last != last { kept.append(last) }
        return kept
    }

    private var description: String {
        lines.compactMap { line -> String? in
            guard let first = line.series.points.first, let last = line.series.points.last else { return nil }
            let largest = line.series.points.map(\.totalBytes).max() ?? 0
            let name = line.variant.isEmpty ? line.engine : "\(line.engine), \(line.variant)"
            return "\(name): \(Figure.bytes(Double(first.totalBytes))) at first, \(Figure.bytes(Double(largest))) "
                + "at most, \(Figure.bytes(Double(last.totalBytes))) at last"
        }.joined(separator: "; ")
    }
}
