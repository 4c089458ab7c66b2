import RunRecords

/// Transactions of a history, each as a bar from start to end with its operations below. The axis has no scale of time:
/// starts and ends stand at equal distances in their order, so that short overlaps are visible, too.
struct HistoryTimeline {
    var witness: WitnessTimeline

    private static let width = 704.0
    private static let left = 92.0
    private static let step = 40.0
    private static let head = 8.0

    func draw(_ markup: inout Markup) {
        guard !witness.rows.isEmpty else { return }
        let height = Self.head + Self.step * Double(witness.rows.count) + 4
        Drawing.svg(
            &markup, width: Self.width, height: height, title: witness.title, description: description
        ) { svg in
            for place in 0...last {
                Drawing.line(&svg, "gr", x1: x(place), y1: 0, x2: x(place), y2: height)
            }
            for (index, row) in witness.rows.enumerated() {
                draw(row, at: Self.head + Self.step * Double(index) + 8, &svg)
            }
        }
    }

    private func draw(_ row: WitnessTimeline.Row, at y: Double, _ svg: inout Markup) {
        Drawing.label(&svg, "lb", x: Self.left - 8, y: y + 4, anchor: .end, words: row.name)
        let (start, end) = (x(row.start), x(row.end ?? last))
        Drawing.line(&svg, "wh w-behind", x1: start, y1: y, x2: end, y2: y)
        Drawing.line(&svg, "wh w-behind", x1: start, y1: y - 4, x2: start, y2: y + 4)
        // An arrow stands for an unknown end: the transaction may have ended at any later time.
        let tip = row.end == nil ? [(end - 5, y - 4), (end, y), (end - 5, y + 4)] : [(end, y - 4), (end, y + 4)]
        svg.open("path", ["class": "wh w-behind", "d": Drawing.path(tip.map { (x: $0.0, y: $0.1) })])
        svg.close("path")
        Drawing.label(&svg, "ax", x: Self.left, y: y + 18, anchor: .start, words: row.operations)
    }

    private var last: Int { max(1, witness.rows.map { max($0.start, $0.end ?? 0) }.max() ?? 1) }

    private func x(_ place: Int) -> Double {
        Self.left + (Self.width - Self.left - 8) * Double(place) / Double(last)
    }

    private var description: String {
        "\(witness.reasons) " + witness.rows.map { "\($0.name): \($0.operations)" }.joined(separator: "; ")
    }
}
