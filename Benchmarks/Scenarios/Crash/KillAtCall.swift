import Harness
import Measuring
import ProgramTrials
import RunRecords
import Seeds

/// Kills the process that plays a script on an engine's own files right before or right after one of its file calls
/// (SIGKILL), at as many calls as asked for; then opens the database in another process.
///
/// `kill-mid-write` kills at random times, which seldom hit a call of a microsecond; here each call is hit. The page
/// cache survives the process, so acknowledged commits must be there in every class but `none`.
struct KillAtCall: Scenario {
    let slug = "kill-at-call"
    let family = Family.crash
    let question = "Is everything acknowledged there, and nothing torn, after a death at each file call?"
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
            "trials", .effort, default: 120, range: 0...1_000_000,
            summary: "calls at which it is killed; 0: before and after every call that changes something"),
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    static func kills(_ calls: some CallCounting, count: Int, seed: Seed) -> [CallFault] {
        let all = FaultChoice(samples: nil, seed: seed).kills(moments: 0, calls)
        return FairChoice(count: count, seed: seed).choose(from: all) { $0.group }
    }

    func run(_ context: CaseContext) throws {
        guard let witness = IOWitness.shared else {
            return context.report.inconclusive("\(Preload.libraryName) is not beside the program; build it (make)")
        }
        var playing = FaultedScript(
            context, witness, ScriptDraw.everyAction(of: context.test),
            keepsAcknowledged: context.test.durability != .none)
        guard let calls = try playing.playWhole()?.calls else { return }
        let script = playing
        context.report.note(calls.words)
        let kills = Self.kills(calls, count: try context.integer("trials"), seed: context.seed.derived("kills"))
        context.require(kills.count, "the engine made no call that changes a file")
        if kills.isEmpty { return }
        let tally = FaultTally(context, "kills")
        try context.sweep(
            kills.map { FaultAddress(text: "\($0)") }, secondsPerTrial: 90, accepts: Self.isKillAtCall
        ) { address in
            guard let kill = CallFault(address.text) else { throw HarnessError("no kill: \(address)") }
            let location = DatabaseLocation(directory: context.trialDirectory + "/database")
            let (outcome, detail) = try script.attempt(ScriptFault(kill), at: location, tally)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
        try tally.report(context, why: "the script made fewer calls")
    }

    private static func isKillAtCall(_ address: FaultAddress) -> Bool {
        if case .kill? = CallFault(address.text) { true } else { false }
    }
}
