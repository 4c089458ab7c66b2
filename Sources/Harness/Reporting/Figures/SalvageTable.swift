import RunRecords

/// What one engine's checks and salvages found on copies with one kind of damage, over all cases of a run.
struct SalvageRow {
    var engine: String
    var figures: SalvageFigures
    var cases: [CaseResult]

    /// A column of the table: salvaged rows, or true and false claims.
    struct Column {
        var words: String
        var count: SalvageFigures.Count
        /// Whether a count above zero speaks against the engine.
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

    /// The word of the fault: `zero`.
    var fault: String { figures.fault }
}

extension RunDigest {
    static let salvageQuestion = "What does a salvage get back?"
    static let salvageNote =
        "Copies of a database, each damaged in one place. A check is missed if it reported no damage though a "
        + "read was wrong or refused. Rows are those of all copies: right if as before the damage, partial if they "
        + "lack only values that the salvage reported as lost, missing also if the salvage recovered no row. A claim "
        + "is what the engine reports as lost; some engines report nothing."

    /// A row per fault and engine, faults in the order of their first case; empty if the run salvaged nothing.
    var salvageRows: [SalvageRow] {
        once {
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
}
