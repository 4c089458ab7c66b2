import Commands
import FaultModel

/// The results of the trials of `assay damage`, as text and as CSV.
package struct DamageReport: Sendable {
    package let files: DamagedFiles
    package let pageSize: Int
    package let trials: [DamageTrial]

    package init(_ trials: [DamageTrial], files: DamagedFiles, pageSize: Int) {
        self.trials = trials
        self.files = files
        self.pageSize = pageSize
    }

    /// 2 if an output was silently wrong, or a command crashed or hung; 3 without a decision: a command that
    /// noticed no damage at all may never have read the files.
    package var exitStatus: Int32 {
        if trials.contains(where: { !$0.outcome.isHonest }) { return 2 }
        return trials.contains { $0.outcome != .correct } ? 0 : 3
    }

    // MARK: Text

    /// - Parameter repeating: the command that repeats the trial of an address.
    package func lines(repeating: (FileDamage) -> String) -> [String] {
        var lines = table()
        lines += ["", "where (each sign: the gravest of its part of the file)"] + heat() + [legend]
        let findings = self.findings
        if !findings.isEmpty { lines.append("") }
        for trial in findings {
            lines.append("\(trial.outcome.rawValue)  \(trial.damage)  \(place(of: trial.damage))")
            if !trial.detail.isEmpty { lines.append("  \(trial.detail)") }
            lines.append("  \(repeating(trial.damage))")
        }
        return lines + ["", conclusion]
    }

    private var conclusion: String {
        if trials.isEmpty { return "NOTHING WAS DECIDED: no damage could be tried" }
        let bad = trials.count { !$0.outcome.isHonest }
        let count = counted(trials.count, "trial")
        if bad > 0 { return "\(bad) of \(count): wrong output, a crash or a hang" }
        if exitStatus == 3 {
            return "NOTHING WAS DECIDED: none of \(count) changed what the command printed or its status; does it read "
                + "the file that {} names?"
        }
        return "\(count): every damage was without effect, or reported before anything wrong was printed"
    }

    private func table() -> [String] {
        let outcomes = DamageOutcome.allCases.filter { outcome in trials.contains { $0.outcome == outcome } }
        let kinds = FileDamage.Kind.allCases.filter { kind in trials.contains { $0.damage.kind == kind } }
        return TrialTable.lines(
            "fault", columns: outcomes.map(\.rawValue),
            rows: kinds.map { kind in
                let own = trials.filter { $0.damage.kind == kind }
                return (kind.rawValue, outcomes.map { outcome in own.count { $0.outcome == outcome } })
            })
    }

    /// Up to three of each fault and each dishonest outcome.
    private var findings: [DamageTrial] {
        FileDamage.Kind.allCases.flatMap { kind in
            DamageOutcome.allCases.reversed().filter { !$0.isHonest }.flatMap { outcome in
                trials.filter { $0.damage.kind == kind && $0.outcome == outcome }.prefix(3)
            }
        }
    }

    package func place(of damage: FileDamage) -> String { files.place(of: damage.byte, pageSize: pageSize) }

    // MARK: Heat

    package static let heatColumns = 64

    /// A line per file: its bytes in 64 parts, each with the mark of the gravest outcome; a space if none was tried.
    package func heat() -> [String] {
        let shown = files.files.indices.filter { !files.files[$0].bytes.isEmpty }
        let width = shown.map { files.files[$0].name.count }.max() ?? 0
        let untried = [DamageOutcome?](repeating: nil, count: Self.heatColumns)
        var gravest = Array(repeating: untried, count: files.files.count)
        for trial in trials {
            guard let index = files.index(at: trial.damage.byte) else { continue }
            let file = files.files[index]
            let column = (trial.damage.byte - file.start) * Self.heatColumns / file.bytes.count
            gravest[index][column] = max(gravest[index][column] ?? .correct, trial.outcome)
        }
        return shown.map { index in
            let line = String(gravest[index].map { $0?.mark ?? " " })
            return "  \(files.files[index].name.padded(to: width))  |\(line)|"
        }
    }

    private var legend: String {
        let used = DamageOutcome.allCases.filter { outcome in trials.contains { $0.outcome == outcome } }
        return "  " + used.map { "\($0.mark) \($0.rawValue)" }.joined(separator: "   ")
    }

    // MARK: CSV

    package static let columns = ["address", "fault", "file", "page", "offset", "outcome", "detail"]

    /// A row per trial.
    package var rows: [[String]] {
        trials.map { trial in
            let file = files.file(at: trial.damage.byte)
            let offset = trial.damage.byte - (file?.start ?? 0)
            return [
                trial.damage.description, trial.damage.kind.rawValue, file?.name ?? "", String(offset / pageSize),
                String(offset), trial.outcome.rawValue, trial.detail,
            ]
        }
    }
}
