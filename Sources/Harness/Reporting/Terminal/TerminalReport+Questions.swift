import RunRecords

extension TerminalReport {
    /// The question and its tables; empty if it has no figures. A plan that measures nothing has only outcomes.
    func answer(to question: Question) -> [String] {
        let tables = tables(of: question)
        let grids = digest.grids(question).flatMap { grid in
            wrapped("\(grid.caption): \(grid.summary)", lead: "   ", hang: 5)
        }
        let standings = standingLines(question)
        if tables.isEmpty && grids.isEmpty && standings.isEmpty { return [] }
        var lines = [" " + styled(question.text, .strong)] + standings + grids
        for var table in tables {
            if table.rows.count > Self.rowLimit + 1 {
                let left = table.rows.count - Self.rowLimit - 1
                table.rows.removeLast(left)
                table.rows.append([TextTable.Cell("\(Figure.count(left, "more row", gap: " ")) in the report", .faint)])
            }
            lines += table.lines(width: width, indent: 3, colour: colour)
        }
        if question == .safe { lines += salvageLines }
        return lines
    }

    /// A table per durability class that has figures.
    func tables(of question: Question) -> [TextTable] {
        let durabilities = digest.durabilities
        let outcomes = durabilities.compactMap { outcomeTable(question, $0) }
        switch question {
        case .safe, .deleted, .migrations: return outcomes
        case .fast: return run.header.measures ? durabilities.compactMap(speedTable) : outcomes
        case .large: return run.header.measures ? durabilities.compactMap(sizeTable) : outcomes
        }
    }

    /// What checks and salvages of damaged copies found; may be empty.
    private var salvageLines: [String] {
        let rows = digest.salvageRows
        if rows.isEmpty { return [] }
        let columns = SalvageRow.columns
        var table = TextTable(leftColumns: 2, namesLeftOut: true)
        table.rows.append((["", ""] + columns.map(\.words)).map { TextTable.Cell($0, .faint) })
        table.droppable = columns.indices.filter { !columns[$0].isBad }.map { $0 + 2 }
        for (index, row) in rows.enumerated() {
            let isNew = index == 0 || rows[index - 1].fault != row.fault
            let cells = columns.map { column in
                let count = row.figures[column.count]
                let style: TextStyle = count == 0 ? .faint : (column.isBad ? .bad : .plain)
                return TextTable.Cell(Figure.grouped(count, gap: " "), style)
            }
            table.rows.append([TextTable.Cell(isNew ? row.fault : ""), TextTable.Cell(row.engine)] + cells)
        }
        return ["", " " + styled(RunDigest.salvageQuestion, .strong)]
            + table.lines(width: width, indent: 3, colour: colour)
    }

    /// A table whose first heading names the durability class.
    private func table(_ durability: DurabilityClass, _ heads: [String]) -> TextTable {
        var table = TextTable(leftColumns: 2, namesLeftOut: true)
        table.rows.append(
            [TextTable.Cell(RunDigest.durabilityText(durability), .faint), TextTable.Cell("")]
                + heads.map { TextTable.Cell($0, .faint) })
        return table
    }

    /// The name of a subject, or nothing if the row above has the same subject.
    private func name(_ subject: Subject, after last: Subject?) -> TextTable.Cell {
        TextTable.Cell(subject == last ? "" : digest.shortName(subject))
    }

    private func outcomeTable(_ question: Question, _ durability: DurabilityClass) -> TextTable? {
        let rows = digest.outcomeRows(question).filter {
            $0.trialCount > 0 && $0.subject.durability == durability && !$0.isInGrid
        }
        if rows.isEmpty { return nil }
        let columns = ShownOutcome.allCases.filter { column in
            column != .excess || rows.contains { $0.count(of: column) > 0 }
        }
        var table = table(durability, ["trials"] + columns.map(\.rawValue) + ["promise"])
        // Columns are dropped in this order: optional ones that are all zero, the promises, honest outcomes, and last
        // dishonest outcomes that are all zero.
        let isZero = { (index: Int) in rows.allSatisfy { $0.count(of: columns[index]) == 0 } }
        let unasked = columns.indices.reversed().filter { index in
            ![.correct, .reported, .wrong, .lost].contains(columns[index]) && isZero(index)
        }
        let honest = columns.indices.reversed().filter { !columns[$0].isBad }
        let harmless = columns.indices.reversed().filter(isZero)
        table.droppable = unasked.map { $0 + 3 } + [columns.count + 3] + (honest + harmless).map { $0 + 3 }
        var last: Subject?
        for row in rows {
            var cells = [
                name(row.subject, after: last),
                TextTable.Cell(row.engine + (row.result.isCut ? "\u{2020}" : "")),
                TextTable.Cell(Figure.grouped(row.trialCount, gap: " ")),
            ]
            for column in columns {
                let count = row.count(of: column)
                let style: TextStyle = count == 0 ? .faint : (column.isBad ? .bad : .plain)
                cells.append(TextTable.Cell(Figure.grouped(count, gap: " "), style))
            }
            let isBroken = [.judged(.violation), .judged(.known)].contains(row.standing)
            cells.append(TextTable.Cell(row.shortPromise, isBroken ? .bad : .plain))
            table.rows.append(cells)
            last = row.subject
        }
        return table
    }

    private func speedTable(_ durability: DurabilityClass) -> TextTable? {
        let all = digest.chartRows(durability)
        let peers = all.filter { $0.values.keys.contains { $0 != RunDigest.reference } }
        let rows = peers.isEmpty ? all : peers
        let engines = digest.engines.filter { engine in rows.contains { $0.values[engine] != nil } }
        guard let subject = engines.first else { return nil }
        let hasRatio = rows.contains { digest.ratio($0, of: subject) != nil }
        let hasDecision = rows.contains { digest.ratio($0, of: subject)?.claim != nil }
        let hasLimit = rows.contains { digest.rawLimit($0) != nil }
        let heads =
            engines + (hasRatio ? ["to best peer"] : []) + (hasDecision ? [""] : []) + (hasLimit ? ["of limit"] : [])
        var table = table(durability, heads)
        // If the table is too wide, the limit is dropped first, then the reference, then the other engines from the
        // last on, since the ratio names the best one.
        let others = engines.indices.dropFirst().reversed()
        table.droppable =
            (hasLimit ? [heads.count + 1] : [])
            + (others.filter { engines[$0] == RunDigest.reference }
            + others.filter { engines[$0] != RunDigest.reference })
            .map { $0 + 2 }
        var last: Subject?
        for row in rows {
            var cells = [name(row.subject, after: last), TextTable.Cell(row.measure.words)]
            cells += engines.map { figure(row, $0) }
            let ratio = digest.ratio(row, of: subject)
            if hasRatio { cells.append(ratioCell(ratio, row.measure)) }
            if hasDecision { cells.append(TextTable.Cell(ratio?.claim ?? "", Self.style(ratio))) }
            if hasLimit {
                let limit = digest.rawLimit(row)
                let share = row.values[subject].flatMap { value in limit.map { value.sample.value / $0 } }
                cells.append(TextTable.Cell(share.map { Figure.percent($0, gap: " ") } ?? ""))
            }
            table.rows.append(cells)
            last = row.subject
        }
        return table
    }

    /// The first, the largest and the last size of data and log: from the series of a case, or else from its samples.
    private func sizeTable(_ durability: DurabilityClass) -> TextTable? {
        let growth = digest.comparisons.filter {
            $0.subject.family == .growth && $0.subject.durability == durability
        }
        var table = table(durability, ["at first", "largest", "at last", "live at last"])
        for comparison in growth {
            var last: Subject?
            for engine in digest.engines {
                guard let result = comparison.results[engine] else { continue }
                for (name, sizes) in sizes(result) {
                    table.rows.append(
                        [self.name(comparison.subject, after: last), TextTable.Cell(name)]
                            + sizes.map { size in
                                size.map { TextTable.Cell(Figure.bytes($0, gap: " ")) }
                                    ?? TextTable.Cell("\u{B7}", .faint)
                            })
                    last = comparison.subject
                }
            }
        }
        return table.rows.count > 1 ? table : nil
    }

    private func sizes(_ result: CaseResult) -> [(String, [Double?])] {
        let engine = result.test.engine
        let series = (run.details[result.test.id]?.series ?? []).filter { !$0.points.isEmpty }
        if series.isEmpty {
            let files = result.samples.filter { $0.metric.name == Metric.fileBytes.name }.map(\.value)
            return files.count > 1 ? [(engine, [files.first, files.max(), files.last, nil])] : []
        }
        return series.map { series in
            let totals = series.points.map { Double($0.totalBytes) }
            return (
                series.name.isEmpty || digest.sizeLines.allSatisfy(\.isAlone) ? engine : "\(engine), \(series.name)",
                [totals.first, totals.max(), totals.last, series.points.last?.liveBytes.map(Double.init)]
            )
        }
    }
}
