import Harness
import RunRecords

/// A scenario in which a fault meets a process that plays a drawn script on an engine's own files. What the engine
/// acknowledged must be there afterwards.
protocol FaultedScenario: Scenario {}

extension FaultedScenario {
    var family: Family { .crash }
    var requires: Set<Capability> { [.tables, .persistent, .updates, .deletions] }
    // Background threads of engines make the N-th call another one in each run.
    var schedule: Schedule { .free }
    var expects: Promise.Kind? { .durability }

    /// An engine that ends the process instead of using a failing file loses no data: that breaks a promise only where
    /// it is made.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        outcome == .crashed ? .survivesDamage : outcome.brokenPromise(or: expects)
    }

    /// An engine whose documentation excludes a power failure in a class is not judged by the promise there.
    func isMeant(_ promise: Promise, for test: Case) -> Bool {
        if !restsOnSyncs { return true }
        if promise.kind == .durability && test.durability != .full { return false }
        return promise.isKeptAtPowerLoss(in: test.durability)
    }
}

extension CaseContext {
    /// Runs a trial for each fault, which its description names. `read` gives the fault of a description, which may be
    /// that of a replay; `reason` says why there are none, which makes the case inconclusive.
    ///
    /// - Returns: whether there were any.
    func sweep<Fault: CustomStringConvertible>(
        _ faults: [Fault], orElse reason: String, secondsPerTrial: Double = 90, read: @escaping (String) -> Fault?,
        attempt: @escaping (Fault) throws -> (outcome: Outcome, detail: String)
    ) throws -> Bool {
        require(faults.count, reason)
        if faults.isEmpty { return false }
        try sweep(
            faults.map { FaultAddress(text: "\($0)") }, secondsPerTrial: secondsPerTrial,
            accepts: { read($0.text) != nil }
        ) { address in
            guard let fault = read(address.text) else { throw HarnessError("no fault: \(address)") }
            let (outcome, detail) = try attempt(fault)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
        return true
    }
}
