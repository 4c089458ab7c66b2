/// Columns for a terminal: the first ones to the left, the others to the right, each as wide as its widest cell.
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
    /// How many columns stand to the left.
    var leftColumns = 1

    /// The lines, none wider than `width` where that can be had by shortening the first column to 14 characters.
    /// A row of one cell stands across all columns.
    func lines(width: Int, indent: Int, colour: Bool) -> [String] {
        let count = rows.map(\.count).max() ?? 0
        var widths = (0..<count).map { column in
            rows.map { $0.count > 1 && column < $0.count ? $0[column].text.count : 0 }.max() ?? 0
        }
        let gap = 2
        let total = indent + widths.reduce(0, +) + gap * max(0, count - 1)
        if total > width, count > 0 {
            widths[0] = max(min(14, widths[0]), widths[0] - (total - width))
        }
        return rows.map { row in
            var line = String(repeating: " ", count: indent)
            if row.count == 1 { return line + row[0].style.applied(to: row[0].text, colour: colour) }
            for (column, cell) in row.enumerated() {
                let text = Self.shortened(cell.text, to: widths[column])
                let padding = String(repeating: " ", count: widths[column] - text.count)
                let shown = cell.style.applied(to: text, colour: colour)
                line += column == 0 ? "" : String(repeating: " ", count: gap)
                line += column < leftColumns ? shown + padding : padding + shown
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    static func shortened(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        return width > 1 ? text.prefix(width - 1) + "\u{2026}" : String(text.prefix(max(0, width)))
    }
}

/// How a word stands out on a terminal.
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
