import CaseFiles
import FaultModel
import Files
import Harness
import Measuring
import ProgramTrials
import RunRecords

/// A sync of a script fails, the kernel drops the pages that it should have written, and then power fails.
///
/// Linux reports a write error once, marks the pages clean, and lets the next sync succeed without them, while reads
/// still return them from memory. An engine that retries the sync, or reopens the file and trusts its reads, then
/// acknowledges data that is on no disk. Here a process plays the script on an engine's own files under the recorder,
/// and one sync fails. Every disk that is opened afterwards lacks what that sync should have written, unless it was
/// written again later.
struct SyncFails: FaultedScenario {
    let slug = "sync-fails"
    let question = "After a sync failed, is what is acknowledged later still there when the power goes?"
    let restsOnSyncs = true
    let parameters =
        ScriptDraw.parameters() + [
            RecordedSweep.profile,
            ScenarioParameter(
                "trials", .effort, default: 60, range: 0...100_000, summary: "syncs that fail; 0: every sync"),
            ScenarioParameter(
                "disks", .effort, default: 12, range: 1...10_000, summary: "disks that are opened of each trial"),
        ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        case .crashed: .survivesDamage
        case .lostCommit: .durability
        default: .atomicity
        }
    }

    /// Plays the script, with the fault named by the first argument.
    func runStep(_ arguments: [String], _ context: CaseContext) throws {
        guard let location = context.fixture else { throw HarnessError("a script needs the location of a database") }
        guard let witness = IOWitness.shared, witness.setFault(arguments.first) else {
            throw HarnessError("the preloaded library does not know the fault \(arguments.first ?? "")")
        }
        func tell(_ event: ScriptEvent) throws { try PlayedScript.say("\(event.line)\n") }
        var player = ScriptPlayer(
            context, at: location, ScriptDraw.everyAction(of: context.test), ScriptFault(), tell: tell)
        try player.play()
        try tell(.counted(CallKind.sync.rawValue, witness.faultCount(CallKind.sync.rawValue)))
    }

    func run(_ context: CaseContext) throws {
        guard let library = try RecordedStep.library(for: context) else { return }
        try SyncFailureTrials(context, library).run()
    }
}

private struct SyncFailureTrials {
    private let context: CaseContext
    private let library: String
    private let operations: [ScriptOperation]

    init(_ context: CaseContext, _ library: String) {
        self.context = context
        self.library = library
        operations = ScriptDraw.everyAction(of: context.test)
    }

    func run() throws {
        let location = try context.emptyLocation("whole")
        let whole = try FailedSyncRun(context, at: location, fault: nil, library: library, in: context.directory)
        guard whole.step.sawAll(context) else { return }
        if let text = try whole.failureWithoutFault() {
            context.report.add(Trial(address: FaultAddress(text: "history"), outcome: .refused, detail: text))
            return
        }
        let syncs = whole.count(CallKind.sync.rawValue)
        context.report.note("\(syncs) syncs in a script of \(operations.count) operations")
        let (struck, unstruck) = (TrialTally(context, "struck"), TrialTally(context, "unstruck"))
        let disks = TrialTally(context, "disks")
        let isSwept = try context.sweep(
            try chosen(syncs), orElse: "the engine made no sync that could fail", secondsPerTrial: 120, read: Self.fault
        ) { fault in
            let (outcome, detail, isStruck) = try attempt(fault, disks)
            try (isStruck ? struck : unstruck).add()
            return (outcome, detail)
        }
        if isSwept { try report(struck: struck.count(), unstruck: unstruck.count(), disks: disks.count()) }
    }

    private static func fault(_ text: String) -> CallFault? {
        let fault = CallFault(text)
        guard case .fails(CallKind.sync.rawValue, _, .inputOutputError, _)? = fault else { return nil }
        return fault
    }

    private func chosen(_ syncs: Int) throws -> [CallFault] {
        var numbers = Array(0..<syncs)
        let count = try context.integer("trials")
        if count > 0, count < syncs {
            var random = context.random("syncs")
            numbers = random.permutation(of: syncs).prefix(count).sorted()
        }
        return numbers.map {
            .fails(kinds: CallKind.sync.rawValue, number: $0, effect: .inputOutputError, isLasting: false)
        }
    }

    private func report(struck: Int, unstruck: Int, disks: Int) throws {
        let all = struck + unstruck
        context.report.add(.faultsStruck, Double(struck), statistic: "count", label: "of \(all) trials")
        context.report.note("\(struck) of \(all) syncs failed, and \(disks) disks were opened after that")
        if unstruck > 0 { context.report.note("NOT STRUCK: \(unstruck) of \(all): the script made fewer syncs") }
        context.require(struck, "no sync failed: nothing is known")
        context.require(disks, "no disk was opened: nothing is known")
        if unstruck > struck { context.require(0, "most faults never struck") }
    }

    // MARK: One sync

    private func attempt(_ fault: CallFault, _ disks: TrialTally) throws -> (Outcome, String, isStruck: Bool) {
        for turn in 0..<3 {
            let place = context.trialDirectory + "/run-\(turn)"
            // Consecutive trials share a directory.
            try FileTree.remove(place)
            try FileTree.createDirectory(place)
            let location = DatabaseLocation(directory: place + "/database")
            try FileTree.createDirectory(location.directory)
            let run = try FailedSyncRun(context, at: location, fault: fault, library: library, in: place)
            if !run.step.run.unseen.isEmpty {
                throw HarnessError("not all was seen: \(run.step.run.unseen.prefix(3).joined(separator: "; "))")
            }
            guard let failed = run.failedSync else { continue }
            try context.keepDatabase(at: location)
            let (outcome, detail) = try judge(run, failed: failed, in: place, disks)
            return (outcome, detail, true)
        }
        return (.correct, "not struck", false)
    }

    /// The gravest finding on some disks after the failed sync.
    private func judge(
        _ run: FailedSyncRun, failed: Int, in place: String, _ disks: TrialTally
    ) throws -> (Outcome, String) {
        var worst: (outcome: Outcome, detail: String) = (.correct, "")
        let sweep = try RecordedSweep(run.step.run, run.marks, contents: [], context: context)
        let most = try context.integer("disks")
        let (steps, _) = try sweep.choose(most: most, total: most, from: failed + 1)
        let rules = try RecordedSweep.rules(context)
        var rebuild = CrashRebuild(base: run.step.run.base, trace: run.step.run.operations, profile: rules.profile)
        for (number, step) in steps.enumerated() {
            guard let image = rebuild.image(at: step) else { throw HarnessError("the record has no state \(step)") }
            let truth = run.truth(at: step.operation, of: operations, context.test)
            let disk = try RecordedDisk(
                image, directories: run.step.run.directories(at: step.operation), at: "\(place)/disk-\(number)",
                context)
            let finding = try ForkedReader.finding(seconds: 30) {
                let found = try disk.judge(by: truth)
                return ContentFinding(found.outcome, found.detail)
            }
            try FileTree.remove(disk.location.directory)
            try disks.add()
            if finding.outcome.gravity > worst.outcome.gravity {
                let lines = run.step.run.description(of: step, profile: rules.profile).prefix(3)
                worst = (finding.outcome, "\(lines.joined(separator: ", ")): \(finding.detail)")
            }
        }
        if worst.outcome != .correct { return worst }
        return try run.step.failure().map { ($0.outcome, $0.detail) } ?? worst
    }
}

/// A script that was played under the recorder, with its report lines and their positions in the record.
private struct FailedSyncRun {
    let step: RecordedStep
    /// Report lines, each with the number of operations recorded before it.
    private let said: [(operations: Int, event: ScriptEvent)]

    init(
        _ context: CaseContext, at location: DatabaseLocation, fault: CallFault?, library: String, in place: String
    ) throws {
        let words = fault?.words.map { [$0] } ?? []
        step = try RecordedStep.run(context, words, at: location, library: library, in: place + "/recorder")
        said = step.run.printed.flatMap { words in
            ScriptEvent.list(words.bytes).map { (words.operations, $0) }
        }
        for case (_, .broke(let reason)) in said { throw HarnessError("a script broke: \(reason)") }
    }

    func count(_ kind: String) -> Int {
        for case (_, .counted(kind, let count)) in said { return count }
        return 0
    }

    /// What failed without a fault; nil where nothing did.
    func failureWithoutFault() throws -> String? {
        if let failure = try step.failure() { return failure.detail }
        for case (_, .failed(_, let text)) in said { return "without any fault: \(text)" }
        for case (_, .sawNothing(let text)) in said { return "without any fault: \(text)" }
        return nil
    }

    /// The index of the failed sync in the record.
    var failedSync: Int? { step.run.operations.firstIndex { $0.failed && $0.action.isSync } }

    var marks: CrashMarks {
        var marks = CrashMarks()
        for (operations, event) in said {
            switch event {
            case .began: marks.begun.append(operations)
            case .acknowledged: marks.acknowledged.append(operations)
            default: break
            }
        }
        return marks
    }

    /// The allowed contents after a power failure before that operation.
    func truth(at operation: Int, of operations: [ScriptOperation], _ test: Case) -> RecordedTruth {
        // A step that began at this number of operations may not have made any of its own yet.
        let events = said.prefix { $0.operations <= operation }.map(\.event)
        let whole = ScriptWorlds(events, of: operations, keepsAcknowledged: true)
        if test.durability == .full { return RecordedTruth(whole: whole, promised: whole) }
        let lax = ScriptWorlds(events, of: operations, keepsAcknowledged: false)
        return RecordedTruth(whole: whole, promised: AnyOlderWorld(worlds: lax))
    }
}

/// The allowed contents where the class allows the loss of everything acknowledged.
private struct AnyOlderWorld: ScriptTruth {
    let worlds: ScriptWorlds

    var mayLackTable: Bool { true }

    func judge(_ content: ScriptContent) -> (outcome: Outcome, detail: String) { worlds.judge(content) }
}

extension IORecord.Action {
    /// Syncs of file contents; a sync of a directory is for names.
    fileprivate var isSync: Bool {
        switch self {
        case .sync, .syncRange: true
        default: false
        }
    }
}
