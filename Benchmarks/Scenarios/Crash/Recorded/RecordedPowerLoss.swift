import CaseFiles
import FaultModel
import Harness
import Measuring
import ProgramTrials
import RunRecords

/// Random operations on a table, done by a process on a real file system under the recorder, and every disk opened that
/// a loss of power may have left of them: what `storage-history` does to Strata alone, for every engine.
///
/// What is read after a crash must be what one transaction left, whole: under `full` at least the last one
/// acknowledged, and in every class at most the last one begun. The engine's own checker must find nothing. Where the
/// class lets acknowledged transactions go, the disks without them are counted and told of. From some of the disks a
/// process of its own recovers, under the recorder as well, and power goes again.
struct RecordedPowerLoss: Scenario {
    let slug = "recorded-power-loss"
    let family = Family.crash
    let question = "Is everything acknowledged there, and nothing torn, after power went under any engine?"
    let requires: Set<Capability> = [.tables, .persistent, .updates, .deletions]
    // Background work of engines has threads of its own.
    let schedule = Schedule.free
    let expects: Promise.Kind? = .durability
    let restsOnSyncs = true
    let parameters = [
        ScenarioParameter(
            "operations", .size, default: 24, range: 1...2_000,
            summary: "operations that the seed draws, a reopen and a compaction beside them"),
        ScenarioParameter("keys", .size, default: 12, range: 1...10_000, summary: "keys that they are drawn from"),
        ScenarioParameter(
            "profile", default: CrashProfile.ext4Ordered.rawValue, allowed: CrashProfile.allCases.map(\.rawValue),
            summary: "what a file system keeps of what was not synced"),
        ScenarioParameter(
            "states", .effort, default: 12, range: 1...100_000,
            summary: "disks opened at most before and after each acknowledgement"),
        ScenarioParameter(
            "total", .effort, default: 300, range: 10...10_000_000, summary: "disks opened at most in all"),
        ScenarioParameter(
            "recoveries", .effort, default: 3, range: 0...10_000,
            summary: "disks of these whose recovery is recorded, for power to go in it as well"),
    ]

    /// Of what a power loss breaks beside durability: a database that cannot be read is no whole transaction.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome == .lostCommit ? .durability : .atomicity }

    /// An engine that says what it does not promise in a class is not held to it there.
    func isMeant(_ promise: Promise, for test: Case) -> Bool {
        if promise.kind == .durability && test.durability != .full { return false }
        return promise.isKeptAtPowerLoss(in: test.durability)
    }

    func runStep(_ arguments: [String], _ context: CaseContext) throws {
        guard let location = context.fixture else { throw HarnessError("a history needs a place") }
        if arguments.first == RecordedRecoveries.task { return try RecordedRecoveries.recover(context, at: location) }
        try PlayedHistory(HistoryDraw.everyAction(of: context.test)).play(context, at: location)
    }

    func run(_ context: CaseContext) throws {
        guard let executable = context.executable else { throw HarnessError("steps need the program of the worker") }
        guard let library = RecordedStep.library(besides: executable) else {
            context.report.inconclusive("\(Preload.libraryName) is not beside the program: nothing can be recorded")
            return
        }
        let history = PlayedHistory(HistoryDraw.everyAction(of: context.test))
        let location = try context.emptyLocation("recorded")
        let step = try RecordedStep.run(context, [], at: location, library: library)
        if let failure = try step.failure() {
            context.report.add(
                Trial(
                    address: FaultAddress(text: "history"), outcome: failure.outcome, detail: failure.detail,
                    signal: failure.signal))
            return
        }
        if !step.run.unseen.isEmpty {
            let reasons = step.run.unseen.prefix(3).joined(separator: "; ")
            context.report.inconclusive("not all that \(context.engine.name) did to its files was seen: \(reasons)")
            return
        }
        let marks: CrashMarks
        do { marks = try history.marks(in: step.run) } catch let doubt as RecordDoubt {
            return context.report.inconclusive("\(doubt)")
        }
        try RecordedSweep(step.run, marks, history.contents, context).run()
    }
}
