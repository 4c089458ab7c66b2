import Harness
import ProgramTrials
import Seeds

/// Lets one file call of a script on an engine's own files fail, in each possible way: each trial plays the script
/// again in a process of its own, lifts the fault, and opens the database in another process.
///
/// Reported errors are allowed. A failed step has taken effect or not, an acknowledged one has, and the reads of the
/// process that met the error must agree with that. In the class `full` a commit must not be acknowledged if its sync
/// failed and no later sync covers it. Afterwards the database must open and take a transaction, and the engine's own
/// check must find nothing.
struct IOErrors: FaultedScenario {
    let slug = "io-errors"
    let question = "Does an engine report a failed file call, and keep what it acknowledged?"
    let parameters =
        ScriptDraw.parameters() + [
            ScenarioParameter(
                "trials", .effort, default: 120, range: 0...1_000_000, summary: "calls that fail; 0: every call")
        ]

    /// `count` faults, equally many of each kind and effect; all of them where `count` is 0.
    static func faults(_ calls: some CallCounting, count: Int, seed: Seed) -> [CallFault] {
        let choice = FaultChoice(samples: nil, seed: seed)
        let all = choice.inputOutputErrors(CallKind.allCases, calls) + choice.fullDisks(.noSpace, calls)
        return FairChoice(count: count, seed: seed).choose(from: all) { $0.group }
    }

    func run(_ context: CaseContext) throws {
        guard let script = try FaultedScript(context) else { return }
        context.report.note(script.calls.words)
        context.require(script.calls.hasNames ? 1 : 0, "no open of a file was seen: nothing is known of calls by name")
        let faults = Self.faults(
            script.calls, count: try context.integer("trials"), seed: context.seed.derived("faults"))
        try script.sweep(
            faults, "faults", orElse: "the engine made no call to its files that can be made to fail"
        ) { !$0.isKill }
    }
}
