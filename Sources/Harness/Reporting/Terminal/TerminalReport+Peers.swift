import RunRecords

extension TerminalReport {
    /// Engines side by side, for a run with several peers. It takes the place of the tables of speed.
    var peerLines: [String] {
        guard let table = peerTable else { return [] }
        return [" " + styled(Self.peerQuestion, .strong)] + lines(stands)
            + table.lines(width: width, indent: 3, colour: colour)
    }

    static let peerQuestion = "Where does Strata stand beside its peers?"

    /// nil if the run does not have several peers.
    var peerTable: TextTable? {
        guard let peers = PeerTable(digest) else { return nil }
        let hasLimit = peers.rows.contains { $0.limit != nil }
        let hasDecision = peers.rows.contains { row in peers.own.contains { peers.ratio(row, of: $0)?.claim != nil } }
        // If names are too long for a column, they get lines of their own, since their ends tell the sizes apart.
        let hasLines = peers.rows.contains { name($0).count > Self.longestNameInColumn }
        let left = hasLines ? 1 : 2
        var table = TextTable(leftColumns: left, namesLeftOut: true)
        table.rows.append(
            (Array(repeating: "", count: left) + peers.engines + ["to best peer"] + (hasDecision ? [""] : [])
                + (hasLimit ? ["of limit"] : [])).map { TextTable.Cell($0, .faint) })
        // If the table is too wide, the limit is dropped first, then peers from the last on, since the ratio names the
        // best one.
        let count = peers.engines.count
        table.droppable =
            (hasLimit ? [count + left + (hasDecision ? 2 : 1)] : [])
            + (peers.own.count..<count).reversed().map { $0 + left }
            + (1..<peers.own.count).reversed().map { $0 + left }
        var last: Subject?
        for row in peers.rows {
            let isNew = row.figures.subject != last
            if hasLines, isNew { table.rows.append([TextTable.Cell(name(row))]) }
            let words = row.figures.measure.words
            var cells =
                hasLines
                ? [TextTable.Cell("  " + words)] : [TextTable.Cell(isNew ? name(row) : ""), TextTable.Cell(words)]
            cells += peers.engines.map { figure(row.figures, $0) }
            // The ratio is that of the storage engine, if it has the figure: the object layer does more work than the
            // peers.
            let engine = peers.own.first { row.figures.values[$0] != nil }
            let ratio = engine.flatMap { peers.ratio(row, of: $0) }
            cells.append(ratioCell(ratio, row.figures.measure))
            if hasDecision { cells.append(TextTable.Cell(ratio?.claim ?? "", Self.style(ratio))) }
            if hasLimit {
                let share = engine.flatMap { peers.shareOfLimit(row, of: $0) }
                cells.append(TextTable.Cell(share.map { Figure.percent($0, gap: " ") } ?? ""))
            }
            table.rows.append(cells)
            last = row.figures.subject
        }
        return table
    }

    private static let longestNameInColumn = 14

    private func name(_ row: PeerTable.Row) -> String {
        let subject = row.figures.subject
        let name = digest.shortName(subject).replacing(Figure.gap, with: " ")
        let isPlain = digest.durabilities.count == 1 || subject.durability == .full
        return isPlain ? name : "\(name) (\(subject.durability.rawValue))"
    }

    /// The claims that answer a question, for each engine that the run is about: of speed, or of bytes and other costs.
    /// Empty if no comparison ran in rounds, or if the table of the peers has them.
    func standingLines(_ question: Question) -> [String] {
        guard run.header.measures, peerTable == nil else { return [] }
        switch question {
        case .fast: return lines(stands.filter { $0.figures.lines.allSatisfy(\.figures.measure.kind.isTime) })
        case .large: return lines(stands.filter { !$0.figures.lines.allSatisfy(\.figures.measure.kind.isTime) })
        case .safe, .deleted, .migrations: return []
        }
    }

    private var stands: [(figures: HeadlineFigures, what: String)] { PageAnswer(digest: digest, gap: " ").stands }

    private func lines(_ stands: [(figures: HeadlineFigures, what: String)]) -> [String] {
        stands.flatMap { stand in
            var text = WrappedText()
            text.add(stand.figures.engine, .strong)
            text.add("beside the best peer, \(stand.what): \(stand.figures.standing(gap: " "));")
            text.add("\(stand.figures.range(gap: " "))")
            return text.lines(width: width, lead: "   ", hang: 5, colour: colour)
        }
    }

    /// A figure, with a dagger if its case was cut, and a double dagger if it differs from that of its control.
    func figure(_ row: MeasureRow, _ engine: String) -> TextTable.Cell {
        guard let (sample, result) = row.values[engine] else { return TextTable.Cell("\u{B7}", .faint) }
        let marks = (result.isCut ? "\u{2020}" : "") + (digest.isDoubtful(result, row.measure) ? "\u{2021}" : "")
        return TextTable.Cell(row.measure.text(sample.value, gap: " ") + marks)
    }

    /// A ratio, in colour only if the rounds decide.
    func ratioCell(_ ratio: FigureRatio?, _ measure: Measure) -> TextTable.Cell {
        guard let ratio else { return TextTable.Cell("") }
        let words = ratio.shortWithPeer(measure).split(separator: Figure.gap).joined(separator: " ")
        return TextTable.Cell(words, Self.style(ratio))
    }

    static func style(_ ratio: FigureRatio?) -> TextStyle {
        switch ratio?.decision {
        case .ahead: .good
        case .behind: .bad
        case .same, .open, nil: .faint
        }
    }
}
