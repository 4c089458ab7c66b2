import RunRecords

/// What came of the trials of a sweep by their place: a column per stretch of the file, filled by share. Faults stand
/// in address order, so that a place that is not protected shows as a place.
struct OutcomeStrip {
    var title: String
    /// `Outcome.code` by trial; 0 and 255 are no outcomes.
    var codes: [UInt8]

    private static let height = 64.0
    private static let columns = 110

    func draw(_ markup: inout Markup) {
        guard !codes.isEmpty else { return }
        let count = min(Self.columns, codes.count)
        let width = Drawing.width / Double(count)
        Drawing.svg(&markup, height: Self.height + 18, title: title, description: "Trials in address order") { svg in
            var shapes: [OutcomeRow.Group: String] = [:]
            for column in 0..<count {
                let part = codes[(codes.count * column / count)..<(codes.count * (column + 1) / count)]
                var top = Self.height
                for group in OutcomeRow.Group.allCases {
                    let hits = part.filter { code in group.outcomes.contains { $0.code == code } }.count
                    if hits == 0 { continue }
                    let tall = Self.height * Double(hits) / Double(part.count)
                    top -= tall
                    shapes[group, default: ""] +=
                        "M\(Drawing.number(width * Double(column))) \(Drawing.number(top))"
                        + "h\(Drawing.number(width))v\(Drawing.number(tall))h-\(Drawing.number(width))z"
                }
            }
            for group in OutcomeRow.Group.allCases {
                guard let shape = shapes[group] else { continue }
                svg.open("path", ["class": "o-\(group.rawValue)", "d": shape])
                svg.close("path")
            }
            // What the budget left out stays empty.
            svg.open(
                "path", ["class": "gr", "d": "M0 0H\(Drawing.number(Drawing.width))V\(Drawing.number(Self.height))H0Z"])
            svg.close("path")
            Drawing.label(&svg, "ax", 0, Self.height + 14, .start, "first byte")
            Drawing.label(&svg, "ax", Drawing.width, Self.height + 14, .end, "last byte")
        }
    }

    /// The shares of a row of an outcome table in one small bar.
    static func bar(_ row: OutcomeRow, _ markup: inout Markup) {
        let total = row.trialCount
        guard total > 0 else { return }
        let present = OutcomeRow.Group.allCases.filter { row.count($0) > 0 }
        let words = present.map { "\(Figure.grouped(row.count($0))) \($0.words)" }.joined(separator: ", ")
        markup.element("svg", ["viewBox": "0 0 120 10", "class": "share", "role": "img", "aria-label": words]) { svg in
            svg.element("title", words)
            var x = 0.0
            for group in present {
                // A single bad trial among thousands has to be seen: nothing is thinner than this.
                let wide = max(120 * Double(row.count(group)) / Double(total), group.isBad ? 2.5 : 0.5)
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
