import RunRecords

/// Faults for a spreadsheet: a row per engine, fault and durability class, a column per outcome. RFC 4180.
///
/// Outcomes that mean the same to a user share a column. Each column is followed by its share of the trials in percent,
/// which is empty if there are no trials. `verdict` is the gravest of the row's cases, `cut` the number of cases that
/// the budget ended early.
enum FaultCSV {
    static let groups: [OutcomeRow.Group] = [
        .correct, .detected, .repaired, .fellBack, .refused, .lost, .silentlyWrong, .crashed, .hung, .memory, .size,
    ]

    static var columns: [String] {
        ["engine", "engine_version", "fault", "durability", "cases", "cut", "trials"]
            + groups.flatMap { [name($0), "\(name($0))_percent"] } + ["verdict", "promises"]
    }

    private static func name(_ group: OutcomeRow.Group) -> String {
        group.words.split(separator: " ").joined(separator: "_")
    }

    /// Empty if the run tried no faults.
    static func text(_ digest: RunDigest) -> String {
        let rows = digest.faultRows
        if rows.isEmpty { return "" }
        return CSVReport.line(columns)
            + rows.map { row in
                let outcomes = groups.flatMap { group in
                    [String(row.count(group)), row.share(group).map { Figure.exact($0 * 100) } ?? ""]
                }
                return CSVReport.line(
                    [
                        row.engine, row.engineVersion, row.fault, row.durability.rawValue, String(row.cases.count),
                        String(row.cases.count { $0.result.isCut }), String(row.trialCount),
                    ] + outcomes + [row.standing.name, row.promise == Figure.none ? "" : row.promise])
            }.joined()
    }
}

extension Reporting {
    /// Engine, fault and outcome, with counts and shares; empty if the run tried no faults.
    package static func faultsCSV(_ run: Run) -> String {
        FaultCSV.text(RunDigest(run))
    }
}
