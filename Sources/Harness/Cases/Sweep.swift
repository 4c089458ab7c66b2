import Measuring
import RunRecords

extension CaseContext {
    /// Runs a trial per address in forked children, and adds them to the report in the order of the addresses.
    ///
    /// Call it before an engine was opened or a thread was started in this process. `trial` runs in a child: what it
    /// changes in memory stays there; its files go to `trialDirectory`. An `EngineError` that it throws counts as
    /// `detected-at-read` (damage) or `refused`; other errors break the trial, and the case's verdict becomes
    /// `harness-error`. At the deadline the sweep stops and the case is marked as cut.
    ///
    /// A replay runs only the one trial it asks for, if `accepts` admits its address: by default one of `addresses`.
    /// `directories`: where trials keep files outside their own directory, inspected when a trial fails. `place`: what
    /// the address means, for readers of a trial that was not `correct`.
    ///
    /// Returns: trials that were run; fewer than `addresses` where the case was cut.
    @discardableResult package func sweep(
        _ addresses: [FaultAddress], secondsPerTrial: Double = 5, megabytes: Int = 1_024,
        accepts: ((FaultAddress) -> Bool)? = nil, directories: [String] = [], place: ((FaultAddress) -> String)? = nil,
        trial: @escaping (FaultAddress) throws -> Trial
    ) throws -> Int {
        var chosen = addresses
        if let onlyTrial {
            let index = addresses.firstIndex(of: onlyTrial)
            guard index != nil || accepts?(onlyTrial) == true else {
                report.replayed?.decline(addresses.prefix(1))
                report.leaveOut(addresses.count)
                return 0
            }
            // Other trials may precede the sweep in the trial file: that of the undamaged copy, those of another sweep.
            report.replayed?.accept(index: index.map { report.nextPlace + $0 })
            chosen = [onlyTrial]
        }
        report.noteSweep(chosen)
        var runner = TrialRunner(
            secondsPerTrial: secondsPerTrial, memoryLimitBytes: UInt64(megabytes) << 20, deadline: deadline,
            scratchDirectory: directory)
        runner.watchedDirectories = directories
        let ends = try runner.run(chosen) { address, directory in
            self.trialDirectory = directory
            return try trial(address)
        }
        for (address, end) in zip(chosen, ends) {
            switch end {
            case .tried(var trial)?:
                if let place, trial.outcome != .correct { trial.detail = "\(place(address)): \(trial.detail)" }
                report.add(trial)
            case .broken(let reason)?: report.addBroken(address, reason)
            case nil: report.addUntried()
            }
        }
        report.leaveOut(addresses.count - chosen.count)
        let tried = ends.count { $0 != nil }
        report.add(.trials, Double(tried), statistic: "count")
        if chosen.isEmpty { report.inconclusive("there was nothing to be tried") }
        return tried
    }
}
