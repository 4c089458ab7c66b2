import Platform
import RunRecords

/// A trend for a terminal: a line of blocks, then a row per run, then the changes.
struct TrendText: WrappingText {
    let trend: Trend
    let width: Int
    let colour: Bool

    private var words: TrendWords { TrendWords(trend: trend) }

    var text: String {
        var lines = [TextStyle.strong.applied(to: words.title, colour: colour)]
        lines += wrapped(words.basis, lead: "  ", .faint, hang: 2)
        lines.append("  " + Self.sparkline(trend, most: max(10, width - 2)))
        lines += table.lines(width: width, indent: 2, colour: colour)
        for remark in trend.remarks { lines += wrapped(remark, lead: "NOTE  ", .doubt, hang: 6) }
        return (lines + changes).joined(separator: "\n") + "\n"
    }

    /// A block per run, and a gap for a run that has no comparable number. The full height stands for at least 10 %, so
    /// that noise looks flat.
    static func sparkline(_ trend: Trend, most: Int) -> String {
        let blocks = Array("\u{2581}\u{2582}\u{2583}\u{2584}\u{2585}\u{2586}\u{2587}\u{2588}")
        let levels = trend.points.suffix(most).map { point in trend.level(point).map { log($0) } }
        let known = levels.compactMap { $0 }
        guard let low = known.min(), let high = known.max() else { return "" }
        let height = max(high - low, log(1.1))
        let bottom = (low + high - height) / 2
        return String(
            levels.map { level in
                guard let level else { return " " }
                return blocks[min(blocks.count - 1, max(0, Int((level - bottom) / height * Double(blocks.count))))]
            })
    }

    private var table: TextTable {
        var table = TextTable()
        table.leftColumns = 2
        table.droppable = [2, 1]
        var head = [TextTable.Cell("run", .faint), .init("commit", .faint), .init("started", .faint)]
        head.append(.init("figure", .faint))
        if case .ratio(let reference) = trend.basis { head.append(.init("beside \(reference)", .faint)) }
        head.append(.init("", .faint))
        table.rows = [head]
        for (index, point) in trend.points.enumerated() {
            let change = trend.changes.first { $0.index == index }
            var row = [
                TextTable.Cell(point.run.id), .init(point.run.shortCommit), .init(Figure.time(point.run.startTime)),
                .init(words.value(point, gap: " ")),
            ]
            if case .ratio = trend.basis { row.append(.init(words.ratio(point))) }
            row.append(.init(change.map { words.step($0, gap: " ") } ?? "", style(change)))
            table.rows.append(row)
        }
        return table
    }

    private func style(_ change: Trend.Change?) -> TextStyle {
        switch change.map(trend.direction) {
        case "worse": .bad
        case "better": .good
        default: .plain
        }
    }

    private var changes: [String] {
        if trend.changes.isEmpty {
            let what = trend.basis == .nothing ? "no search without a reference" : "no change point"
            return wrapped(
                "\(what) in \(Figure.count(trend.points.count, "run", gap: " "))", lead: "VERDICT  ", hang: 9)
        }
        return trend.changes.flatMap { change in
            var lines = wrapped(words.sentence(change, gap: " "), lead: "CHANGE  ", style(change), hang: 8)
            if let command = words.command(change) {
                lines += WrappedText.command(command, width: width, indent: 8)
            }
            return lines
        }
    }
}

extension Reporting {
    /// For a terminal of `width` columns.
    package static func terminal(_ trend: Trend, width: Int, colour: Bool) -> String {
        TrendText(trend: trend, width: width, colour: colour).text
    }
}
