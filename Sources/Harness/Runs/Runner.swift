import Measuring
import RunRecords
import Seeds

/// Hears of a run's progress: the terminal does.
package protocol RunObserver {
    func runBegins(_ header: RunHeader, measurementCount: Int)
    func measurementBegins(_ test: Case, _ turn: Turn, index: Int, count: Int, secondsLeft: Double?)
    func measurementEnds(_ result: CaseResult, index: Int, count: Int)
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
    /// What the measurements of a plan that asks for it are counted by, each in a process more.
    package var counter: InstructionCounter?

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

/// Works through the measurements of a run: every case of its plan once, those of a comparison in rounds.
///
/// Invariants:
/// 1. The header is on disk before the first measurement, and each result as soon as it is there: a run that is killed
///    can be rendered and finished.
/// 2. Whatever a worker does, the run goes on. Only an error of the run's own directory ends it.
/// 3. Where a plan measures, no two cases run at the same time: they would share the disk. A plan that says
///    `measures: false` gives no figures, and runs as many cases at a time as there are processors, at most four.
package struct Runner {
    private let configuration: RunConfiguration
    private var cases: CaseRunner
    private var remainingSeconds: Double?
    private var remainingWeight = 0.0
    private var random: RandomStream
    /// After a replay of one trial: what came of it.
    package private(set) var replayed: ReplayedTrial?

    package init(_ configuration: RunConfiguration) {
        self.configuration = configuration
        cases = CaseRunner(
            executable: configuration.executable, registries: configuration.registries,
            directory: configuration.directory.workDirectory,
            limits: CaseRunner.Limits(
                hangSeconds: configuration.plan.hangSeconds, memoryBytes: configuration.memoryBytes),
            readsInPlace: configuration.plan.measures, known: configuration.known)
        remainingSeconds = configuration.budgetSeconds
        random = RandomStream(configuration.plan.seed.derived("directories"))
    }

    /// Makes all measurements that `header` lists and the directory has no result of.
    package mutating func run(_ header: RunHeader, observer: some RunObserver) throws -> Run {
        let directory = configuration.directory
        try directory.create(header)
        try directory.repairResults()
        let pending = try pendingTurns()
        remainingWeight = pending.reduce(0) { $0 + weight($1) }
        let total = header.cases.reduce(0) { $0 + header.measurementCount(of: $1) }
        observer.runBegins(header, measurementCount: total)
        try measure(pending, Progress(done: total - pending.count, total: total), observer)
        try FileTree.remove(directory.workDirectory)
        return try directory.load()
    }

    private struct Progress {
        var done: Int
        var total: Int
    }

    private struct TurnID: Hashable {
        var id: String
        var turn: Turn
    }

    private func pendingTurns() throws -> [PlannedTurn] {
        let done = Set(
            try configuration.directory.readResults().results.map { TurnID(id: $0.test.id, turn: $0.turn) })
        return RunOrder.turns(
            configuration.cases, rounds: configuration.plan.rounds, seed: configuration.plan.seed
        ).filter { !done.contains(TurnID(id: configuration.cases[$0.index].test.id, turn: $0.turn)) }
    }

    /// What a measurement counts of its case's part of the budget.
    private func weight(_ turn: PlannedTurn) -> Double {
        let planned = configuration.cases[turn.index]
        guard planned.isHeadline else { return planned.weight }
        return planned.weight / Double(configuration.plan.rounds * (planned.hasControl ? 2 : 1))
    }

    /// A measurement on its way, with its place in the list.
    private struct Lane {
        var turn: PlannedTurn
        var place: Int
        var running: RunningCase
    }

    private mutating func measure(
        _ turns: [PlannedTurn], _ start: Progress, _ observer: some RunObserver
    ) throws {
        var progress = start
        var lanes: [Lane] = []
        var next = 0
        let lastUse = lastUseOfFixtures(turns)
        let begin = MonotonicClock.now()
        let budget = remainingSeconds
        while next < turns.count || !lanes.isEmpty {
            if Interruption.isRequested {
                // What was under way is done again by a run that goes on.
                for lane in lanes { try lane.running.cancel() }
                return
            }
            while lanes.count < laneCount, next < turns.count {
                let planned = configuration.cases[turns[next].index]
                observer.measurementBegins(
                    planned.test, turns[next].turn, index: start.done + next + 1, count: start.total,
                    secondsLeft: remainingSeconds)
                lanes.append(Lane(turn: turns[next], place: next, running: try self.start(turns[next])))
                next += 1
            }
            RunningCase.wait(for: lanes.map(\.running))
            for lane in lanes {
                // An interruption ends the workers: what comes of them then is none of a case.
                guard var measured = try lane.running.advance(), !Interruption.isRequested else { continue }
                try count(lane.turn, &measured.result)
                if Interruption.isRequested { continue }
                lanes.removeAll { $0.place == lane.place }
                try configuration.directory.append(measured.result, details: measured.details)
                progress.done += 1
                observer.measurementEnds(measured.result, index: progress.done, count: progress.total)
                remainingWeight -= weight(lane.turn)
                // Each case has a copy of its own, made when it started: none that still runs needs the original. What
                // reads in place runs alone.
                for (key, last) in lastUse where last == lane.place { try cases.discardFixture(key) }
            }
            remainingSeconds = budget.map { $0 - Double(MonotonicClock.now() &- begin) / 1e9 }
        }
    }

    /// Adds the instructions of a measurement that passed, from a process of their own.
    private mutating func count(_ turn: PlannedTurn, _ result: inout CaseResult) throws {
        guard let counter = configuration.counter, CountedCase.objection(to: result) == nil else { return }
        let counted = try cases.run(
            configuration.cases[turn.index], turn: turn.turn, directory: "counted-" + directoryName(),
            seconds: shareSeconds(weight(turn)), under: counter
        ).result
        // What went wrong there alone is no figure.
        guard CountedCase.objection(to: counted) == nil else { return }
        result.samples += counted.samples.filter { $0.metric == InstructionCounter.metric }
    }

    /// What is counted waits for no other lane.
    private var laneCount: Int {
        if configuration.counter != nil { return 1 }
        return configuration.plan.measures ? 1 : max(1, min(4, MachineInspection.processorCount()))
    }

    private mutating func start(_ turn: PlannedTurn) throws -> RunningCase {
        let planned = configuration.cases[turn.index]
        if planned.verdict == nil, let remainingSeconds, remainingSeconds <= 0 {
            var result = CaseResult(test: planned.test, verdict: .inconclusive, turn: turn.turn)
            result.message = "left out: the budget of the run was used up"
            result.isCut = true
            return RunningCase(ended: MeasuredCase(result: result))
        }
        return try cases.start(
            planned, turn: turn.turn, directory: directoryName(), seconds: shareSeconds(weight(turn)))
    }

    /// Chosen by the seed, so that no engine has the same place on the disk in every round.
    private mutating func directoryName() -> String {
        "case-" + String(random.next() >> 16, radix: 36)
    }

    /// Runs one case again, or one trial of it, without a trace in the results.
    ///
    /// - Parameter keep: where the one trial leaves its damaged database; nil where nobody wants it.
    package mutating func replay(
        _ planned: PlannedCase, trial: FaultAddress?, keep: KeptDatabase? = nil
    ) throws -> (CaseResult, CaseDetails) {
        try FileTree.createDirectory(configuration.directory.workDirectory)
        let measured = try cases.run(
            planned, directory: directoryName(), seconds: shareSeconds(planned.weight), trial: trial,
            keep: keep?.directory)
        replayed = measured.replayed
        // The next round builds its fixture anew: nothing of this one may reach it.
        if let key = cases.fixtureKey(planned.test) { try cases.discardFixture(key) }
        try FileTree.remove(configuration.directory.workDirectory)
        return (measured.result, measured.details)
    }

    /// Runs one case again behind a program that watches it, without a trace in the results.
    ///
    /// - Returns: what came of it, and the id of the process that the program and the worker were.
    package mutating func watch(
        _ planned: PlannedCase, by front: ProcessFront
    ) throws -> (result: CaseResult, processID: Int32) {
        let measured = try cases.run(planned, directory: directoryName(), seconds: 3_600, behind: front)
        if let key = cases.fixtureKey(planned.test) { try cases.discardFixture(key) }
        return (measured.result, measured.processID)
    }

    /// By fixture key the place of the last measurement that uses it.
    private func lastUseOfFixtures(_ turns: [PlannedTurn]) -> [String: Int] {
        var last: [String: Int] = [:]
        for (place, turn) in turns.enumerated() {
            if let key = cases.fixtureKey(configuration.cases[turn.index].test) { last[key] = place }
        }
        return last
    }

    /// A measurement's share: four times its part by weight of what is left, since most need far less than their part,
    /// and one that is cut compares with no other run.
    private func shareSeconds(_ weight: Double) -> Double {
        guard let remainingSeconds else { return 3_600 }
        let share = max(0, remainingSeconds) * weight / max(remainingWeight, weight)
        return max(1, min(share * 4, remainingSeconds))
    }
}
