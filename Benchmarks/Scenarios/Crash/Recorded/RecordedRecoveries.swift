import FaultModel
import Files
import Harness
import ProgramTrials

/// Recoveries after a power failure, each by a process of its own under the recorder, so that power can fail during the
/// recovery, too.
struct RecordedRecoveries {
    /// The argument of the process of a recovery.
    static let task = "recover"
    /// Disks that are opened for each recovery.
    private static let statesEach = 16

    private let context: CaseContext
    private let rules: CrashRules
    private var runs: [CrashAddress.Step: TracedRun] = [:]
    /// The disks to open, in the order of the recoveries.
    private(set) var addresses: [CrashAddress] = []

    init(_ context: CaseContext, _ rules: CrashRules) {
        self.context = context
        self.rules = rules
    }

    /// Opens a disk, reads and closes the database, and records the file calls of that recovery. A recovery that fails
    /// is left out, since the trial of that disk reports it; so is a recovery that writes nothing.
    ///
    /// To be called before this process opens an engine.
    mutating func record(from step: CrashAddress.Step, _ image: DiskImage, _ directories: Set<String>) throws {
        guard let library = try RecordedStep.library(for: context) else { return }
        let disk = try RecordedDisk(
            image, directories: directories, at: context.directory + "/recovery-\(runs.count)", context)
        let recovery = try RecordedStep.run(context, [Self.task], at: disk.location, library: library)
        try FileTree.remove(disk.location.directory)
        let hasFailed = try recovery.failure() != nil
        guard !hasFailed, recovery.run.unseen.isEmpty, !recovery.run.operations.isEmpty else { return }
        runs[step] = recovery.run
        addresses += chosen(recovery.run).map { CrashAddress([step, $0]) }
    }

    /// What the recorded process does.
    static func recover(_ context: CaseContext, at location: DatabaseLocation) throws {
        let session = try context.open(location)
        try ScriptTables.session(session).readAll(try ScriptTables.schema(), into: ScriptReading())
        try session.close()
    }

    private func chosen(_ run: TracedRun) -> [CrashAddress.Step] {
        var found: [CrashAddress.Step] = []
        var sweep = CrashSweep(base: run.base, trace: run.operations, rules: rules, seed: context.seed)
        _ = sweep.visit { state in
            found.append(state.step)
            return !context.isOverBudget
        }
        var random = context.random("recovery \(runs.count)")
        let chosen = RecordedSweep.first(Self.statesEach, of: found, in: 0..<(run.operations.count + 1), &random)
        return chosen.sorted { $0.operation < $1.operation }
    }

    /// The disk of an address of one step or two; nil where there is none.
    func disk(at crash: CrashAddress, _ script: inout CrashRebuild) -> DiskImage? {
        if crash.steps.count == 1 { return script.image(at: crash.steps[0]) }
        guard crash.steps.count == 2, let run = runs[crash.steps[0]] else { return nil }
        var rebuild = CrashRebuild(base: run.base, trace: run.operations, profile: rules.profile)
        return rebuild.image(at: crash.steps[1])
    }

    /// The directories at a crash in a recovery; nil for one in the script itself.
    func directories(at crash: CrashAddress) throws -> Set<String>? {
        guard crash.steps.count == 2 else { return nil }
        guard let run = runs[crash.steps[0]] else { throw HarnessError("no recovery was recorded from \(crash)") }
        return run.directories(at: crash.steps[1].operation)
    }

    /// The lost writes of a recovery, in few lines; none for a crash in the script itself.
    func description(of crash: CrashAddress) -> [String] {
        guard crash.steps.count == 2, let run = runs[crash.steps[0]] else { return [] }
        let lines = run.description(of: crash.steps[1], profile: rules.profile)
        return ["then in the recovery \(lines.prefix(4).joined(separator: ", "))"]
    }

    /// For the report; empty where no recovery was recorded.
    var words: String {
        runs.isEmpty ? "" : "\(runs.count) recoveries recorded, \(addresses.count) disks that they may have left"
    }
}
