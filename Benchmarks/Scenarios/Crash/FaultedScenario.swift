import Harness
import RunRecords

/// A scenario in which a process plays a drawn script on an engine's own files under a fault: a failing call, a limit,
/// a kill or a power failure. The scenario then compares the database with what the engine acknowledged.
protocol FaultedScenario: Scenario {}

extension FaultedScenario {
    var family: Family { .crash }
    var requires: Set<Capability> { [.tables, .persistent, .updates, .deletions] }
    // Background threads of the engine make their calls at other moments in each run, so that the N-th call differs.
    var schedule: Schedule { .free }
    var expects: Promise.Kind? { .durability }

    /// An engine that ends its process instead of using a failing file loses no data. It breaks the promise to survive
    /// damage, if it makes that promise.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        outcome == .crashed ? .survivesDamage : outcome.brokenPromise(or: expects)
    }

    /// If the scenario cuts power: whether the engine's documentation extends the promise to a power failure in the
    /// case's durability class. The scenario tests durability in the class `full` alone.
    func isMeant(_ promise: Promise, for test: Case) -> Bool {
        if !restsOnSyncs { return true }
        if promise.kind == .durability && test.durability != .full { return false }
        return promise.isKeptAtPowerLoss(in: test.durability)
    }
}

extension CaseContext {
    /// As ``sweep(_:secondsPerTrial:read:attempt:)``. Without faults the case is inconclusive for the given reason.
    ///
    /// - Returns: whether `faults` had any.
    func sweep<Fault: CustomStringConvertible>(
        _ faults: [Fault], orElse reason: String, secondsPerTrial: Double = 90, read: @escaping (String) -> Fault?,
        attempt: @escaping (Fault) throws -> (outcome: Outcome, detail: String)
    ) throws -> Bool {
        require(faults.count, reason)
        if faults.isEmpty { return false }
        try sweep(faults, secondsPerTrial: secondsPerTrial, read: read, attempt: attempt)
        return true
    }

    /// Runs a trial for each fault, whose description is the address of the trial. `read` parses an address, which a
    /// replay may name; it returns nil for one that the scenario does not try.
    func sweep<Fault: CustomStringConvertible>(
        _ faults: [Fault], secondsPerTrial: Double = 90, read: @escaping (String) -> Fault?,
        attempt: @escaping (Fault) throws -> (outcome: Outcome, detail: String)
    ) throws {
        try sweep(
            faults.map { FaultAddress(text: "\($0)") }, secondsPerTrial: secondsPerTrial,
            accepts: { read($0.text) != nil }
        ) { address in
            guard let fault = read(address.text) else { throw HarnessError("no fault: \(address)") }
            let (outcome, detail) = try attempt(fault)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
    }
}
