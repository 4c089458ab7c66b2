import RunRecords

/// The outcomes of a sweep's trials by their place in a file. A column is a page, or several pages of a large file, or
/// a part of a page of a small one; its colours are the shares of the outcomes. Offsets and page numbers are written
/// below, and above the owner of each page, if the engine can name it. A tooltip has the place, the outcomes, and the
/// command that repeats the gravest trial.
struct OutcomeStrip {
    /// A trial whose fault lies in this file.
    struct Hit {
        var offset: Int
        /// nil if the trial broke the harness, or the budget left it out.
        var outcome: Outcome?
        var address: FaultAddress
    }

    var title: String
    var file: SweepMap.File
    /// Ascending by offset.
    var hits: [Hit]
    /// The command that repeats a trial.
    var command: (FaultAddress) -> String

    private static let height = 64.0
    private static let columns = 72
    private static let owners = 13.0
    private static let axis = 31.0

    private var pageCount: Int { max(1, (file.byteCount + SweepMap.pageBytes - 1) / SweepMap.pageBytes) }

    /// The bytes that a column stands for: whole pages, or a half, a quarter and so on of a page. All columns have the
    /// same.
    private var bytesPerColumn: Int {
        var bytes = (pageCount + Self.columns - 1) / Self.columns * SweepMap.pageBytes
        while bytes > 128, pageCount * SweepMap.pageBytes / (bytes / 2) <= Self.columns { bytes /= 2 }
        return bytes
    }

    private var columnCount: Int { max(1, (file.byteCount + bytesPerColumn - 1) / bytesPerColumn) }

    /// The horizontal place of a byte.
    private func x(_ byte: Int) -> Double {
        Drawing.width * min(1, Double(byte) / Double(columnCount * bytesPerColumn))
    }

    func draw(_ markup: inout Markup) {
        let head = file.owners.isEmpty ? 0 : Self.owners
        let bottom = head + Self.height
        let step = bytesPerColumn
        let count = columnCount
        let width = Drawing.width / Double(count)
        let columns = Dictionary(grouping: hits) { $0.offset / step }
        Drawing.svg(&markup, height: bottom + Self.axis, title: title, description: description) { svg in
            drawOwners(&svg)
            for column in 0..<count {
                guard let own = columns[column] else { continue }
                let bytes = column * step..<min((column + 1) * step, max(file.byteCount, column * step + 1))
                svg.element("g") { group in
                    group.element("title", words(own, bytes))
                    draw(own, x: width * Double(column), width: width, bottom: bottom, &group)
                }
            }
            // Places without trials stay empty inside this frame.
            let path = "M0 \(Drawing.number(head))H\(Drawing.number(Drawing.width))V\(Drawing.number(bottom))H0Z"
            svg.open("path", ["class": "gr", "d": path])
            svg.close("path")
            drawAxis(bottom, &svg)
        }
    }

    private func draw(_ own: [Hit], x: Double, width: Double, bottom: Double, _ svg: inout Markup) {
        var top = bottom
        for group in ShownOutcome.allCases {
            let count = own.count { $0.outcome.map(ShownOutcome.init) == group }
            if count == 0 { continue }
            let tall = Self.height * Double(count) / Double(own.count)
            top -= tall
            svg.open(
                "path",
                [
                    "class": "o-\(group.rawValue)",
                    "d": "M\(Drawing.number(x)) \(Drawing.number(top))h\(Drawing.number(width))"
                        + "v\(Drawing.number(tall))h-\(Drawing.number(width))z",
                ])
            svg.close("path")
        }
    }

    // MARK: Words

    /// `data, page 12, offsets 49152 to 53247, of Dog: 3 correct, 5 wrong; assay replay ..`.
    private func words(_ own: [Hit], _ bytes: Range<Int>) -> String {
        let pages = bytes.lowerBound / SweepMap.pageBytes..<(bytes.upperBound - 1) / SweepMap.pageBytes + 1
        var place =
            pages.count == 1 ? "page \(pages.lowerBound)" : "pages \(pages.lowerBound) to \(pages.upperBound - 1)"
        place += ", offsets \(bytes.lowerBound) to \(bytes.upperBound - 1)"
        let owners = RunDigest.unique(pages.compactMap(file.owner(ofPage:)))
        if !owners.isEmpty { place += ", of \(owners.prefix(3).joined(separator: ", "))" }
        let counts = ShownOutcome.allCases.compactMap { shown -> String? in
            let count = own.count { $0.outcome.map { ShownOutcome($0) == shown } ?? false }
            return count == 0 ? nil : "\(count) \(shown.rawValue)"
        }
        let gravest = own.max { ($0.outcome?.gravity ?? -1) < ($1.outcome?.gravity ?? -1) }
        let repeated = gravest.map { "; \(command($0.address))" } ?? ""
        return "\(file.name), \(place): \(counts.joined(separator: ", "))\(repeated)"
    }

    private var description: String {
        let size = "\(Figure.bytes(Double(file.byteCount))), \(Figure.count(pageCount, "page"))"
        return "\(file.name), \(size): trials by their place"
    }

    // MARK: Axes

    /// Offsets, and below each the page that begins there.
    private func drawAxis(_ bottom: Double, _ svg: inout Markup) {
        let ticks = [0, pageCount / 4, pageCount / 2, pageCount * 3 / 4]
        let shown = RunDigest.unique(pageCount < 8 ? [0] : ticks)
        for page in shown {
            let x = x(page * SweepMap.pageBytes)
            Drawing.line(&svg, "tk", x1: x, y1: bottom, x2: x, y2: bottom + 4)
            let words = page == 0 ? "offset 0" : Figure.bytes(Double(page * SweepMap.pageBytes))
            Drawing.label(&svg, "ax", x: x, y: bottom + 15, anchor: page == 0 ? .start : .middle, words: words)
            Drawing.label(
                &svg, "ax", x: x, y: bottom + 28, anchor: page == 0 ? .start : .middle,
                words: page == 0 ? "page 0" : "\(page)")
        }
        Drawing.label(
            &svg, "ax", x: Drawing.width, y: bottom + 15, anchor: .end, words: Figure.bytes(Double(file.byteCount)))
        Drawing.label(
            &svg, "ax", x: Drawing.width, y: bottom + 28, anchor: .end, words: Figure.count(pageCount, "page"))
    }

    /// Draws a line over the pages of each owner, with its name if it fits.
    private func drawOwners(_ svg: inout Markup) {
        for range in file.owners {
            let start = x(range.pages.lowerBound * SweepMap.pageBytes)
            let end = x(min(range.pages.upperBound, pageCount) * SweepMap.pageBytes)
            Drawing.line(&svg, "tk", x1: start, y1: Self.owners - 2, x2: max(start + 1, end - 1), y2: Self.owners - 2)
            let room = Int((end - start) / 6)
            if room >= 3 {
                Drawing.label(
                    &svg, "ax", x: start, y: Self.owners - 4, anchor: .start,
                    words: TextTable.shortened(range.name, to: room))
            }
        }
    }

    /// Draws shares of outcomes as one small bar.
    static func bar(_ count: (ShownOutcome) -> Int, _ markup: inout Markup) {
        let total = ShownOutcome.allCases.reduce(0) { $0 + count($1) }
        guard total > 0 else { return }
        let present = ShownOutcome.allCases.filter { count($0) > 0 }
        let words = present.map { "\(Figure.grouped(count($0))) \($0.rawValue)" }.joined(separator: ", ")
        let attributes: Markup.Attributes = [
            "viewBox": "0 0 120 10", "preserveAspectRatio": "none", "class": "share", "role": "img",
            "aria-label": words,
        ]
        markup.element("svg", attributes) { svg in
            svg.element("title", words)
            var x = 0.0
            for group in present {
                // A part has a least width, so that a single bad trial among thousands is visible.
                let wide = max(120 * Double(count(group)) / Double(total), group.isBad ? 2.5 : 0.5)
                svg.open(
                    "rect",
                    [
                        "class": "o-\(group.rawValue)", "x": Drawing.number(min(x, 117.5)),
                        "width": Drawing.number(wide),
                        "height": "10",
                    ])
                svg.close("rect")
                x += wide
            }
        }
    }
}
