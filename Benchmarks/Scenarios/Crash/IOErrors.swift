import Harness
import Measuring
import ProgramTrials
import RunRecords
import Seeds

/// A history on an engine's own files in which one file call fails, in every way that calls fail: each trial plays the
/// history again in a process of its own, the fault is lifted, and another process opens what is left.
///
/// Allowed: every error that is told. A step that failed is done or not, one that was acknowledged is there, and what
/// the failed process itself reads afterwards is one of these. Under `full` nothing is acknowledged whose sync failed
/// and that no later one covers: what a commit wrote itself, and had synced without the fault, is synced with it.
/// Afterwards the database opens, takes a transaction, and the engine's own check finds nothing.
struct IOErrors: Scenario {
    let slug = "io-errors"
    let family = Family.crash
    let question = "Does an engine tell that a file call failed, and keep what it acknowledged all the same?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .deletions]
    // Background work of engines has threads of its own: the N-th call is not the same each time.
    let schedule = Schedule.free
    let expects: Promise.Kind? = .durability
    let parameters = [
        ScenarioParameter(
            "operations", .size, default: 12, range: 1...200,
            summary: "operations that the seed draws, a reopen and a compaction beside them"),
        ScenarioParameter("keys", .size, default: 12, range: 1...10_000, summary: "keys that they are drawn from"),
        ScenarioParameter(
            "trials", .effort, default: 120, range: 0...1_000_000, summary: "calls that fail; 0: every call"),
    ]

    /// Who ends the process rather than go on with a file that fails has lost nothing: a promise is broken where there
    /// is one.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        outcome == .crashed ? .survivesDamage : outcome.brokenPromise(or: expects)
    }

    /// As many faults as wanted, as many of each kind and effect as of the others; all of them where `count` is 0.
    static func faults(_ calls: some CallCounting, count: Int, seed: Seed) -> [CallFault] {
        let choice = FaultChoice(samples: nil, seed: seed)
        let all = choice.inputOutputErrors(CallKind.allCases, calls) + choice.fullDisks(.noSpace, calls)
        return FairChoice(count: count, seed: seed).choose(from: all) { $0.group }
    }

    func run(_ context: CaseContext) throws {
        guard let witness = IOWitness.shared else {
            return context.report.inconclusive("no call can be made to fail: \(Preload.libraryName) is not there")
        }
        var playing = TroubledHistory(
            context, witness, HistoryDraw.everyAction(of: context.test),
            keepsAcknowledged: context.test.durability == .full)
        guard let calls = try playing.playWhole()?.calls else { return }
        let history = playing
        context.report.note(calls.words)
        let faults = Self.faults(calls, count: try context.integer("trials"), seed: context.seed.derived("faults"))
        context.require(faults.count, "the engine made no call to its files that can be made to fail")
        if faults.isEmpty { return }
        let tally = TroubleTally(context, "faults")
        try context.sweep(
            faults.map { FaultAddress(text: "\($0)") }, secondsPerTrial: 90, accepts: Self.isFault
        ) { address in
            guard let fault = CallFault(address.text) else { throw HarnessError("no fault: \(address)") }
            let location = DatabaseLocation(directory: context.trialDirectory + "/database")
            let (outcome, detail) = try history.attempt(HistoryTrouble(fault), at: location, tally)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
        try tally.report(context, why: "the history made fewer calls")
    }

    private static func isFault(_ address: FaultAddress) -> Bool {
        CallFault(address.text).map { !$0.isKill } ?? false
    }
}
