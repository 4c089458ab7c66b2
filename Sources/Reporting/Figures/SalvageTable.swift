import RunRecords

/// The results of one engine's checks and salvages on copies with one kind of damage, over all cases of a run.
struct SalvageRow {
    var engine: String
    var figures: SalvageFigures
    var cases: [CaseResult]

    /// A figure of the table: salvaged rows, or true and false claims.
    struct Column {
        var words: String
        var count: SalvageFigures.Count
        /// Any value above zero counts against the engine.
        var isBad = false
    }

    static let columns = [
        Column(words: "copies", count: .copies), Column(words: "wrong reads", count: .wrongReads, isBad: true),
        Column(words: "checks missed", count: .missedChecks, isBad: true),
        Column(words: "salvaged", count: .salvaged), Column(words: "rows right", count: .rowsRight),
        Column(words: "partial", count: .rowsPartial), Column(words: "wrong", count: .rowsWrong, isBad: true),
        Column(words: "missing", count: .rowsMissing), Column(words: "true claims", count: .trueClaims),
        Column(words: "false", count: .falseClaims, isBad: true),
    ]

    /// Of the fault: `zero`.
    var fault: String { figures.fault }
}

extension RunDigest {
    static let salvageQuestion = "What does a salvage get back?"
    static let salvageNote =
        "Copies of a database, damaged in one place each. A check missed that found nothing where a read was wrong or "
        + "refused. Rows are those of all copies: right as they were, partial where they lack values that are said to "
        + "be lost, missing also where nothing was salvaged. A claim is what the engine says is lost; an engine "
        + "without claims says nothing of it."

    /// A row per fault and engine, faults in the order of the first case; empty for a run without salvages.
    var salvageRows: [SalvageRow] {
        var rows: [SalvageRow] = []
        for result in results {
            for figures in result.salvageFigures {
                let known = rows.firstIndex { $0.engine == result.test.engine && $0.fault == figures.fault }
                if let known {
                    rows[known].figures.add(figures)
                    rows[known].cases.append(result)
                } else {
                    rows.append(SalvageRow(engine: result.test.engine, figures: figures, cases: [result]))
                }
            }
        }
        return Self.unique(rows.map(\.fault)).flatMap { fault in
            engines.compactMap { engine in rows.first { $0.engine == engine && $0.fault == fault } }
        }
    }
}
