import Measuring
import RunRecords

extension CaseContext {
    /// Runs a trial for each address in forked children, and adds the trials to the report in the order of the
    /// addresses.
    ///
    /// The scenario calls it before this process opens an engine or starts a thread. `trial` runs in a child: its
    /// changes to memory stay in the child, and its files are in `trialDirectory`. If it throws an `EngineError`, the
    /// trial counts as `detected-at-read` (damage) or `refused`; other errors break the trial, and the judge makes the
    /// case a `harness-error`. At the deadline the sweep stops, and marks the case as cut.
    ///
    /// A replay runs only the one trial that it asks for, and only if that is one of `addresses` or `accepts` admits
    /// it. `directories` are those in which trials keep files outside their own directory; they are inspected for
    /// faults of the machine when a trial fails. `place` describes an address for the readers of a trial that was not
    /// `correct`.
    ///
    /// Returns: the number of trials that ran, which is smaller than that of `addresses` if the case was cut.
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
            // The trial file may have trials before those of this sweep: that of the undamaged copy, or those of
            // another sweep.
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
