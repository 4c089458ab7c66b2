import CaseFiles
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
            "operations", default: "12", range: 1...200,
            summary: "operations that the seed draws, a reopen and a compaction beside them"),
        ScenarioParameter("keys", default: "12", range: 1...10_000, summary: "keys that they are drawn from"),
        ScenarioParameter("trials", default: "120", range: 0...1_000_000, summary: "calls that fail; 0: every call"),
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
        guard count > 0, count < all.count else { return all }
        var groups: [[Int]] = []
        for (_, places) in Dictionary(grouping: all.indices, by: { all[$0].group }).sorted(by: { $0.key < $1.key }) {
            var random = RandomStream(seed.derived(all[places[0]].group))
            groups.append(random.permutation(of: places.count).map { places[$0] })
        }
        var chosen: [Int] = []
        for turn in 0..<all.count where chosen.count < count {
            chosen += groups.compactMap { $0.indices.contains(turn) ? $0[turn] : nil }.prefix(count - chosen.count)
        }
        return chosen.sorted().map { all[$0] }
    }

    func run(_ context: CaseContext) throws {
        guard let witness = IOWitness.shared else {
            return context.report.inconclusive("no call can be made to fail: \(Preload.libraryName) is not there")
        }
        try IOErrorTrials(context, witness).run()
    }
}

private struct IOErrorTrials {
    private let context: CaseContext
    private let witness: IOWitness
    private let operations: [HistoryOperation]
    private let keepsAcknowledged: Bool

    init(_ context: CaseContext, _ witness: IOWitness) {
        self.context = context
        self.witness = witness
        operations = HistoryDraw.everyAction(of: context.test)
        keepsAcknowledged = context.test.durability == .full
    }

    func run() throws {
        let whole = try HistoryProcess(context, at: try context.emptyLocation("whole"), operations, witness: witness)
        let (outcome, detail) = try judgeWhole(whole)
        context.report.add(Trial(address: FaultAddress(text: "content"), outcome: outcome, detail: detail))
        guard outcome == .correct else { return }
        let calls = whole.calls
        context.report.note(calls.words)
        let faults = IOErrors.faults(
            calls, count: try context.integer("trials"), seed: context.seed.derived("faults"))
        context.require(faults.count, "the engine made no call to its files that can be made to fail")
        if faults.isEmpty { return }
        let synced = HistoryWorlds.synced(whole.events)
        let tally = Tally(context)
        try context.sweep(
            faults.map { FaultAddress(text: "\($0)") }, secondsPerTrial: 90, accepts: Self.isFault
        ) { address in
            guard let fault = CallFault(address.text) else { throw HarnessError("no fault: \(address)") }
            let (outcome, detail) = try attempt(fault, synced, tally)
            return Trial(address: address, outcome: outcome, detail: detail)
        }
        try tally.report(context)
    }

    private static func isFault(_ address: FaultAddress) -> Bool {
        CallFault(address.text).map { !$0.isKill } ?? false
    }

    // MARK: Without a fault

    private func judgeWhole(_ history: HistoryProcess) throws -> (Outcome, String) {
        switch history.end {
        case .signalled(let signal): return (.crashed, "signal \(signal) without any fault")
        case .hung(let seconds): return (.hung, "a history without any fault was not done after \(seconds) s")
        case .tooLarge(let bytes): return (.memoryLimit, "\(bytes >> 20) MiB without any fault")
        case .whole: break
        }
        for case .failed(_, let text) in history.events { return (.refused, "without any fault: \(text)") }
        for case .sawNothing(let text) in history.events { return (.refused, "without any fault: \(text)") }
        let worlds = HistoryWorlds(history.events, of: operations, keepsAcknowledged: true)
        if let wrong = worlds.wrong { return wrong }
        let finding = try read(DatabaseLocation(directory: context.directory + "/whole"), worlds)
        return (finding.outcome, finding.detail)
    }

    // MARK: With one

    private struct Tally {
        let struck: TrialTally
        let unstruck: TrialTally
        let told: TrialTally
        /// A commit without its sync, which was not seen again when the same was played once more.
        let once: TrialTally

        init(_ context: CaseContext) {
            struck = TrialTally(context, "struck")
            unstruck = TrialTally(context, "unstruck")
            told = TrialTally(context, "told")
            once = TrialTally(context, "once")
        }

        func report(_ context: CaseContext) throws {
            let (struck, unstruck, told) = (try struck.count(), try unstruck.count(), try told.count())
            let all = struck + unstruck
            context.report.add(.faultsStruck, Double(struck), statistic: "count", label: "of \(all) trials")
            context.report.note(
                "\(struck) of \(all) faults struck; in \(told) of these trials the engine gave an error")
            if unstruck > 0 { context.report.note("NOT STRUCK: \(unstruck) of \(all): the history made fewer calls") }
            let once = try once.count()
            if once > 0 {
                context.report.note(
                    "UNSYNCED ONCE: in \(once) of \(all) trials a commit was acknowledged without its sync, and not "
                        + "when the trial was repeated: a race, of the engine or of who watches it")
            }
            context.require(struck, "no fault struck: nothing is known")
            if unstruck > struck { context.require(0, "most faults never struck") }
        }
    }

    private func attempt(_ fault: CallFault, _ synced: Set<Int>, _ tally: Tally) throws -> (Outcome, String) {
        let location = DatabaseLocation(directory: context.trialDirectory + "/database")
        var history = try play(fault, at: location)
        var worlds = self.worlds(of: history, synced)
        var worst: (outcome: Outcome, detail: String) = (.correct, "")
        func take(_ outcome: Outcome, _ detail: String) {
            if outcome.gravity > worst.outcome.gravity { worst = (outcome, detail) }
        }
        if let wrong = worlds.wrong { take(wrong.outcome, wrong.detail) }
        if worlds.unsynced != nil {
            history = try play(fault, at: location)
            worlds = self.worlds(of: history, synced)
            if let wrong = worlds.wrong { take(wrong.outcome, wrong.detail) }
            if let unsynced = worlds.unsynced { take(.lostCommit, unsynced) } else { try tally.once.add() }
        }
        try (history.struck > 0 ? tally.struck : tally.unstruck).add()
        if history.struck > 0, history.failures > 0 { try tally.told.add() }
        if history.struck == 0, worst.outcome == .correct { worst.detail = "not struck" }
        switch history.end {
        case .signalled(let signal): take(.crashed, "signal \(signal) in the process that met the error")
        case .hung(let seconds): take(.hung, "the process that met the error was not done after \(seconds) s")
        case .tooLarge(let bytes): take(.memoryLimit, "the process that met the error held \(bytes >> 20) MiB")
        case .whole: break
        }
        try context.keepDatabase(at: location)
        let finding = try read(location, worlds)
        let told = history.events.compactMap { if case .failed(_, let text) = $0 { text } else { nil } }
        take(finding.outcome, finding.detail + (told.first.map { " (it had said: \($0))" } ?? ""))
        return worst
    }

    /// Plays the history until the fault struck, a few times at most.
    private func play(_ fault: CallFault, at location: DatabaseLocation) throws -> HistoryProcess {
        var history: HistoryProcess
        var turns = 0
        repeat {
            try FileTree.remove(location.directory)
            try FileTree.createDirectory(location.directory)
            history = try HistoryProcess(context, at: location, operations, fault: fault, witness: witness)
            turns += 1
        } while history.struck == 0 && turns < 3
        return history
    }

    private func worlds(of history: HistoryProcess, _ synced: Set<Int>) -> HistoryWorlds {
        HistoryWorlds(history.events, of: operations, keepsAcknowledged: keepsAcknowledged, synced: synced)
    }

    /// Opens what is left, reads everything, and goes on with it.
    private func read(_ location: DatabaseLocation, _ worlds: HistoryWorlds) throws -> ContentFinding {
        try ForkedReader.finding(seconds: 30) {
            let reading = HistoryReading()
            let schema = try HistoryTables.schema()
            let session: any TableSession
            do {
                session = try context.open(location, as: (any TableSession).self)
                try session.readAll(schema, into: reading)
            } catch let error as EngineError {
                if let difference = reading.difference { return ContentFinding(.silentlyWrong, difference) }
                // Nothing was acknowledged, and nothing is lost.
                if worlds.mayLackTable, reading.rowCount == 0 { return ContentFinding(.correct, "\(error)") }
                throw error
            }
            if let difference = reading.difference { return ContentFinding(.silentlyWrong, difference) }
            let (outcome, detail) = worlds.judge(reading.content)
            guard outcome == .correct else { return ContentFinding(outcome, detail) }
            if let difference = try goOn(session, reading.content) {
                return ContentFinding(.silentlyWrong, "when it went on: \(difference)")
            }
            try session.close()
            if let engine = context.engine as? any CheckingEngine, engine.capabilities.contains(.checks) {
                try engine.check(location)
            }
            return ContentFinding(.correct)
        }
    }

    /// One more transaction; answers what is wrong after it.
    private func goOn(_ session: any TableSession, _ content: HistoryContent) throws -> String? {
        let change = HistoryChange.insert([1 << 20], HistoryRow(number: 1, length: 3))
        try change.perform(on: session)
        let reading = HistoryReading()
        try session.readAll(try HistoryTables.schema(), into: reading)
        return reading.difference ?? reading.content.difference(from: change.applied(to: content))
    }
}

extension Metric {
    static let faultsStruck = Metric("faults_struck", unit: "count", .neutral, .measured)
}
