import RunRecords

/// How figures grow with the size of the data, for a terminal.
struct TerminalScale {
    let digest: RunDigest
    let width: Int
    let colour: Bool

    /// A row per figure that ran on several sizes, with the growth of each engine's figure and its interval. Empty if
    /// there are no such figures.
    var lines: [String] {
        let figures = digest.scaleFigures
        if figures.isEmpty { return [] }
        let engines = digest.engines.filter { engine in
            figures.contains { figure in figure.lines.contains { $0.engine == engine } }
        }
        var table = TextTable(leftColumns: 3, namesLeftOut: true)
        table.rows.append((["", "", "rows"] + engines).map { TextTable.Cell($0, .faint) })
        table.droppable = (1..<max(1, engines.count)).reversed().map { $0 + 3 }
        for figure in figures {
            let sizes = figure.sizes
            var cells = [
                TextTable.Cell(figure.subject.scenario), TextTable.Cell(figure.measure.words),
                TextTable.Cell(
                    [sizes.first, sizes.last].compactMap { $0 }.map { Figure.grouped($0, gap: " ") }
                        .joined(separator: " to ")),
            ]
            cells += engines.map { engine in
                TextTable.Cell(figure.lines.first { $0.engine == engine }?.growth.map(Self.words) ?? "")
            }
            table.rows.append(cells)
        }
        let title = "How does it grow with the size? (times as dear at the largest, and the interval)"
        return [" " + TextStyle.strong.applied(to: title, colour: colour)]
            + table.lines(width: width, indent: 3, colour: colour)
    }

    /// `1.9× 1.7 to 2.2`, since a column per engine leaves little room. Empty if the figure was measured too seldom to
    /// claim anything.
    private static func words(_ growth: ScaleFigure.Growth) -> String {
        guard let interval = growth.interval else { return "" }
        return "\(growth.short) \(interval)"
    }
}
