import RunRecords

/// Runs of an archive for a terminal: all of them as a table, or one with its figures.
enum RecordedRunText {
    static func list(
        _ runs: [(run: RecordedRun, caseCount: Int, figureCount: Int)], width: Int, colour: Bool
    ) -> String {
        if runs.isEmpty { return "no run yet: assay history add RUN\n" }
        var table = TextTable()
        table.leftColumns = 2
        table.droppable = [6, 3, 2]
        let head = ["run", "commit", "branch", "host", "plan", "cases", "figures"]
        table.rows = [head.map { TextTable.Cell($0, .faint) }]
        for (run, caseCount, figureCount) in runs {
            table.rows.append([
                .init(run.id), .init(run.shortCommit), .init(run.branch), .init(run.machine.host), .init(run.plan),
                .init(String(caseCount)), .init(String(figureCount)),
            ])
        }
        return table.lines(width: width, indent: 0, colour: colour).joined(separator: "\n") + "\n"
    }

    static func text(_ run: RecordedRun, width: Int, colour: Bool) -> String {
        let machine = run.machine
        var lines = [
            TextStyle.strong.applied(to: run.id, colour: colour),
            "  started   \(Figure.time(run.startTime))", "  plan      \(run.plan), seed \(run.seed)",
            "  commit    \(run.shortCommit)\(run.branch.isEmpty ? "" : ", \(run.branch)")",
            "  build     assay \(run.assayVersion), \(run.buildDigest)",
            "  machine   \(machine.host), \(machine.processor), \(machine.coreCount) cores, \(machine.system), "
                + machine.fileSystem,
            "  digest    \(run.digest)",
        ]
        for recorded in run.cases {
            let head = "\(recorded.test.title)  (\(recorded.test.engine) \(recorded.engineVersion), "
            lines += ["", head + "case \(recorded.test.id): \(recorded.verdict.shownWord))"]
            var table = TextTable()
            table.rows = recorded.figures.map { figure in
                let unit = figure.name.metric.unit
                let ratios = figure.ratios.map { TrendWords.words($0, figure.name) }
                return [
                    .init(figure.name.text), .init(Figure.text(figure.value, unit: unit, gap: " ")),
                    .init(ratios.joined(separator: ", "), .faint),
                ]
            }
            table.droppable = [2]
            lines += table.lines(width: width, indent: 2, colour: colour)
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Reporting {
    /// All runs of an archive, for a terminal of `width` columns.
    package static func terminal(
        _ runs: [(run: RecordedRun, caseCount: Int, figureCount: Int)], width: Int, colour: Bool
    ) -> String {
        RecordedRunText.list(runs, width: width, colour: colour)
    }

    /// One run of an archive with its figures.
    package static func terminal(_ run: RecordedRun, width: Int, colour: Bool) -> String {
        RecordedRunText.text(run, width: width, colour: colour)
    }
}
