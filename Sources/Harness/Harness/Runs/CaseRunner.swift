import Files
import Measuring
import RunRecords
import Seeds

/// Runs single cases in worker processes of one program, each on a copy of its fixture.
///
/// A run has one runner; a comparison of two programs has one for each.
package struct CaseRunner {
    /// Limits that all cases share.
    package struct Limits: Sendable {
        /// How long a case may run after the end of its share of the budget before it counts as hung.
        package var hangSeconds: Double
        package var memoryBytes: UInt64

        package init(hangSeconds: Double, memoryBytes: UInt64) {
            self.hangSeconds = hangSeconds
            self.memoryBytes = memoryBytes
        }
    }

    private let process: WorkerProcess
    private let registries: Registries
    private let limits: Limits
    private let judge: CaseJudge
    private let directory: String
    private let readsInPlace: Bool
    private let buildDigest: String
    private var fixtures: FixtureStore

    /// - Parameters:
    ///   - directory: an existing directory, below which the files of the cases are made.
    ///   - readsInPlace: whether a case that asks for it may read the fixture itself. Only if no two cases run at the
    ///     same time.
    ///   - program: the program that the executable starts, if the executable is a wrapper script.
    ///   - buildDigest: the digest of the program, if several programs make fixtures in one directory.
    package init(
        executable: String, registries: Registries, directory: String, limits: Limits, readsInPlace: Bool = true,
        known: [KnownViolation] = [], program: String? = nil, buildDigest: String = ""
    ) {
        self.readsInPlace = readsInPlace
        process = WorkerProcess(executable: executable, program: program)
        self.registries = registries
        self.limits = limits
        self.directory = directory
        self.buildDigest = buildDigest
        judge = CaseJudge(rule: VerdictRule(known: known))
        fixtures = FixtureStore(directory: directory + "/fixtures", process: process)
    }

    /// Runs one measurement of a case to its end.
    ///
    /// - Parameters:
    ///   - name: the directory in which the measurement works, below the runner's own; it is removed afterwards.
    ///   - keep: where a replayed trial leaves its damaged database.
    ///   - counter: counts instructions; then only that sample of the result is valid.
    package mutating func run(
        _ planned: PlannedCase, turn: Turn = Turn(), directory name: String, seconds: Double,
        trial: FaultAddress? = nil, keep: String? = nil, under counter: InstructionCounter? = nil,
        behind front: ProcessFront? = nil
    ) throws -> MeasuredCase {
        let running = try start(
            planned, turn: turn, directory: name, seconds: seconds, trial: trial, keep: keep,
            variables: counter == nil ? [] : InstructionCounter.variables, under: counter, behind: front)
        while true {
            running.wait()
            if let measured = try running.advance() { return measured }
        }
    }

    /// Starts a measurement. The caller then calls `advance` of the result until that returns the measured case.
    ///
    /// - Parameter variables: `NAME=VALUE`, for the worker of the case, but not for the worker that builds its fixture.
    package mutating func start(
        _ planned: PlannedCase, turn: Turn = Turn(), directory name: String, seconds: Double,
        trial: FaultAddress? = nil, keep: String? = nil, variables: [String] = [],
        under counter: InstructionCounter? = nil, behind front: ProcessFront? = nil
    ) throws -> RunningCase {
        let test = planned.test
        var result = CaseResult(test: test, verdict: planned.verdict ?? .harnessError, turn: turn)
        result.message = planned.reason
        guard let engine = registries.engine(of: test),
            let scenario = registries.scenarios.scenario(named: test.scenario)
        else { return RunningCase(ended: MeasuredCase(result: result)) }
        result.engineVersion = engine.version
        result.settings = engine.settings(for: test.durability).list + engine.librarySettings
        result.hasFreeSchedule = scenario.schedule == .free
        result.restsOnSyncs = scenario.restsOnSyncs
        if planned.verdict != nil { return RunningCase(ended: MeasuredCase(result: result)) }

        if let reason = MemoryGroup.reasonToSkip(test) {
            result.verdict = .notApplicable
            result.message = "skipped: \(reason)"
            return RunningCase(ended: MeasuredCase(result: result))
        }
        let place = "\(directory)/\(name)"
        try FileTree.remove(place)
        try FileTree.createDirectory(place + "/case")
        let prepared = try prepare(test, scenario, engine: engine, place: place)
        if let failure = prepared.failure {
            try FileTree.remove(place)
            return RunningCase(ended: withoutFixture(failure, result, scenario: scenario, engine: engine))
        }
        let fixture = prepared.location
        var request = WorkerRequest(
            task: .runCase, test: test, directory: place + "/case", fixture: fixture?.directory,
            deadline: MonotonicClock.now() &+ UInt64(seconds * 1e9), onlyTrial: trial)
        request.keepDirectory = keep
        request.files = EngineFiles(of: engine)
        let group = try MemoryGroup.make(for: test, reading: fixture.map(engine.files) ?? [])
        let watch = MachineWatch()
        let process = process(under: counter, behind: front, place)
        let worker = try process.start(request, limits: workerLimits(seconds: seconds), variables: variables, in: group)
        return RunningCase(worker: worker, directory: place) { [judge, result] end in
            var measured = judge.conclude(
                end, result, scenario: scenario, engine: engine, share: seconds, directory: place)
            judge.blameMachine(end, &measured.result, place)
            measured.result.samples += watch.samples(of: end)
            judge.bound(end, &measured.result)
            measured.processID = end.processID
            if counter != nil, let count = try InstructionCounter.count(place: place, processID: end.processID) {
                measured.result.samples.append(Sample(InstructionCounter.metric, count, label: "whole case"))
            }
            if let before = prepared.before, let fixture, try FixtureStore.state(of: fixture, engine: engine) != before
            {
                measured.result.verdict = .harnessError
                measured.result.message =
                    "it changed a database that it was only to read: later figures would stand on it"
                measured.result.leavePromisesOpen()
            }
            return measured
        }
    }

    /// The files with which a case starts.
    private struct Prepared {
        var location: DatabaseLocation?
        /// The state of the fixture's files, if the case must not change them.
        var before: [String]?
        /// How the worker that builds the fixture ended, if it failed.
        var failure: WorkerEnd?
    }

    /// Copies the case's fixture, or returns the fixture itself for a case that reads in place. The result has no
    /// location if the case asks for no fixture.
    private mutating func prepare(
        _ test: Case, _ scenario: any Scenario, engine: any Engine, place: String
    ) throws -> Prepared {
        guard let key = fixtureKey(test) else { return Prepared() }
        let built = try fixtures.fixture(
            key: key, test: test, files: EngineFiles(of: engine), limits: workerLimits(seconds: 60))
        if let failure = built.failure { return Prepared(failure: failure) }
        let request = scenario.fixture(for: test)
        if readsInPlace && !engine.changesFilesAtOpen && request?.isReadInPlace == true {
            return Prepared(
                location: built.location, before: try FixtureStore.state(of: built.location, engine: engine))
        }
        return Prepared(
            location: try fixtures.copy(
                built, to: place + "/fixture",
                linking: request?.linksConstantFiles == true ? engine.constantPatterns : []))
    }

    private func process(
        under counter: InstructionCounter?, behind front: ProcessFront?, _ place: String
    ) -> WorkerProcess {
        if let counter { return WorkerProcess(executable: counter.executable, front: counter.words(place: place)) }
        guard let front else { return process }
        return WorkerProcess(executable: front.executable, front: front.words, namesParent: front.isParentOurs)
    }

    private func withoutFixture(
        _ failure: WorkerEnd, _ result: CaseResult, scenario: any Scenario, engine: any Engine
    ) -> MeasuredCase {
        var failed = judge.conclude(
            failure, result, scenario: scenario, engine: engine, share: nil, directory: directory)
        judge.blameMachine(failure, &failed.result, directory)
        failed.result.message = "the fixture could not be built: \(failed.result.message)"
        if failed.result.verdict == .pass { failed.result.verdict = .harnessError }
        failed.result.leavePromisesOpen()
        return failed
    }

    private func workerLimits(seconds: Double) -> WorkerLimits {
        WorkerLimits(
            hangTime: MonotonicClock.now() &+ UInt64((seconds + limits.hangSeconds) * 1e9),
            memoryBytes: limits.memoryBytes)
    }

    /// The key of the fixture that the case needs; nil if it needs none.
    package func fixtureKey(_ test: Case) -> String? {
        guard let scenario = registries.scenarios.scenario(named: test.scenario),
            let engine = registries.engine(of: test),
            engine.capabilities.contains(.persistent), let request = scenario.fixture(for: test)
        else { return nil }
        return FixtureStore.key(request, test: test, engine: engine, buildDigest: buildDigest)
    }

    /// Removes a fixture that no later case needs, and so frees its disk space.
    package mutating func discardFixture(_ key: String) throws {
        try fixtures.discard(key: key)
    }

    /// Removes all fixtures, and so frees their disk space. A later case that needs one has it built anew.
    package mutating func discardFixtures() throws {
        for key in fixtures.keys { try fixtures.discard(key: key) }
    }
}

/// The result of one measurement of a case.
package struct MeasuredCase: Sendable {
    package var result: CaseResult
    package var details = CaseDetails()
    /// The result of the one trial that a replay runs.
    package var replayed: ReplayedTrial?
    /// The process id of the worker; 0 if none was started.
    package var processID: Int32 = 0
}

/// A running measurement. Not Sendable: the thread that started it calls its functions.
package final class RunningCase {
    private var worker: RunningWorker?
    private var ended: MeasuredCase?
    private let directory: String?
    private let conclude: (WorkerEnd) throws -> MeasuredCase

    init(ended: MeasuredCase) {
        self.ended = ended
        directory = nil
        conclude = { _ in ended }
    }

    init(worker: RunningWorker, directory: String, conclude: @escaping (WorkerEnd) throws -> MeasuredCase) {
        self.worker = worker
        self.directory = directory
        self.conclude = conclude
    }

    /// Waits until the worker may have made progress, but only for a moment.
    package func wait() {
        Self.wait(for: [self])
    }

    /// Waits until a worker of one of the cases may have made progress, but only for a moment.
    package static func wait(for cases: [RunningCase]) {
        let workers = cases.compactMap { $0.ended == nil ? $0.worker : nil }
        if workers.count == cases.count { RunningWorker.wait(for: workers) }
    }

    /// The result, once the measurement has ended; its directory is then removed. nil before.
    package func advance() throws -> MeasuredCase? {
        if let ended { return ended }
        guard let end = worker?.advance() else { return nil }
        let measured = try conclude(end)
        ended = measured
        worker = nil
        if let directory { try FileTree.remove(directory) }
        return measured
    }

    /// Ends the measurement without a result.
    package func cancel() throws {
        worker = nil
        if let directory { try FileTree.remove(directory) }
    }
}
