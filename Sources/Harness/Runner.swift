import Measuring
import RunRecords

/// Hears of a run's progress: the terminal does.
package protocol RunObserver {
    func runBegins(_ header: RunHeader, caseCount: Int)
    func caseBegins(_ test: Case, index: Int, count: Int, secondsLeft: Double?)
    func caseEnds(_ result: CaseResult, index: Int, count: Int)
}

/// Where a run stops, beside the plan.
package struct RunConfiguration: Sendable {
    package var plan: Plan
    package var cases: [PlannedCase]
    package var registries: Registries
    package var directory: RunDirectory
    /// Of this program: workers run it with the argument `worker`.
    package var executable: String
    package var known: [KnownViolation]
    package var budgetSeconds: Double?
    package var memoryBytes: UInt64

    package init(
        plan: Plan, cases: [PlannedCase], registries: Registries, directory: RunDirectory, executable: String,
        known: [KnownViolation] = [], budgetSeconds: Double? = nil
    ) {
        self.plan = plan
        self.cases = cases
        self.registries = registries
        self.directory = directory
        self.executable = executable
        self.known = known
        self.budgetSeconds = budgetSeconds ?? plan.budgetSeconds
        memoryBytes = UInt64(plan.memoryMegabytes) << 20
    }
}

/// Works through the cases of a plan, one worker process after the other.
///
/// Invariants:
/// 1. The header is on disk before the first case, and each result before the next case begins: a run that is killed
///    can be rendered and finished.
/// 2. Whatever a worker does, the run goes on. Only an error of the run's own directory ends it.
/// 3. No two cases run at the same time: they would share the disk.
package struct Runner {
    private let configuration: RunConfiguration
    private let process: WorkerProcess
    private let rule: VerdictRule
    private var fixtures: FixtureStore
    private var remainingSeconds: Double?
    private var remainingWeight: Double
    /// After a replay of one trial: what came of it.
    package private(set) var replayed: ReplayedTrial?

    package init(_ configuration: RunConfiguration) {
        self.configuration = configuration
        process = WorkerProcess(executable: configuration.executable)
        rule = VerdictRule(known: configuration.known)
        fixtures = FixtureStore(
            directory: configuration.directory.workDirectory + "/fixtures", process: process)
        remainingSeconds = configuration.budgetSeconds
        remainingWeight = configuration.cases.reduce(0) { $0 + $1.weight }
    }

    /// Runs all cases that `header` lists and the directory has no result of.
    package mutating func run(_ header: RunHeader, observer: some RunObserver) throws -> Run {
        let directory = configuration.directory
        try directory.create(header)
        try directory.repairResults()
        let done = Set(try directory.readResults().results.map(\.test.id))
        let pending = configuration.cases.filter { !done.contains($0.test.id) }
        remainingWeight = pending.reduce(0) { $0 + $1.weight }
        observer.runBegins(header, caseCount: configuration.cases.count)
        let lastUse = lastUseOfFixtures(pending)
        for (index, planned) in pending.enumerated() {
            let number = configuration.cases.count - pending.count + index + 1
            observer.caseBegins(
                planned.test, index: number, count: configuration.cases.count, secondsLeft: remainingSeconds)
            let start = MonotonicClock.now()
            let (result, details) = try run(planned)
            // What was under way is done again by a run that goes on.
            if Interruption.isRequested { break }
            try directory.append(result, details: details)
            remainingSeconds = remainingSeconds.map { $0 - Double(MonotonicClock.now() &- start) / 1e9 }
            remainingWeight -= planned.weight
            observer.caseEnds(result, index: number, count: configuration.cases.count)
            for (key, last) in lastUse where last == index { try fixtures.discard(key: key) }
        }
        try FileTree.remove(directory.workDirectory)
        return try directory.load()
    }

    /// Runs one case again, or one trial of it, without a trace in the results.
    package mutating func replay(_ planned: PlannedCase, trial: FaultAddress?) throws -> (CaseResult, CaseDetails) {
        try FileTree.createDirectory(configuration.directory.workDirectory)
        let result = try run(planned, trial: trial)
        // The next round builds its fixture anew: nothing of this one may reach it.
        if let key = fixtureKey(planned.test) { try fixtures.discard(key: key) }
        try FileTree.remove(configuration.directory.workDirectory)
        return result
    }

    /// By fixture key the index of the last case that uses it.
    private func lastUseOfFixtures(_ cases: [PlannedCase]) -> [String: Int] {
        var last: [String: Int] = [:]
        for (index, planned) in cases.enumerated() {
            if let key = fixtureKey(planned.test) { last[key] = index }
        }
        return last
    }

    private func fixtureKey(_ test: Case) -> String? {
        guard let scenario = configuration.registries.scenarios.scenario(named: test.scenario),
            let engine = configuration.registries.engines.engine(named: test.engine),
            engine.capabilities.contains(.persistent), let request = scenario.fixture(for: test)
        else { return nil }
        return FixtureStore.key(request, test: test, engine: engine)
    }

    /// A case's share: four times its part by weight of what is left, since most cases need far less than their part,
    /// and a case that is cut compares with no other run.
    private func shareSeconds(_ planned: PlannedCase) -> Double {
        guard let remainingSeconds else { return 3_600 }
        let share = max(0, remainingSeconds) * planned.weight / max(remainingWeight, planned.weight)
        return max(1, min(share * 4, remainingSeconds))
    }

    private mutating func run(
        _ planned: PlannedCase, trial: FaultAddress? = nil
    ) throws -> (CaseResult, CaseDetails) {
        let test = planned.test
        var result = CaseResult(test: test, verdict: planned.verdict ?? .harnessError)
        result.message = planned.reason
        guard let engine = configuration.registries.engines.engine(named: test.engine),
            let scenario = configuration.registries.scenarios.scenario(named: test.scenario)
        else { return (result, CaseDetails()) }
        result.engineVersion = engine.version
        result.settings = engine.settings(for: test.durability).list
        result.hasFreeSchedule = scenario.schedule == .free
        if planned.verdict != nil { return (result, CaseDetails()) }

        let caseDirectory = "\(configuration.directory.workDirectory)/\(test.id)"
        try FileTree.remove(caseDirectory)
        try FileTree.createDirectory(caseDirectory + "/case")
        let details = try run(planned, in: caseDirectory, trial: trial, &result, scenario, engine)
        try FileTree.remove(caseDirectory)
        return (result, details)
    }

    private mutating func run(
        _ planned: PlannedCase, in caseDirectory: String, trial: FaultAddress?, _ result: inout CaseResult,
        _ scenario: any Scenario, _ engine: any Engine
    ) throws -> CaseDetails {
        let test = planned.test
        var fixture: DatabaseLocation?
        if let key = fixtureKey(test) {
            let limits = limits(shareSeconds: 60)
            let built = try fixtures.fixture(key: key, test: test, limits: limits)
            if let failure = built.failure {
                let details = conclude(failure, &result, scenario, engine)
                blameMachine(failure, &result, configuration.directory.workDirectory)
                result.message = "the fixture could not be built: \(result.message)"
                if result.verdict == .pass { result.verdict = .harnessError }
                return details
            }
            fixture = try fixtures.copy(built, to: caseDirectory + "/fixture")
        }
        let share = shareSeconds(planned)
        let request = WorkerRequest(
            task: .runCase, test: test, directory: caseDirectory + "/case", fixture: fixture?.directory,
            deadline: MonotonicClock.now() &+ UInt64(share * 1e9), onlyTrial: trial)
        let end = try process.run(request, limits: limits(shareSeconds: share))
        replayed = end.report?.replayed
        let details = conclude(end, &result, scenario, engine)
        blameMachine(end, &result, caseDirectory)
        let seconds = Double(end.durationNanoseconds) / 1e9
        if seconds > share, !result.isCut, end.stopped == nil {
            let note = "took \(Self.tenths(seconds)) s, though its share of the budget was \(Self.tenths(share)) s"
            result.message += (result.message.isEmpty ? "" : "; ") + note
        }
        return details
    }

    /// Asked while the case's files are still there.
    private func blameMachine(_ end: WorkerEnd, _ result: inout CaseResult, _ directory: String) {
        guard [.violation, .unpromised, .known, .harnessError].contains(result.verdict),
            let reason = HarnessFault.reason(after: end, directory: directory)
        else { return }
        result.verdict = .harnessError
        result.message = reason + (result.message.isEmpty ? "" : "; \(result.message)")
    }

    private static func tenths(_ seconds: Double) -> Double {
        (seconds * 10).rounded() / 10
    }

    private func limits(shareSeconds: Double) -> WorkerLimits {
        let seconds = shareSeconds + configuration.plan.hangSeconds
        return WorkerLimits(
            hangTime: MonotonicClock.now() &+ UInt64(seconds * 1e9), memoryBytes: configuration.memoryBytes)
    }

    /// Puts what came of the worker into the result, and judges it.
    private func conclude(
        _ end: WorkerEnd, _ result: inout CaseResult, _ scenario: any Scenario, _ engine: any Engine
    ) -> CaseDetails {
        result.durationNanoseconds = end.durationNanoseconds
        if let report = end.report {
            result.outcomes = report.outcomes
            result.samples = report.samples
            result.trials = report.trials
            result.isCut = report.isCut
        }
        addProcessOutcome(end, &result)
        result.outcome = result.outcomes.max { $0.outcome.gravity < $1.outcome.gravity }?.outcome
        if let failure = harnessFailure(end, result) {
            result.verdict = .harnessError
            result.message = failure
            return end.report?.details ?? CaseDetails()
        }
        let judgement = rule.judge(result.outcomes, test: result.test, scenario: scenario, engine: engine)
        result.verdict = judgement.verdict
        let notes = end.report?.messages ?? []
        result.message = ([judgement.message] + notes).filter { !$0.isEmpty }.joined(separator: "; ")
        let hasNothing = result.outcomes.isEmpty && result.isCut
        if judgement.verdict == .pass && (end.report?.isInconclusive == true || hasNothing) {
            result.verdict = .inconclusive
        }
        return end.report?.details ?? CaseDetails()
    }

    /// A worker that crashed, hung or took too much memory is an outcome of its own, beside what it reported before.
    private func addProcessOutcome(_ end: WorkerEnd, _ result: inout CaseResult) {
        var outcome = end.stopped
        if outcome == nil, case .signalled = end.end { outcome = .crashed }
        guard let outcome else { return }
        var signal: Int32?
        if case .signalled(let number) = end.end, end.stopped == nil { signal = number }
        result.crash = CrashReport(signal: signal, standardError: end.standardError)
        let detail = CrashText.reason(end.standardError)
        result.trials.append(
            Trial(address: FaultAddress(text: "case"), outcome: outcome, detail: detail, signal: signal))
        if let index = result.outcomes.firstIndex(where: { $0.outcome == outcome }) {
            result.outcomes[index].count += 1
        } else {
            result.outcomes.append(OutcomeCount(outcome: outcome, count: 1))
            let order = Outcome.allCases
            result.outcomes.sort { a, b in
                order.firstIndex(of: a.outcome) ?? 0 < order.firstIndex(of: b.outcome) ?? 0
            }
        }
    }

    /// What makes the case a failure of the harness; nil when it is a statement about the engine.
    private func harnessFailure(_ end: WorkerEnd, _ result: CaseResult) -> String? {
        if let failure = end.report?.harnessFailure { return failure }
        if let first = end.report?.brokenTrials.first {
            return "\(end.report?.brokenTrials.count ?? 0) trials broke: \(first)"
        }
        if end.stopped != nil { return nil }
        switch end.end {
        case .signalled: return nil
        case .exited(let status):
            if let unreadable = end.unreadable { return "the worker's report cannot be read: \(unreadable)" }
            guard end.report != nil else {
                let text = end.standardError.split(separator: "\n").last.map { ": \($0)" } ?? ""
                return "the worker exited with status \(status) without a report\(text)"
            }
            if result.outcomes.isEmpty && !result.isCut { return "the scenario reported no outcome" }
            return status == 0 ? nil : "the worker exited with status \(status) after its report"
        }
    }
}
