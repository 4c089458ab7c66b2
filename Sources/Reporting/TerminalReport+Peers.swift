import RunRecords

extension TerminalReport {
    /// Engines beside each other, where the run has several peers; it takes the place of the tables of speed.
    var peerLines: [String] {
        guard let peers = PeerTable(digest) else { return [] }
        var lines = [" " + styled("Where does Strata stand beside its peers?", .strong)]
        let hasLimit = peers.rows.contains { $0.limit != nil }
        var table = TextTable(leftColumns: 2)
        table.rows.append(
            (["", ""] + peers.engines + ["to best peer"] + (hasLimit ? ["of raw limit"] : []))
                .map { TextTable.Cell($0, .faint) })
        var last: Subject?
        for row in peers.rows {
            let subject = row.figures.subject
            var name = digest.shortName(subject)
            if digest.durabilities.count > 1, subject.durability != .full {
                name += " (\(subject.durability.rawValue))"
            }
            var cells = [TextTable.Cell(subject == last ? "" : name), TextTable.Cell(row.figures.measure.words)]
            for engine in peers.engines {
                guard let (sample, result) = row.figures.values[engine] else {
                    cells.append(TextTable.Cell("\u{B7}", .faint))
                    continue
                }
                let value = row.figures.measure.text(sample.value, gap: " ")
                cells.append(TextTable.Cell(value + (result.isCut ? "\u{2020}" : "")))
            }
            // Storage where it has the figure: the object layer pays for more than its peers do.
            let engine = peers.own.first { row.figures.values[$0] != nil }
            let ratio = engine.flatMap { peers.ratio(row, of: $0) }
            cells.append(
                TextTable.Cell(
                    ratio.map { Figure.ratio($0.value) } ?? "", (ratio?.value ?? 1) < 1 ? .bad : .good))
            if hasLimit {
                let share = engine.flatMap { peers.shareOfLimit(row, of: $0) }
                cells.append(TextTable.Cell(share.map { Figure.percent($0, gap: " ") } ?? ""))
            }
            table.rows.append(cells)
            last = subject
        }
        lines += table.lines(width: max(width, 80), indent: 3, colour: colour)
        for engine in peers.own { lines += wrappedSentence(peers.standing(of: engine, digest, limit: 6)) }
        return lines
    }

    /// At spaces, indented as tables are.
    private func wrappedSentence(_ text: String) -> [String] {
        var lines: [String] = []
        var line = "  "
        for word in text.split(separator: " ") {
            if line.count + word.count + 1 > max(width, 40) {
                lines.append(line)
                line = "    "
            }
            line += " " + word
        }
        return lines + [line]
    }
}
