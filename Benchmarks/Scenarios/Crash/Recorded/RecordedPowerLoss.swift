import CaseFiles
import Harness
import ProgramTrials
import RunRecords

/// A process runs random operations on a table, on a real file system under the recorder; every possible disk after a
/// power failure is opened. `storage-history` does the same on the simulated disk, for Strata alone; this scenario is
/// for every engine.
///
/// A read after a crash must give the state after one transaction, as a whole: in the class `full` at least the last
/// acknowledged one, and in every class at most the last begun one. The engine's own check must find nothing. If the
/// class allows acknowledged transactions to be lost, the disks that lack some are counted. Recoveries of some disks
/// run in processes of their own under the recorder, so that power can fail during the recovery, too.
struct RecordedPowerLoss: FaultedScenario {
    let slug = "recorded-power-loss"
    let question = "Is everything acknowledged there, and nothing torn, after power went under any engine?"
    let restsOnSyncs = true
    let parameters =
        ScriptDraw.parameters(operations: 24, upTo: 2_000) + [
            RecordedSweep.profile,
            ScenarioParameter(
                "states", .effort, default: 12, range: 1...100_000,
                summary: "disks opened at most before and after each acknowledgement"),
            ScenarioParameter(
                "total", .effort, default: 300, range: 10...10_000_000, summary: "disks opened at most in all"),
            ScenarioParameter(
                "recoveries", .effort, default: 3, range: 0...10_000,
                summary: "disks whose recovery is recorded too, for power to go during it"),
        ]

    /// Besides durability a power failure can break atomicity: a database that cannot be read is not a whole
    /// transaction.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome == .lostCommit ? .durability : .atomicity }

    func runStep(_ arguments: [String], _ context: CaseContext) throws {
        guard let location = context.fixture else { throw HarnessError("a script needs the location of a database") }
        if arguments.first == RecordedRecoveries.task { return try RecordedRecoveries.recover(context, at: location) }
        try PlayedScript(ScriptDraw.everyAction(of: context.test)).play(context, at: location)
    }

    func run(_ context: CaseContext) throws {
        guard let library = try RecordedStep.library(for: context) else { return }
        let script = PlayedScript(ScriptDraw.everyAction(of: context.test))
        let location = try context.emptyLocation("recorded")
        let step = try RecordedStep.run(context, [], at: location, library: library)
        if let failure = try step.failure() {
            context.report.add(
                Trial(
                    address: FaultAddress(text: "history"), outcome: failure.outcome, detail: failure.detail,
                    signal: failure.signal))
            return
        }
        guard step.sawAll(context) else { return }
        let marks: CrashMarks
        do { marks = try script.marks(in: step.run) } catch let doubt as RecordDoubt {
            return context.report.inconclusive("\(doubt)")
        }
        try RecordedSweep(step.run, marks, contents: script.contents, context: context).run()
    }
}
