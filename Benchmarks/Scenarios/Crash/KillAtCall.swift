import Harness
import ProgramTrials
import RunRecords
import Seeds

/// Kills the process that plays a script on an engine's own files right before or right after one of its file calls
/// (SIGKILL), at as many calls as asked for; then opens the database in another process.
///
/// `kill-mid-write` kills at random times, which seldom hit a call of a microsecond; here each call is hit. The page
/// cache survives the process, so acknowledged commits must be there in every class but `none`.
struct KillAtCall: FaultedScenario {
    let slug = "kill-at-call"
    let question = "Is everything acknowledged there, and nothing torn, after a death at each file call?"
    let parameters =
        ScriptDraw.parameters() + [
            ScenarioParameter(
                "trials", .effort, default: 120, range: 0...1_000_000,
                summary: "calls at which it is killed; 0: before and after every call that changes something")
        ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    static func kills(_ calls: some CallCounting, count: Int, seed: Seed) -> [CallFault] {
        let all = FaultChoice(samples: nil, seed: seed).kills(moments: 0, calls)
        return FairChoice(count: count, seed: seed).choose(from: all) { $0.group }
    }

    func run(_ context: CaseContext) throws {
        let script = try FaultedScript(context, keepsAcknowledged: context.test.durability != .none)
        guard let script else { return }
        context.report.note(script.calls.words)
        context.require(script.calls.hasNames ? 1 : 0, "no open of a file was seen: nothing is known of calls by name")
        let kills = Self.kills(
            script.calls, count: try context.integer("trials"), seed: context.seed.derived("kills"))
        try script.sweep(
            kills, "kills", orElse: "the engine made no call that changes a file", accepts: Self.isAtCall)
    }

    /// Whether a replay may name the fault. The preloaded library, which kills here, knows calls and no moments.
    static func isAtCall(_ fault: CallFault) -> Bool {
        if case .kill = fault { true } else { false }
    }
}
