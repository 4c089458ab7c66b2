import Files
import Measuring
import RunRecords
import Seeds
import Statistics

/// Gets the progress of a run, as the terminal does.
package protocol RunObserver {
    func runBegins(_ header: RunHeader, measurementCount: Int)
    func measurementBegins(_ test: Case, _ turn: Turn, index: Int, count: Int, secondsLeft: Double?)
    func measurementEnds(_ result: CaseResult, index: Int, count: Int)
    /// All comparisons that still ran have been measured in the look's number of rounds.
    func lookEnds(_ look: RoundLook)
}

/// What was decided at a look, and what is measured next.
package struct RoundLook: Sendable, Equatable {
    /// The number of complete rounds of the comparisons that were examined.
    package var rounds: Int
    /// The number of comparisons of the run, and of those with an open figure.
    package var comparisons: Int
    package var open: Int
    /// Open comparisons for which the budget has no time left, named by their scenario.
    package var withoutTime: [String]
    /// The number of rounds before the next look; nil after the last look.
    package var next: Int?
    /// The number of comparisons that are measured further.
    package var goingOn: Int
}

/// The configuration of a run, besides the plan.
package struct RunConfiguration: Sendable {
    package var plan: Plan
    package var cases: [PlannedCase]
    package var registries: Registries
    package var directory: RunDirectory
    /// The path of this program, which workers run with the argument `worker`.
    package var executable: String
    package var known: [KnownViolation]
    package var budgetSeconds: Double?
    package var memoryBytes: UInt64
    /// Counts instructions if the plan asks for it, in one more process per measurement.
    package var counter: InstructionCounter?
    /// Tells how many figures of a comparison are open after the rounds so far, by the ids of its cases.
    package var openFigures: @Sendable (Run, Set<String>) -> Int = { _, _ in 1 }

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

/// Makes the measurements of a run: of every case of its plan once, of those of a comparison in rounds.
///
/// After the rounds of each look (``Looks``), the decided comparisons stop. The others continue in the remaining time,
/// those with the most open figures per second first. No round begins if the budget leaves no time to complete it;
/// claims use only completed rounds.
///
/// Invariants:
/// 1. The header is on disk before the first measurement, and each result as soon as it exists: a run that was killed
///    can be rendered and resumed.
/// 2. The run continues after any failure of a worker. Only an error of the run's own directory ends it.
/// 3. If a plan measures, no two cases run at the same time, since they would share the disk. A plan with `measures:
///    false` gives no figures, and runs as many cases at a time as there are processors, at most four.
package struct Runner {
    private let configuration: RunConfiguration
    private var cases: CaseRunner
    private var remainingSeconds: Double?
    private var remainingWeight = 0.0
    private var random: RandomStream
    /// By the index of a case: the total seconds of its measurements, and their number.
    private var spent: [Int: (seconds: Double, count: Int)] = [:]
    /// The number of comparisons that stayed open for lack of time.
    private var leftOpen = 0
    private let begin = MonotonicClock.now()
    /// The result of the one trial of a replay.
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

    /// Makes all measurements of `header` that have no result in the directory yet, and returns the run.
    package mutating func run(_ header: RunHeader, observer: some RunObserver) throws -> Run {
        let directory = configuration.directory
        try directory.create(header)
        try directory.repairResults()
        let all = RunOrder.comparisons(configuration.cases)
        let looks = Looks(most: configuration.plan.rounds)
        var going = all
        var done = 0
        var progress = Progress(done: 0, total: 0)
        for (number, look) in looks.rounds.enumerated() where number == 0 || !going.isEmpty {
            var turns = RunOrder.turns(configuration.cases, going, rounds: done..<look, seed: configuration.plan.seed)
            if number == 0 { turns += RunOrder.once(configuration.cases) }
            let pending = try pending(turns)
            progress.total += turns.count
            progress.done += turns.count - pending.count
            if number == 0 { observer.runBegins(header, measurementCount: turns.count) }
            remainingWeight = pending.reduce(0) { $0 + weight($1, rounds: look - done) }
            try measure(pending, &progress, rounds: look - done, observer)
            try repeatDisturbed(turns, &progress, rounds: look - done, observer)
            if Interruption.isRequested { return try directory.load() }
            done = look
            let next = number + 1 < looks.rounds.count ? looks.rounds[number + 1] : nil
            going = try self.look(after: done, next: next, going, of: all.count, observer)
        }
        try end(header)
        // A later profile builds the fixture of its case anew.
        try cases.discardFixtures()
        try FileTree.remove(directory.workDirectory)
        return try directory.load()
    }

    /// Measures rounds of a comparison again that were clearly more disturbed than is usual in this run. The later
    /// result replaces the earlier one.
    private mutating func repeatDisturbed(
        _ turns: [PlannedTurn], _ progress: inout Progress, rounds: Int, _ observer: some RunObserver
    ) throws {
        guard configuration.plan.measures, !Interruption.isRequested else { return }
        var results: [TurnID: CaseResult] = [:]
        for result in try configuration.directory.readResults().results {
            results[TurnID(id: result.test.id, turn: result.turn)] = result
        }
        let usual = Disturbance.usual(Array(results.values))
        var subject = ""
        var disturbed: Set<PlannedTurn> = []
        var group: [PlannedTurn] = []
        var isDisturbed = false
        func end() {
            if isDisturbed { disturbed.formUnion(group) }
            (group, isDisturbed) = ([], false)
        }
        for turn in turns where configuration.cases[turn.index].isCompared {
            var test = configuration.cases[turn.index].test
            test.engine = ""
            let name = "\(test.canonicalText) \(turn.turn.round)"
            if name != subject { end() }
            subject = name
            group.append(turn)
            let id = configuration.cases[turn.index].test.id
            if let result = results[TurnID(id: id, turn: turn.turn)], let found = Disturbance(result) {
                isDisturbed = isDisturbed || found.isBeyond(usual: usual)
            }
        }
        end()
        let again = turns.filter(disturbed.contains)
        progress.total += again.count
        remainingWeight = again.reduce(0) { $0 + weight($1, rounds: rounds) }
        try measure(again, &progress, rounds: rounds, isRepeated: true, observer)
    }

    /// Decides which comparisons are measured further, and tells the observer.
    private mutating func look(
        after rounds: Int, next: Int?, _ going: [[Int]], of all: Int, _ observer: some RunObserver
    ) throws -> [[Int]] {
        if going.isEmpty { return [] }
        let run = try configuration.directory.load()
        let cases = configuration.cases
        let open = going.compactMap { comparison -> NextRounds.Comparison? in
            let figures = configuration.openFigures(run, Set(comparison.map { cases[$0].test.id }))
            if figures == 0 { return nil }
            let seconds = comparison.reduce(0) { $0 + roundSeconds(of: $1) }
            return NextRounds.Comparison(cases: comparison, openFigures: figures, roundSeconds: seconds)
        }
        var look = RoundLook(
            rounds: rounds, comparisons: all, open: leftOpen + open.count, withoutTime: [], next: next, goingOn: 0)
        guard let next else {
            observer.lookEnds(look)
            return []
        }
        let further = NextRounds(open, rounds: next - rounds, secondsLeft: secondsLeft)
        look.withoutTime = further.withoutTime.map { cases[$0[0]].test.scenario }
        look.goingOn = further.chosen.count
        leftOpen += further.withoutTime.count
        observer.lookEnds(look)
        return going.filter(Set(further.chosen).contains)
    }

    /// Seconds that a round of a case takes, with its control.
    private func roundSeconds(of index: Int) -> Double {
        let one = spent[index].map { $0.seconds / Double($0.count) } ?? 1
        return max(0.001, one) * (configuration.cases[index].hasControl ? 2 : 1)
    }

    private var secondsLeft: Double? {
        configuration.budgetSeconds.map { $0 - Double(MonotonicClock.now() &- begin) / 1e9 }
    }

    /// Records the number of rounds of each comparison that has fewer than the plan's most.
    private func end(_ header: RunHeader) throws {
        var header = header
        let results = try configuration.directory.readResults().results
        for (id, most) in header.rounds {
            let turns = results.filter { $0.test.id == id }.map(\.turn)
            let sides = header.controls.contains(id) ? [Turn.Side.measured, .control] : [.measured]
            let complete = sides.map { side in Set(turns.filter { $0.side == side }.map(\.round)).count }.min() ?? 0
            if complete < most { header.endedRounds[id] = complete }
        }
        try configuration.directory.create(header)
    }

    private struct Progress {
        var done: Int
        var total: Int
    }

    private struct TurnID: Hashable {
        var id: String
        var turn: Turn
    }

    /// The measurements without a result. Notes the durations of those that have one.
    private mutating func pending(_ turns: [PlannedTurn]) throws -> [PlannedTurn] {
        var done: [TurnID: CaseResult] = [:]
        for result in try configuration.directory.readResults().results {
            done[TurnID(id: result.test.id, turn: result.turn)] = result
        }
        return turns.filter { turn in
            guard let result = done[TurnID(id: configuration.cases[turn.index].test.id, turn: turn.turn)] else {
                return true
            }
            if spent[turn.index] == nil { spent[turn.index] = (Double(result.durationNanoseconds) / 1e9, 1) }
            return false
        }
    }

    /// The part of its case's weight that one measurement has when the budget is divided.
    /// - Parameter rounds: the rounds until the next look.
    private func weight(_ turn: PlannedTurn, rounds: Int) -> Double {
        let planned = configuration.cases[turn.index]
        guard planned.isCompared else { return planned.weight }
        return planned.weight / Double(rounds * (planned.hasControl ? 2 : 1))
    }

    /// A running measurement, with its place among the turns.
    private struct Lane {
        var turn: PlannedTurn
        var place: Int
        var begin: UInt64
        var running: RunningCase
    }

    private mutating func measure(
        _ turns: [PlannedTurn], _ progress: inout Progress, rounds: Int, isRepeated: Bool = false,
        _ observer: some RunObserver
    ) throws {
        let start = progress
        var lanes: [Lane] = []
        var next = 0
        let lastUse = lastUseOfFixtures(turns)
        while next < turns.count || !lanes.isEmpty {
            if Interruption.isRequested {
                // A resumed run repeats the measurements that are cancelled here.
                for lane in lanes { try lane.running.cancel() }
                return
            }
            while lanes.count < laneCount, next < turns.count {
                let planned = configuration.cases[turns[next].index]
                if turns[next].turn.round > 0 || isRepeated, let remainingSeconds, remainingSeconds <= 0 {
                    // There is no time for a further round: claims use the earlier ones.
                    progress.total -= 1
                    next += 1
                    continue
                }
                observer.measurementBegins(
                    planned.test, turns[next].turn, index: start.done + next + 1, count: start.total,
                    secondsLeft: remainingSeconds)
                let running = try self.start(turns[next], weight: weight(turns[next], rounds: rounds))
                lanes.append(Lane(turn: turns[next], place: next, begin: MonotonicClock.now(), running: running))
                next += 1
            }
            if lanes.isEmpty { break }
            RunningCase.wait(for: lanes.map(\.running))
            for lane in lanes {
                // After an interrupt, the end of a worker says nothing about its case.
                guard var measured = try lane.running.advance(), !Interruption.isRequested else { continue }
                try count(lane.turn, &measured.result, weight: weight(lane.turn, rounds: rounds))
                if Interruption.isRequested { continue }
                lanes.removeAll { $0.place == lane.place }
                try configuration.directory.append(measured.result, details: measured.details)
                progress.done += 1
                observer.measurementEnds(measured.result, index: progress.done, count: progress.total)
                remainingWeight -= weight(lane.turn, rounds: rounds)
                let known = spent[lane.turn.index] ?? (0, 0)
                let seconds = Double(MonotonicClock.now() &- lane.begin) / 1e9
                spent[lane.turn.index] = (known.seconds + seconds, known.count + 1)
                // Each case got its own copy of a fixture when it started: running cases do not need the original. A
                // case that reads in place runs alone.
                for (key, last) in lastUse where last == lane.place { try cases.discardFixture(key) }
            }
            remainingSeconds = secondsLeft
        }
    }

    /// Measures a case that passed once more, in a process that counts instructions, and adds the count to its result.
    private mutating func count(_ turn: PlannedTurn, _ result: inout CaseResult, weight: Double) throws {
        guard let counter = configuration.counter, CountedCase.objection(to: result) == nil else { return }
        let counted = try cases.run(
            configuration.cases[turn.index], turn: turn.turn, directory: "counted-" + directoryName(),
            seconds: shareSeconds(weight), under: counter
        ).result
        // A failure of that process only means that there is no count.
        guard CountedCase.objection(to: counted) == nil else { return }
        result.samples += counted.samples.filter { $0.metric == InstructionCounter.metric }
    }

    /// One lane if instructions are counted, since `count` waits for its process.
    private var laneCount: Int {
        if configuration.counter != nil { return 1 }
        return configuration.plan.measures ? 1 : max(1, min(4, MachineInspection.processorCount()))
    }

    private mutating func start(_ turn: PlannedTurn, weight: Double) throws -> RunningCase {
        let planned = configuration.cases[turn.index]
        if planned.verdict == nil, let remainingSeconds, remainingSeconds <= 0 {
            var result = CaseResult(test: planned.test, verdict: .inconclusive, turn: turn.turn)
            result.message = "left out: the budget of the run was used up"
            result.isCut = true
            return RunningCase(ended: MeasuredCase(result: result))
        }
        return try cases.start(
            planned, turn: turn.turn, directory: directoryName(), seconds: shareSeconds(weight))
    }

    /// Drawn by the seed, so that no engine has the same place on the disk in every round.
    private mutating func directoryName() -> String {
        "case-" + String(random.next() >> 16, radix: 36)
    }

    /// Runs one case again, or one trial of it, without recording a result.
    ///
    /// - Parameter keep: where a replayed trial leaves its damaged database; nil if it does not.
    package mutating func replay(
        _ planned: PlannedCase, trial: FaultAddress?, keep: KeptDatabase? = nil
    ) throws -> (CaseResult, CaseDetails) {
        try FileTree.createDirectory(configuration.directory.workDirectory)
        let measured = try cases.run(
            planned, directory: directoryName(), seconds: shareSeconds(planned.weight), trial: trial,
            keep: keep?.directory)
        replayed = measured.replayed
        // A later case must not see a change to this fixture: the fixture is discarded, and built anew for it.
        if let key = cases.fixtureKey(planned.test) { try cases.discardFixture(key) }
        try FileTree.remove(configuration.directory.workDirectory)
        return (measured.result, measured.details)
    }

    /// Runs one case again under a profiler, without recording a result.
    ///
    /// - Returns: the result, and the process id of the worker and its profiler.
    package mutating func watch(
        _ planned: PlannedCase, by front: ProcessFront
    ) throws -> (result: CaseResult, processID: Int32) {
        let measured = try cases.run(planned, directory: directoryName(), seconds: 3_600, behind: front)
        if let key = cases.fixtureKey(planned.test) { try cases.discardFixture(key) }
        return (measured.result, measured.processID)
    }

    /// By fixture key, the place of the last measurement that uses the fixture. Fixtures of comparisons are left out:
    /// they stay until the end of the run, since comparisons may continue. ``FreeSpace`` counts all fixtures.
    private func lastUseOfFixtures(_ turns: [PlannedTurn]) -> [String: Int] {
        var last: [String: Int] = [:]
        for (place, turn) in turns.enumerated() {
            if let key = cases.fixtureKey(configuration.cases[turn.index].test) { last[key] = place }
        }
        for planned in configuration.cases where planned.isCompared {
            if let key = cases.fixtureKey(planned.test) { last[key] = nil }
        }
        return last
    }

    /// The seconds that a measurement may take: four times its part of the remaining budget by weight. Most
    /// measurements need far less than their part, and one that was cut compares with no other run.
    private func shareSeconds(_ weight: Double) -> Double {
        guard let remainingSeconds else { return 3_600 }
        let share = max(0, remainingSeconds) * weight / max(remainingWeight, weight)
        return max(1, min(share * 4, remainingSeconds))
    }
}
