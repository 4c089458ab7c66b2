import RunRecords

/// Rates of engines for a terminal, in one table per heading.
struct TerminalFigureGrid {
    let digest: RunDigest
    let width: Int
    let colour: Bool

    var lines: [String] {
        digest.durabilities.flatMap { durability in
            digest.figureGrids(durability).flatMap { grid in
                grid.columns.groups.map { group in
                    lines(
                        grid, group.name, columns: grid.columns.filter { $0.group == group.name },
                        durability: durability)
                }.joined()
            }
        }
    }

    private func lines(
        _ grid: FigureGrid, _ group: String, columns: [ResultGrid.Column], durability: DurabilityClass
    ) -> [String] {
        var table = TextTable(namesLeftOut: true)
        table.rows.append(
            ([RunDigest.durabilityText(durability)] + columns.map(\.name)).map { TextTable.Cell($0, .faint) })
        table.droppable = columns.indices.reversed().map { $0 + 1 }
        for engine in grid.engines {
            let figures = columns.map { column in
                grid.cells[engine]?[column].map { cell in
                    TextTable.Cell(
                        Figure.rounded(cell.sample.value, gap: " ") + (cell.result.isCut ? "\u{2020}" : ""))
                } ?? TextTable.Cell("\u{B7}", .faint)
            }
            table.rows.append([TextTable.Cell(engine)] + figures)
        }
        let title = TextTable.shortened("\(grid.caption), \(group)", to: width - 1)
        return [" " + TextStyle.strong.applied(to: title, colour: colour)]
            + table.lines(width: width, indent: 3, colour: colour)
    }
}
