import Commands
import FaultModel
import Files
import Harness
import ProgramTrials
import RunRecords

/// The report of `assay crash` about the disk states that it tried, and the files that it keeps.
struct CrashReport {
    static let columns = ["address", "outcome", "detail"]
    /// The largest number of failing disk states that the report shows, one for each distinct message of the check.
    private static let shownCauses = 5
    private static let shownLines = 12

    private let trial: CrashTrial
    private let isCheckBlind: Bool
    private let keep: String?

    init(_ trial: CrashTrial, isCheckBlind: Bool, keep: String?) {
        self.trial = trial
        self.isCheckBlind = isCheckBlind
        self.keep = keep
    }

    /// A row for each failing disk state.
    static func rows(_ outcome: CrashOutcome) -> [[String]] {
        outcome.findings.map { ["\($0.address)", outcomeWord($0), "the check \($0.ending): \($0.message)"] }
    }

    private static func outcomeWord(_ finding: CrashFinding) -> String { finding.isSteady ? "broken" : "unsteady" }

    /// Returns: the exit status.
    func only(_ address: CrashAddress) throws -> Int32 {
        guard let finding = try trial.look(at: address) else {
            try Output.line("\(address): the check passes")
            for step in address.steps {
                for line in trial.description(of: step) { try Output.line("  \(line)") }
                if let keep {
                    try trial.keep(step, at: keep)
                    try Output.line("kept: \(keep)")
                }
            }
            return 0
        }
        try show(finding, count: 1, place: keep)
        return finding.isSteady ? 2 : 3
    }

    func all(_ outcome: CrashOutcome) throws -> Int32 {
        try Output.line("profile \(trial.rules.profile.rawValue), \(outcome.coverage), checked \(outcome.checked)")
        if isCheckBlind {
            try Output.line(
                "NOTE  the check accepts the directory from before the run with every printed line, too: "
                    + "it does not see a loss")
        }
        let causes = Dictionary(grouping: outcome.findings, by: \.message).values.sorted {
            ($0.count, $1[0].message) > ($1.count, $0[0].message)
        }
        if let keep, !causes.isEmpty { try FileTree.createDirectory(keep) }
        for (number, findings) in causes.prefix(Self.shownCauses).enumerated() {
            let example = findings.first(where: \.isSteady) ?? findings[0]
            try show(example, count: findings.count, place: keep.map { "\($0)/\(number)" })
        }
        if causes.count > Self.shownCauses {
            try Output.line(
                "and \(causes.count - Self.shownCauses) other messages of the check: --csv has all")
        }
        let steady = outcome.findings.count(where: \.isSteady)
        if steady > 0 {
            try Output.line("VERDICT  violation: \(steady) of \(outcome.checked) disks fail")
            return 2
        }
        if !outcome.findings.isEmpty {
            try Output.line("VERDICT  none: checked twice, every failing disk got two different results")
            return 3
        }
        if outcome.isInterrupted {
            try Output.line(
                "VERDICT  none: \(outcome.checked) of \(outcome.chosen) disks pass, and assay did not check the others")
            return 3
        }
        if outcome.checked <= 1 {
            try Output.line("VERDICT  none: the program changed nothing on the disk")
            return 3
        }
        try Output.line("VERDICT  pass: \(outcome.checked) disks")
        return 0
    }

    private func show(_ finding: CrashFinding, count: Int, place: String?) throws {
        try Output.line("")
        try Output.line("\(finding.address)\(count > 1 ? "  and \(count - 1) like it" : "")")
        let lines = finding.address.steps.flatMap { trial.description(of: $0) }
        for line in lines.prefix(Self.shownLines) { try Output.line("  \(line)") }
        if lines.count > Self.shownLines { try Output.line("  and \(lines.count - Self.shownLines) more") }
        try Output.line("  the check \(finding.ending): \(finding.message)")
        if !finding.isSteady { try Output.line("  a second check of the same disk ended in another way") }
        try Output.line("  \(TrialOptions.repeating("\(finding.address)"))")
        guard let place, let step = finding.address.steps.first else { return }
        try trial.keep(step, at: place)
        try Output.line("  kept: \(place)")
    }
}
