/// A table for a terminal: the first columns are aligned to the left, the others to the right, each as wide as its
/// widest cell.
struct TextTable {
    struct Cell {
        var text: String
        var style: TextStyle = .plain

        init(_ text: String, _ style: TextStyle = .plain) {
            self.text = text
            self.style = style
        }
    }

    var rows: [[Cell]] = []
    /// The number of left-aligned columns.
    var leftColumns = 1
    /// Columns that may be dropped if there is no room, in this order; no column that is aligned to the left.
    var droppable: [Int] = []

    /// Whether a last line names the dropped columns.
    var namesLeftOut = false

    private static let gap = 2

    /// The lines, none wider than `width`. To that end columns are dropped, then the left ones are shortened to 14 and
    /// to 10 characters, then lines are cut. A row of one cell spans all columns; a cell may extend over an empty one
    /// to its right.
    func lines(width: Int, indent: Int, colour: Bool) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        var widths = (0..<count).map(naturalWidth)
        var shown = Array(0..<count)
        func total() -> Int { indent + shown.reduce(0) { $0 + widths[$1] + Self.gap } - Self.gap }
        for column in droppable where total() > width {
            shown.removeAll { $0 == column }
        }
        for (column, least) in zip(0..<min(leftColumns, count), [14, 10]) where total() > width {
            widths[column] = max(min(least, widths[column]), widths[column] - (total() - width))
        }
        // If that is not enough, other columns are dropped, too, from the last on.
        while total() > width, let last = shown.last, last >= leftColumns { shown.removeLast() }
        let start = Self.spaces(indent)
        let lines = rows.map { row in
            if row.count == 1 {
                let text = Self.shortened(row[0].text, to: width - indent)
                return start + row[0].style.applied(to: text, colour: colour)
            }
            return start + line(row, shown, widths, colour: colour)
        }
        let heads = rows.first ?? []
        let leftOut = (0..<count).filter { !shown.contains($0) && $0 < heads.count && !heads[$0].text.isEmpty }
        guard namesLeftOut, !leftOut.isEmpty else { return lines }
        let names = "not shown: " + leftOut.map { heads[$0].text }.joined(separator: ", ")
        return lines + [start + TextStyle.faint.applied(to: Self.shortened(names, to: width - indent), colour: colour)]
    }

    private func naturalWidth(_ column: Int) -> Int {
        rows.map { row in
            guard row.count > 1, column < row.count else { return 0 }
            let reaches = column + 1 < leftColumns && row[column + 1].text.isEmpty
            return reaches ? 0 : row[column].text.count
        }.max() ?? 0
    }

    private func line(_ row: [Cell], _ shown: [Int], _ widths: [Int], colour: Bool) -> String {
        var line = ""
        var column = 0
        while column < min(leftColumns, row.count) {
            var room = widths[column]
            var next = column + 1
            while next < min(leftColumns, row.count), row[next].text.isEmpty {
                room += Self.gap + widths[next]
                next += 1
            }
            let text = Self.shortened(row[column].text, to: room)
            line += column == 0 ? "" : Self.spaces(Self.gap)
            line += row[column].style.applied(to: text, colour: colour) + Self.spaces(room - text.count)
            column = next
        }
        for column in shown where column >= leftColumns && column < row.count {
            let text = Self.shortened(row[column].text, to: widths[column])
            line += Self.spaces(Self.gap + widths[column] - text.count)
            line += row[column].style.applied(to: text, colour: colour)
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    private static func spaces(_ count: Int) -> String {
        String(repeating: " ", count: max(0, count))
    }

    static func shortened(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        return width > 1 ? text.prefix(width - 1) + "\u{2026}" : String(text.prefix(max(0, width)))
    }
}

/// The style of a word on a terminal.
enum TextStyle: String {
    case plain = "0"
    case strong = "1"
    case faint = "2"
    case bad = "1;31"
    case good = "32"
    case doubt = "33"

    func applied(to text: String, colour: Bool) -> String {
        colour && self != .plain ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
