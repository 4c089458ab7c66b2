import CaseFiles
import Files
import Harness
import Measuring
import Platform
import ProgramTrials
import RunRecords

/// Plays a script once without a fault, and then under each of many faults. One process plays the script and meets the
/// fault; another one, without the fault, then opens the database and judges it.
///
/// The engine may report any error. A step that failed has taken effect or not, an acknowledged step has taken effect,
/// and what the playing process itself reads afterwards must agree with that. The database must then open and take a
/// transaction, and the engine's own check must find nothing. Of an encrypted database no nonce may be used twice,
/// neither in the files that the playing process left nor in those after the next process.
struct FaultedScript {
    private let context: CaseContext
    private let witness: IOWitness
    let operations: [ScriptOperation]
    private let keepsAcknowledged: Bool
    /// The file calls of the play without a fault, and, if it was measured, its use of limited resources.
    private(set) var calls = ScriptCalls()
    /// Steps whose commit was durable in the run without a fault.
    private var synced: Set<Int> = []
    /// A further check of a process's report, besides the rows; nil where nothing is wrong.
    private let objection: ([ScriptEvent]) -> (outcome: Outcome, detail: String)?

    // MARK: Without a fault

    /// Plays the script without a fault, and reports the result as the trial `content`. Returns nil if the result is
    /// wrong, or the preloaded library is missing: no trial could show anything then.
    ///
    /// `operations`: by default those that the seed draws. `keepsAcknowledged`: by default only in the class `full`.
    init?(
        _ context: CaseContext, _ operations: [ScriptOperation]? = nil, keepsAcknowledged: Bool? = nil,
        isMeasured: Bool = false,
        objection: @escaping ([ScriptEvent]) -> (outcome: Outcome, detail: String)? = { _ in nil }
    ) throws {
        guard let witness = context.witness() else { return nil }
        self.context = context
        self.witness = witness
        self.operations = operations ?? ScriptDraw.everyAction(of: context.test)
        self.keepsAcknowledged = keepsAcknowledged ?? (context.test.durability == .full)
        self.objection = objection
        var none = ScriptFault()
        none.isMeasured = isMeasured
        let location = try context.emptyLocation("whole")
        let whole = try ScriptProcess(context, at: location, self.operations, none, witness: witness)
        let (outcome, detail) = try judgeWhole(whole, at: location)
        context.report.add(Trial(address: FaultAddress(text: "content"), outcome: outcome, detail: detail))
        guard outcome == .correct else { return nil }
        calls = whole.calls
        synced = ScriptWorlds.synced(whole.events)
    }

    private func judgeWhole(
        _ script: ScriptProcess, at location: DatabaseLocation
    ) throws -> (Outcome, String) {
        switch script.end {
        case .signalled(let signal): return (.crashed, "signal \(signal) without any fault")
        case .hung(let seconds): return (.hung, "a script without any fault was not done after \(seconds) s")
        case .tooLarge(let bytes): return (.memoryLimit, "\(bytes >> 20) MiB without any fault")
        case .whole: break
        }
        for case .failed(_, let text) in script.events { return (.refused, "without any fault: \(text)") }
        for case .sawNothing(let text) in script.events { return (.refused, "without any fault: \(text)") }
        let worlds = ScriptWorlds(script.events, of: operations, keepsAcknowledged: true)
        if let wrong = worlds.wrong { return wrong }
        let finding = try look(location, worlds)
        return (finding.outcome, finding.detail)
    }

    /// Opens, reads and judges the database and makes one more transaction; compares the nonces before and after.
    private func look(_ location: DatabaseLocation, _ worlds: ScriptWorlds) throws -> ContentFinding {
        guard var ledger = try context.sealLedger(secrets: []) else { return try read(location, worlds) }
        try ledger.add(context.engine, at: location)
        let finding = try read(location, worlds)
        try ledger.add(context.engine, at: location)
        // A database that may not have been created may have no sealed block.
        guard let fault = worlds.mayLackTable ? ledger.fault : ledger.finding else { return finding }
        var gravest = TrialFinding()
        gravest.take(.silentlyWrong, fault)
        gravest.take(finding.outcome, finding.detail)
        return ContentFinding(gravest.outcome, gravest.detail)
    }

    // MARK: Under one

    /// Runs a trial for each fault of a call, and reports how many struck. `plural` names the faults in the report,
    /// `reason` makes a case without faults inconclusive, and `accepts` returns whether a replay may name a fault.
    func sweep(
        _ faults: [CallFault], _ plural: String, orElse reason: String, accepts: @escaping (CallFault) -> Bool
    ) throws {
        let tally = FaultTally(context, plural)
        let isSwept = try context.sweep(
            faults, orElse: reason, read: { CallFault($0).flatMap { accepts($0) ? $0 : nil } },
            attempt: { try attempt(ScriptFault($0), tally) })
        if isSwept { try tally.report(context, why: "the script made fewer calls") }
    }

    /// Plays the script under a fault, and judges the outcome. For a trial of a sweep.
    ///
    /// `place`: a directory without files that the trial needs; by default one in the trial's directory. `clear`
    /// empties it before each play; by default the trial removes it and creates it again.
    func attempt(
        _ fault: ScriptFault, _ tally: FaultTally, at place: DatabaseLocation? = nil,
        clear: (() throws -> Void)? = nil
    ) throws -> (outcome: Outcome, detail: String) {
        let location = place ?? DatabaseLocation(directory: context.trialDirectory + "/database")
        func playAgain() throws -> ScriptProcess {
            try play(fault, at: location) {
                if let clear { return try clear() }
                try FileTree.remove(location.directory)
                try FileTree.createDirectory(location.directory)
            }
        }
        var script = try playAgain()
        var worlds = self.worlds(of: script)
        var worst = TrialFinding()
        worst.take(worlds.wrong)
        if worlds.unsynced != nil {
            script = try playAgain()
            worlds = self.worlds(of: script)
            worst.take(worlds.wrong)
            if let unsynced = worlds.unsynced { worst.take(.lostCommit, unsynced) } else { try tally.once.add() }
        }
        try tally.note(script)
        if script.struck == 0, worst.outcome == .correct { worst.detail = "not struck" }
        worst.take(Self.finding(onEndOf: script, fault))
        worst.take(objection(script.events))
        // A database whose creation was not acknowledged need not take transactions.
        for case .stuck(let text) in script.events where !worlds.mayLackTable {
            worst.take(.refused, "no transaction went through when the fault was over: \(text)")
        }
        // The process may have ended before it lifted the fault.
        try fault.lift?()
        try context.keepDatabase(at: location)
        let finding = try look(location, worlds)
        let told = script.events.compactMap { if case .failed(_, let text) = $0 { text } else { nil } }
        worst.take(finding.outcome, finding.detail + (told.first.map { " (it had said: \($0))" } ?? ""))
        return (worst.outcome, worst.detail)
    }

    /// What is wrong with the end of the process that played the script; nil if the fault explains it.
    private static func finding(
        onEndOf script: ScriptProcess, _ fault: ScriptFault
    ) -> (outcome: Outcome, detail: String)? {
        switch script.end {
        case .signalled(SIGKILL) where fault.call?.isKill == true && script.struck > 0: return nil
        case .signalled(let signal) where signal == fault.signal:
            return (.memoryLimit, "ended by signal \(signal), with which the system ends a process at that limit")
        case .signalled(let signal):
            let words = script.lastWords.isEmpty ? "" : ": \(script.lastWords)"
            return (.crashed, "signal \(signal) in the process that met the error\(words)")
        case .hung(let seconds):
            return (.hung, "the process that met the error was not done after \(seconds) s")
        case .tooLarge(let bytes):
            return (.memoryLimit, "the process that met the error held \(bytes >> 20) MiB")
        case .whole: return nil
        }
    }

    /// Plays the script until the fault strikes, three times at most.
    private func play(
        _ fault: ScriptFault, at location: DatabaseLocation, clear: () throws -> Void
    ) throws -> ScriptProcess {
        // A limit that was not met is not met by a second play either. Calls differ from play to play, since background
        // threads of the engine make them in another order.
        let most = fault.call == nil ? 1 : 3
        var script: ScriptProcess
        var turns = 0
        repeat {
            try clear()
            script = try ScriptProcess(context, at: location, operations, fault, witness: witness)
            turns += 1
        } while script.struck == 0 && turns < most
        return script
    }

    private func worlds(of script: ScriptProcess) -> ScriptWorlds {
        ScriptWorlds(script.events, of: operations, keepsAcknowledged: keepsAcknowledged, synced: synced)
    }

    // MARK: Afterwards

    /// Opens the database, reads everything, and makes one more transaction.
    private func read(_ location: DatabaseLocation, _ worlds: ScriptWorlds) throws -> ContentFinding {
        try ForkedReader.finding(seconds: 30) {
            let reading = ScriptReading()
            let schema = try ScriptTables.schema()
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

    /// Makes one more transaction; returns what is wrong after it, or nil.
    private func goOn(_ session: any TableSession, _ content: ScriptContent) throws -> String? {
        let change = ScriptChange.insert([1 << 20], ScriptRow(number: 1, length: 3))
        try change.perform(on: session)
        let reading = ScriptReading()
        try session.readAll(try ScriptTables.schema(), into: reading)
        return reading.difference ?? reading.content.difference(from: change.applied(to: content))
    }
}

/// The gravest finding of a trial.
struct TrialFinding {
    private(set) var outcome = Outcome.correct
    var detail = ""

    mutating func take(_ outcome: Outcome, _ detail: String) {
        if outcome.gravity > self.outcome.gravity { (self.outcome, self.detail) = (outcome, detail) }
    }

    mutating func take(_ finding: (outcome: Outcome, detail: String)?) {
        if let finding { take(finding.outcome, finding.detail) }
    }
}
