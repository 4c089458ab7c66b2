import CaseFiles
import Commands
import FaultModel
import Harness
import Measuring
import RunRecords
import SimulatedDisk

/// Runs random operations on a table (inserts, updates, deletes, reopens, compactions), cuts power at every operation
/// of the simulated disk below, and opens every possible disk afterwards.
///
/// A read after a crash must give the state after one transaction, as a whole: under `full` at least the last
/// acknowledged one, and in every class at most the last begun one. The engine's own check must find nothing. The
/// operations are drawn from the seed, or given by a case file.
struct StorageHistory: ScriptedScenario {
    let slug = "storage-history"
    let family = Family.crash
    let question = "Is the result of random operations whole after a power failure at any moment?"
    let requires: Set<Capability> = [.tables, .updates, .deletions, .compaction, .simulatedDisk]
    // A background thread of the engine makes its calls at other moments in each run.
    let schedule = Schedule.free
    let expects: Promise.Kind? = .durability
    let parameters = [
        ScenarioParameter(
            "operations", .size, default: 40, range: 1...2_000, summary: "operations that the seed draws"),
        ScenarioParameter("keys", .size, default: 24, range: 1...10_000, summary: "keys that they are drawn from"),
        ScenarioParameter(
            "states", .effort, default: 60, range: 1...100_000,
            summary: "disks opened at most before and after each acknowledgement"),
        ScenarioParameter(
            "wrong", .effort, default: 0,
            summary: "wrong disks of an operation after which the next one is tried; 0: no such limit"),
        Self.historyParameter,
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? { outcome.brokenPromise(or: expects) }

    func run(_ context: CaseContext) throws {
        guard let engine = context.engine as? any SimulatableEngine else {
            throw HarnessError("\(context.engine.name) declares simulated-disk, and is no SimulatableEngine")
        }
        let operations = try Self.operations(of: context.test)
        let recording = try ScriptRecording(engine, context, operations)
        context.report.add(
            Trial(
                address: FaultAddress(text: "content"), outcome: recording.wrongEnd == nil ? .correct : .silentlyWrong,
                detail: recording.wrongEnd ?? ""))
        try context.judgeSeals(on: recording.disk, secrets: [])
        if let wanted = context.onlyTrial, wanted.fault != .crash { return }
        try StorageHistorySweep(recording, context).run()
    }

    // MARK: Operations

    func script(of test: Case) throws -> String { ScriptOperation.text(of: try Self.operations(of: test)) }

    func briefly(_ test: Case) -> Case { test.setting("wrong", to: "2") }

    private static func operations(of test: Case) throws -> [ScriptOperation] {
        guard let text = test.parameter(historyParameter.name), !text.isEmpty else {
            return ScriptDraw.operations(of: test)
        }
        guard let list = ScriptOperation.list(text) else {
            throw HarnessError("history needs operations such as op-1:update:5:17, parted by slashes, not \(text)")
        }
        for operation in list {
            guard let count = ScriptRecording.arguments[operation.action] else {
                let known = ScriptRecording.arguments.keys.sorted()
                throw HarnessError(NearestName.complaint("operation", operation.action, among: known))
            }
            guard operation.arguments.count == count else {
                throw HarnessError("\(operation.action) takes \(count) numbers: \(operation)")
            }
            guard operation.action != "insert" || isSmall(operation.arguments) else {
                throw HarnessError(
                    "insert takes at most \(ScriptRecording.mostRows) rows of \(ScriptRecording.mostBytes) bytes: "
                        + "\(operation)")
            }
        }
        return list
    }

    private static func isSmall(_ arguments: [Int]) -> Bool {
        arguments[0] < 1 << 40 && arguments[1] <= ScriptRecording.mostRows
            && arguments[3] <= ScriptRecording.mostBytes
    }
}

/// Cuts power at every operation of a recorded script.
///
/// An address names the first disk operation that the crash prevented, and the crash state:
/// `crash:at=op-3/main/log/sync/0,state=0x3`. It stays valid when other operations are removed from the script. `end`
/// stands for a crash after the last one.
private struct StorageHistorySweep {
    private let recording: ScriptRecording
    private let context: CaseContext
    private let trace: [IORecord]

    init(_ recording: ScriptRecording, _ context: CaseContext) {
        self.recording = recording
        self.context = context
        trace = recording.disk.trace
    }

    private func address(_ step: CrashAddress.Step) -> FaultAddress {
        let place = step.operation < trace.count ? "\(trace[step.operation].identity)" : "end"
        return FaultAddress(text: "crash:at=\(place),state=\(step.state)")
    }

    /// The step of an address; nil if this script has no such operation.
    private func step(_ address: FaultAddress) -> CrashAddress.Step? {
        let parts = address.text.split(separator: ",")
        guard parts.count == 2, parts[0].hasPrefix("crash:at="), parts[1].hasPrefix("state="),
            let state = StateMask(parts[1].dropFirst("state=".count))
        else { return nil }
        let place = parts[0].dropFirst("crash:at=".count)
        let operation = place == "end" ? trace.count : trace.firstIndex { "\($0.identity)" == place }
        return operation.map { CrashAddress.Step(operation: $0, state: state) }
    }

    func run() throws {
        let most = try context.integer("states")
        let mostWrong = try context.integer("wrong")
        let (disk, marks) = (recording.disk, recording.marks)
        let start = MonotonicClock.now()
        var (tried, isFound) = (0, false)
        var sweep = disk.sweep()
        var found = CrashCoverage()
        func isOver() -> Bool { isFound || context.isOverBudget }
        for stretch in recording.stretches where !isOver() {
            // One failure may hide another: later operations are tried all the same.
            var (left, wrong) = (most, 0)
            found += sweep.visit(
                points: stretch, context: { operation in UInt64(marks.acknowledged.count { $0 <= operation }) }
            ) { state in
                left -= 1
                tried += 1
                let address = address(state.step)
                if let wanted = context.onlyTrial, wanted != address {
                    context.report.leaveOut(1)
                    return left > 0 && !isOver()
                }
                isFound = context.onlyTrial != nil
                if attempt(disk.crash(state), address, state.step.operation) != .correct { wrong += 1 }
                return left > 0 && (mostWrong == 0 || wrong < mostWrong) && !isOver()
            }
        }
        if let wanted = context.onlyTrial, !isFound, let step = step(wanted), let crashed = disk.crash(at: step) {
            _ = attempt(crashed, wanted, step.operation)
        }
        if context.isOverBudget { context.report.cut() }
        found.operations = disk.operations
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        context.report.add(.trials, Double(tried), statistic: "count")
        context.report.add(.statesPerSecond, Double(tried) / max(seconds, 1e-9), count: tried)
        context.require(tried, "no disk was opened")
        context.report.note("\(recording.contents.count - 1) transactions, \(found)")
    }

    private func attempt(_ disk: SimulatedDisk, _ address: FaultAddress, _ operation: Int) -> Outcome {
        let (outcome, detail) = recording.judge(disk, allowed: recording.allowed(before: operation))
        context.report.add(Trial(address: address, outcome: outcome, detail: detail))
        return outcome
    }
}
