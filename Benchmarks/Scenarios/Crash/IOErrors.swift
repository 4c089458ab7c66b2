import Harness
import Measuring
import ProgramTrials
import RunRecords
import Seeds

/// Lets one file call of a script on an engine's own files fail, in each possible way: each trial plays the script
/// again in a process of its own, lifts the fault, and opens the database in another process.
///
/// Reported errors are allowed. A failed step has taken effect or not, an acknowledged one has, and the reads of the
/// process that met the error must agree with that. In the class `full` a commit must not be acknowledged if its sync
/// failed and no later sync covers it. Afterwards the database must open and take a transaction, and the engine's own
/// check must find nothing.
struct IOErrors: Scenario {
    let slug = "io-errors"
    let family = Family.crash
    let question = "Does an engine report a failed file call, and keep what it acknowledged?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .deletions]
    // Background threads of engines make the N-th call another one in each run.
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

    /// An engine that ends the process instead of using a failing file loses no data: that breaks a promise only where
    /// it is made.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        outcome == .crashed ? .survivesDamage : outcome.brokenPromise(or: expects)
    }

    /// `count` faults, equally many of each kind and effect; all of them where `count` is 0.
    static func faults(_ calls: some CallCounting, count: Int, seed: Seed) -> [CallFault] {
        let choice = FaultChoice(samples: nil, seed: seed)
        let all = choice.inputOutputErrors(CallKind.allCases, calls) + choice.fullDisks(.noSpace, calls)
        return FairChoice(count: count, seed: seed).choose(from: all) { $0.group }
    }

    func run(_ context: CaseContext) throws {
        guard let witness = IOWitness.shared else {
            return context.report.inconclusive("\(Preload.libraryName) is not beside the program; build it (make)")
        }
        var playing = FaultedScript(
            context, witness, ScriptDraw.everyAction(of: context.test),
            keepsAcknowledged: context.test.durability == .full)
        guard let calls = try playing.playWhole()?.calls else { return }
        let script = playing
        context.report.note(calls.words)
        let faults = Self.faults(calls, count: try context.integer("trials"), seed: context.seed.derived("faults"))
        context.require(faults.count, "the engine made no call to its files that can be made to fail")
        if faults.isEmpty { return }
        let tally = FaultTally(context, "faults")
        try context.sweep(
            faults.map { FaultAddress(text: "\($0)") }, secondsPerTrial: 90, accepts: Self.isFault
        ) { address in
            guard let fault = CallFault(address.text) else { throw HarnessError("no fault: \(address)") }
            let location = DatabaseLocation(directory: context.trialDirectory + "/database")
            let (outcome, detail) = try script.attempt(ScriptFault(fault), at: location, tally)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
        try tally.report(context, why: "the script made fewer calls")
    }

    private static func isFault(_ address: FaultAddress) -> Bool {
        CallFault(address.text).map { !$0.isKill } ?? false
    }
}
