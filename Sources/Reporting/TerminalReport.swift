import Results

/// The summary at the end of a run: what was asked, the verdict, then each question with the figures that answer it.
struct TerminalReport {
    let digest: RunDigest
    let width: Int
    let colour: Bool

    /// More rows than this of one table are left to the HTML report, and counted.
    static let rowLimit = 16

    private var run: Run { digest.run }
    private var header: RunHeader { digest.run.header }

    var text: String {
        var lines = opening + verdict
        for question in Question.allCases {
            let answer = answer(to: question)
            if !answer.isEmpty {
                lines += [""] + answer
            }
        }
        return (lines + [""] + closing).joined(separator: "\n") + "\n"
    }

    private func styled(_ text: String, _ style: TextStyle) -> String {
        style.applied(to: text, colour: colour)
    }

    // MARK: Opening and closing

    private var opening: [String] {
        let machine = header.machine
        let facts = [
            header.isReleaseBuild ? "release build" : "DEBUG BUILD", machine.fileSystem,
            "fsync honest: \(machine.fsync.rawValue)",
        ].filter { !$0.isEmpty }.joined(separator: ", ")
        var lines = [
            "assay \(header.assayVersion)  plan \(header.plan)  seed \(header.seed)  "
                + "\(Figure.count(header.cases.count, "case", gap: " "))   (\(facts))"
        ]
        let engines = header.engines.map { "\($0.name) \($0.version)" }
        let missing = header.notBuilt.map { "\($0.name): not built (\($0.remedy))" }
        lines += wrapped("engines  ", engines + missing, separator: " \u{B7} ")
        lines += digest.warnings.map { styled("WARNING", .doubt) + "  \($0)" }
        let done = "[\(digest.results.count)/\(header.cases.count)]"
        let worked = Figure.duration(nanoseconds: Double(digest.workedNanoseconds), gap: " ")
        lines.append(
            digest.missing.isEmpty
                ? "\(done) done, cases took \(worked) together"
                : "\(done) STOPPED EARLY: \(Figure.count(digest.missing.count, "case", gap: " ")) not run")
        return lines
    }

    private var closing: [String] {
        let directory = RunDigest.shellWord(run.directory)
        var lines = [
            "Report   \(run.directory)/report.html      Numbers  results.csv",
            "Repeat one   assay replay \(directory) CASE [TRIAL]",
        ]
        if !digest.missing.isEmpty {
            lines.append("Finish   \(digest.resumeCommand)")
        }
        return lines
    }

    private func wrapped(_ lead: String, _ items: [String], separator: String) -> [String] {
        var lines = [lead]
        for (index, item) in items.enumerated() {
            let piece = index == 0 ? item : separator + item
            if index > 0, lines[lines.count - 1].count + piece.count > width {
                lines.append(String(repeating: " ", count: lead.count) + item)
            } else {
                lines[lines.count - 1] += piece
            }
        }
        return items.isEmpty ? [] : lines
    }

    // MARK: Verdict

    private var verdict: [String] {
        var lines: [String] = []
        for engine in digest.engines {
            let results = digest.results(of: engine)
            if results.isEmpty { continue }
            let trials = results.reduce(0) { $0 + $1.trialCount }
            let violations = results.filter { $0.verdict == .violation }.count
            let scope =
                "in \(Figure.count(results.count, "case", gap: " ")) (\(Figure.count(trials, "trial", gap: " ")))"
            let words = violations == 0 ? "no violation" : Figure.count(violations, "violation", gap: " ")
            let others = Standing.order.compactMap { standing -> String? in
                guard case .judged(let verdict) = standing, verdict != .pass, verdict != .violation else { return nil }
                let count = results.filter { $0.verdict == verdict }.count
                return count == 0 ? nil : "\(count) \(standing.words)"
            }
            let lead = lines.isEmpty ? styled("VERDICT", .strong) : "       "
            lines.append(
                "\(lead)  \(engine): \(styled(words, violations == 0 ? .good : .bad)) \(scope)"
                    + (others.isEmpty ? "" : "   " + styled(others.joined(separator: ", "), .doubt)))
        }
        if lines.isEmpty {
            lines = [styled("VERDICT", .strong) + "  none: no case was run"]
        }
        return lines + grave
    }

    /// Every violation and every error of the harness, each with the command that repeats it.
    private var grave: [String] {
        let results = digest.results.filter { $0.verdict == .violation || $0.verdict == .harnessError }
        var lines = results.prefix(Self.rowLimit).flatMap { result -> [String] in
            let standing = Standing.judged(result.verdict)
            let what = [result.outcome?.rawValue ?? "", Self.firstLine(result.message)].filter { !$0.isEmpty }
            return [
                TextTable.shortened(
                    "  \(standing.symbol) \(result.test.engine)  \(digest.name(Subject(result.test)))  "
                        + what.joined(separator: ": "), to: max(40, width)),
                styled(
                    "      \(digest.replayCommand(result.test.id, trial: result.trials.first?.address.text ?? ""))",
                    .faint),
            ]
        }
        if results.count > Self.rowLimit {
            lines.append("  \(results.count - Self.rowLimit) more in the report")
        }
        return lines
    }

    static func firstLine(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }

    // MARK: Questions

    private func answer(to question: Question) -> [String] {
        let tables: [TextTable]
        switch question {
        case .safe, .deleted, .migrations: tables = [outcomeTable(question)].compactMap { $0 }
        case .fast: tables = digest.durabilities.compactMap(speedTable)
        case .large: tables = [sizeTable].compactMap { $0 }
        }
        if tables.isEmpty { return [] }
        var lines: [String] = []
        for (index, var table) in tables.enumerated() {
            let lead = index == 0 ? question.text : ""
            table.rows[0][0] = TextTable.Cell(lead, .strong)
            if table.rows.count > Self.rowLimit + 1 {
                let left = table.rows.count - Self.rowLimit - 1
                table.rows.removeLast(left)
                table.rows.append([TextTable.Cell("  \(left) more rows in the report", .faint)])
            }
            lines += table.lines(width: width, indent: 1, colour: colour)
        }
        return lines
    }

    private func outcomeTable(_ question: Question) -> TextTable? {
        let rows = digest.outcomeRows(question).filter { $0.trialCount > 0 }
        if rows.isEmpty { return nil }
        let columns = RunDigest.columns(rows)
        let named = digest.durabilities.count > 1
        var table = TextTable()
        table.rows.append(
            [TextTable.Cell("")] + (["trials"] + columns.map(\.words) + ["promise"]).map { TextTable.Cell($0, .faint) })
        for row in rows {
            var cells = [
                TextTable.Cell(
                    "  \(row.engine)  \(digest.name(row.subject))" + (named ? ", \(row.subject.durability)" : "")
                        + (row.isCut ? " (cut)" : "")),
                TextTable.Cell(Figure.grouped(row.trialCount, gap: " ")),
            ]
            for column in columns {
                let count = row.count(column)
                let style: TextStyle = count == 0 ? .faint : (column.isBad ? .bad : .plain)
                cells.append(TextTable.Cell(count == 0 ? "\u{B7}" : Figure.grouped(count, gap: " "), style))
            }
            cells.append(TextTable.Cell(row.promise, row.promise == "broken" ? .bad : .plain))
            table.rows.append(cells)
        }
        return table
    }

    private func speedTable(_ durability: DurabilityClass) -> TextTable? {
        let rows = digest.rows(of: .speed, durability).filter { row in
            row.measure.metric.direction == .higherIsBetter
                || row.measure.metric.name == Metric.operationNanoseconds.name
        }
        if rows.isEmpty { return nil }
        let engines = digest.engines.filter { engine in rows.contains { $0.values[engine] != nil } }
        let subject = engines[0]
        let hasRatio = rows.contains { $0.ratio(of: subject) != nil }
        let hasLimit = rows.contains { digest.rawLimit($0.measure.metric, durability) != nil }
        var table = TextTable()
        let heads =
            engines + (hasRatio ? ["\(subject) to best peer"] : []) + (hasLimit ? ["of raw limit"] : [])
        table.rows.append([TextTable.Cell("")] + heads.map { TextTable.Cell($0, .faint) })
        table.rows.append([TextTable.Cell("  (\(RunDigest.durabilityText(durability)))", .faint)])
        for row in rows {
            let metric = row.measure.metric
            var cells = [TextTable.Cell("  \(row.measure.words), \(digest.name(row.subject))")]
            cells += engines.map { engine in
                TextTable.Cell(
                    row.values[engine].map { Figure.text($0.sample.value, unit: metric.unit, gap: " ") } ?? "\u{B7}")
            }
            if hasRatio {
                cells.append(TextTable.Cell(row.ratio(of: subject).map { Figure.ratio($0.value) } ?? ""))
            }
            if hasLimit, let own = row.values[subject]?.sample.value {
                let limit = digest.rawLimit(metric, durability)
                cells.append(TextTable.Cell(limit.map { Figure.percent(own / $0) } ?? ""))
            }
            table.rows.append(cells)
        }
        return table
    }

    /// From each series the size at first, at its largest and at last.
    private var sizeTable: TextTable? {
        let lines = digest.sizeLines.filter { $0.subject.family == .growth }
        if lines.isEmpty { return nil }
        var table = TextTable()
        table.rows.append(
            [TextTable.Cell("")]
                + ["at first", "largest", "at last", "live at last"].map { TextTable.Cell($0, .faint) })
        for line in lines {
            guard let first = line.series.points.first, let last = line.series.points.last else { continue }
            let largest = line.series.points.map(\.fileBytes).max() ?? 0
            let name = "  \(line.engine)  \(digest.name(line.subject))"
            table.rows.append(
                [TextTable.Cell(line.isAlone ? name : "\(name), \(line.series.name)")]
                    + [first.fileBytes, largest, last.fileBytes].map {
                        TextTable.Cell(Figure.bytes(Double($0), gap: " "))
                    } + [TextTable.Cell(last.liveBytes.map { Figure.bytes(Double($0), gap: " ") } ?? "\u{B7}")])
        }
        return table
    }
}
