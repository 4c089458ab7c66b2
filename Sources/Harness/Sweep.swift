import Measuring
import RunRecords

extension CaseContext {
    /// Runs a trial per address in forked children, and adds them to the report in the order of the addresses.
    ///
    /// Call it before an engine was opened or a thread was started in this process. `trial` runs in a child: what it
    /// changes in memory stays there; its files go to `trialDirectory`. An `EngineError` that it throws counts as
    /// `detected-at-read` (damage) or `refused`; other errors break the trial, and the case's verdict becomes
    /// `harness-error`. At the deadline the sweep stops and the case is marked as cut. A replay of one trial runs
    /// that one only.
    package func sweep(
        _ addresses: [FaultAddress], secondsPerTrial: Double = 5, megabytes: Int = 1_024,
        trial: @escaping (FaultAddress) throws -> Trial
    ) throws {
        let chosen = onlyTrial.map { [$0] } ?? addresses
        report.replayedIndex = onlyTrial.flatMap { addresses.firstIndex(of: $0) }
        let runner = TrialRunner(
            secondsPerTrial: secondsPerTrial, memoryLimitBytes: UInt64(megabytes) << 20, deadline: deadline,
            scratchDirectory: directory)
        let ends = try runner.run(chosen) { address, directory in
            self.trialDirectory = directory
            return try trial(address)
        }
        for (address, end) in zip(chosen, ends) {
            switch end {
            case .tried(let trial)?: report.add(trial)
            case .broken(let reason)?: report.addBroken(address, reason)
            case nil: report.addUntried()
            }
        }
        report.add(.trials, Double(ends.count { $0 != nil }), statistic: "count")
    }
}
