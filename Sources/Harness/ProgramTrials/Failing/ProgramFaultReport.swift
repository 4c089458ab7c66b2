import Commands

/// The results of the trials of `assay eio`, `full` and `kill`, as text and as CSV.
package struct ProgramFaultReport: Sendable {
    package let trials: [ProgramFaultTrial]
    package let baseline: ProgramFaultTrials.Baseline
    /// Whether a program must end with another status than 0 if one of its calls failed.
    package let mustTell: Bool

    package init(_ trials: [ProgramFaultTrial], _ baseline: ProgramFaultTrials.Baseline, mustTell: Bool) {
        self.trials = trials
        self.baseline = baseline
        self.mustTell = mustTell
    }

    private var violations: [ProgramFaultTrial] { trials.filter { $0.outcome.isViolation(mustTell: mustTell) } }
    private var unstruck: Int { trials.count { $0.outcome == .notStruck } }
    /// Calls that no fault can strike, and that were not tried for this reason.
    private var unreached: Int { baseline.state.unseen + baseline.state.streams + baseline.past.count }

    /// 2 for a violation; 3 if a fault did not strike, if the program has calls that no fault can strike, or without a
    /// trial.
    package var exitStatus: Int32 {
        if !violations.isEmpty { return 2 }
        return unstruck > 0 || unreached > 0 || trials.isEmpty ? 3 : 0
    }

    // MARK: Text

    /// - Parameter repeating: the command that repeats the trial of an address.
    package func lines(repeating: (CallFault) -> String) -> [String] {
        var lines = table()
        let findings = self.findings
        if !findings.isEmpty { lines.append("") }
        for trial in findings {
            lines.append("\(trial.outcome.rawValue)  \(trial.fault)")
            lines.append("  \(trial.detail)")
            lines.append("  \(repeating(trial.fault))")
        }
        return lines + [""] + notes + [conclusion]
    }

    private var notes: [String] {
        var notes: [String] = []
        let state = baseline.state
        if baseline.isCheckBlind {
            notes.append(
                "note: the check accepts the directory from before the run, too: it does not see that something is "
                    + "lost")
        }
        if state.maps > 0 {
            notes.append("note: \(state.maps) shared writable maps: what is stored through them cannot fail as a call")
        }
        if state.streams > 0 {
            notes.append(
                "NOT TRIED: \(state.streams) streams of the C library (fopen) write to files, and their calls cannot "
                    + "be made to fail")
        }
        if state.unseen > 0 {
            notes.append("NOT TRIED: \(state.unseen) system calls by number, and io_uring: they cannot be made to fail")
        }
        for what in baseline.past { notes.append("NOT TRIED: \(what)") }
        if unstruck > 0 {
            notes.append(
                "NOT DECIDED: \(unstruck) of \(trials.count) faults never struck: the program took another way than "
                    + "without a fault")
        }
        return notes
    }

    private var conclusion: String {
        if trials.isEmpty { return "NOTHING WAS DECIDED: the program makes no such call" }
        let count = counted(trials.count, "trial")
        if !violations.isEmpty { return "\(violations.count) of \(count): \(kinds)" }
        return "every promise was kept in \(count)" + (exitStatus == 3 ? ", but not all was tried" : "")
    }

    /// The violations, as text.
    private var kinds: String {
        let words: [(ProgramFaultOutcome, String)] = [
            (.broken, "a check that fails"), (.crashed, "a crash"), (.hung, "a hang"),
            (.notNoticed, "a failed call that was not reported"),
        ]
        let found = words.filter { word in violations.contains { $0.outcome == word.0 } }.map(\.1)
        guard let last = found.last, found.count > 1 else { return found.joined() }
        return found.dropLast().joined(separator: ", ") + " or \(last)"
    }

    private func table() -> [String] {
        let outcomes = ProgramFaultOutcome.allCases.filter { outcome in trials.contains { $0.outcome == outcome } }
        var groups: [String] = []
        for trial in trials where !groups.contains(trial.fault.group) { groups.append(trial.fault.group) }
        return TrialTable.lines(
            "fault", columns: outcomes.map(\.rawValue),
            rows: groups.map { group in
                let own = trials.filter { $0.fault.group == group }
                return (group, outcomes.map { outcome in own.count { $0.outcome == outcome } })
            })
    }

    /// Up to three of each fault and each outcome that is a violation; and one that was never struck.
    private var findings: [ProgramFaultTrial] {
        var shown: [String: Int] = [:]
        return trials.filter { trial in
            let isViolation = trial.outcome.isViolation(mustTell: mustTell)
            guard isViolation || trial.outcome == .notStruck else { return false }
            let key = "\(trial.fault.group) \(trial.outcome)"
            shown[key, default: 0] += 1
            return shown[key, default: 0] <= (isViolation ? 3 : 1)
        }
    }

    // MARK: CSV

    package static let columns = ["address", "fault", "outcome", "violation", "detail"]

    /// A row per trial.
    package var rows: [[String]] {
        trials.map { trial in
            let isViolation = trial.outcome.isViolation(mustTell: mustTell)
            return [
                trial.fault.description, trial.fault.group, trial.outcome.rawValue, isViolation ? "yes" : "no",
                trial.detail,
            ]
        }
    }
}
