import FaultModel
import Foundation
import Seeds
import SimulatedDisk

/// Runs a history on a simulated disk, cuts power or kills the process at every operation, and opens the disks that may
/// remain: all of them, or as many as `rules` allow. It crashes some of them again during and after the recovery, and
/// during the recovery from that crash.
///
/// What must hold each time: the content is one of those that the timeline allows (acknowledged <= v <= attempted, and
/// no version that was read is lost); the engine's own checks pass; the engine works on, and its further acknowledged
/// commits are kept by the same rule.
struct CrashSimulation<Program: SimulatedProgram> {
    /// How thoroughly disks after earlier crashes are explored.
    struct Depth {
        var rules = CrashRules()
        /// One in this many states is crashed again.
        var every = 16
        /// At one in this many of its operations the process dies and power stays.
        var kills = 4
    }

    let seed: Seed
    let history: ProgramHistory
    var rules = CrashRules()
    /// Whether the process also dies at every operation, with a power loss later.
    var kills = true
    /// After one in this many of these deaths, the recovery from it is interrupted too.
    var killsDeeper = 1
    /// For the crash during a recovery, and during the recovery from that.
    var depths: [Depth]
    /// One in `usedEvery` recovered states gets a transaction; one in `closedEvery` of those gets six transactions, a
    /// close and a reopening.
    var usedEvery = 4
    var closedEvery = 8
    /// At one in this many deaths, and after one in this many recoveries, each of the twin pages is lost.
    var twinsEvery = 4
    /// The seed of the order in which two writers, a reader and background work run; nil for one thread.
    var schedule: Seed?
    /// The deadline for new work; the report has what was visited.
    var deadline = ContinuousClock.now + .seconds(20)

    init(_ seed: Seed, transactions: Int, largest: Int = 0) {
        self.seed = seed
        history = ProgramHistory(seed.derived(part: "history"), count: transactions, largest: largest)
        var depth = Depth()
        depth.rules.exhaustiveUnits = 3
        depth.rules.sampleCount = 4
        depth.rules.pairLimit = 0
        depth.rules.cutLimit = 0
        depths = [depth, depth]
        depths[1].every = 64
    }

    /// Stops at the first three problems.
    func run() throws -> CrashSimulationReport {
        let (disk, timeline) = try record()
        var report = CrashSimulationReport(depths: depths.count + 1)
        let start = CrashSimulationReport.processorSeconds
        // The simplest loss, of all un-synced work, comes first at every operation, since it shows a missing sync.
        for operation in 0...disk.operations where report.goesOn(deadline) {
            let step = CrashAddress.Step(operation: operation, state: StateMask())
            guard let left = disk.crash(at: step) else { continue }
            _ = visit(left, CrashAddress([step]), timeline.allowed(operation), 0, 1, &report)
        }
        report += afterClose(disk, timeline)
        for operation in stride(from: 0, to: disk.operations, by: twinsEvery) where report.goesOn(deadline) {
            let address = CrashAddress([.kill(operation)])
            report += withoutTwins(disk.kill(after: operation), timeline.allowed(operation), address)
        }
        var sweep = disk.sweep(rules)
        for operation in Self.spread(disk.operations + 1) where report.goesOn(deadline) {
            let allowed = timeline.allowed(operation)
            report.sweeps[0] += sweep.visit(points: operation..<(operation + 1), context: timeline.context) { state in
                visit(disk.crash(state), state.address, allowed, 0, state.digest, &report)
            }
            if !kills || operation == disk.operations { continue }
            report.kills += 1
            let address = CrashAddress([.kill(operation)])
            _ = visit(disk.kill(after: operation), address, allowed, 0, UInt64(operation), &report)
        }
        report.sweeps[0].operations = disk.operations
        report.seconds = CrashSimulationReport.processorSeconds - start
        return report
    }

    /// The process dies after the given operations only; then power is lost at every operation of the next process.
    func runDeaths(behind isChosen: (IORecord) -> Bool) throws -> CrashSimulationReport {
        let (disk, timeline) = try record()
        var report = CrashSimulationReport(depths: depths.count + 1)
        for (index, record) in disk.sweep(rules).trace.enumerated() where isChosen(record) {
            let operation = index + 1
            if !report.goesOn(deadline) { break }
            report.kills += 1
            let address = CrashAddress([.kill(operation)])
            _ = visit(disk.kill(after: operation), address, timeline.allowed(operation), 0, 0, &report)
        }
        return report
    }

    /// All numbers below `count`, widely spaced first, so that a short run samples every part of a history.
    private static func spread(_ count: Int) -> [Int] {
        let step = 11
        return (0..<step).flatMap { Array(stride(from: $0, to: count, by: step)) }
    }

    /// Opens the one state that an address names.
    func repeatOne(_ address: CrashAddress) throws -> CrashSimulationReport {
        let (whole, played) = try record()
        var (disk, timeline) = (whole, played)
        var report = CrashSimulationReport(depths: depths.count + 1)
        for (number, step) in address.steps.enumerated() {
            guard let left = disk.crash(at: step) else {
                report.problems = [CrashProblem(address, "step \(number) is no state of this history")]
                return report
            }
            let allowed = timeline.allowed(step.operation)
            switch judge(left, allowed, after: step) {
            case .failure(let wrong): report.problems = [CrashProblem(address, wrong.text)]
            case .success(let next): timeline = next
            }
            if address.steps.count == 1, step.isKill, let again = disk.crash(at: step) {
                report += withoutTwins(again, allowed, address)
            }
            disk = left
        }
        if address.steps == [CrashAddress.Step(operation: whole.operations, state: StateMask())] {
            report += afterClose(whole, played)
        }
        return report
    }

    private func record() throws -> (SimulatedDisk, Timeline) {
        if let schedule { return try recordThreads(schedule) }
        let disk = SimulatedDisk(seed: seed.derived(part: "disk"))
        disk.setOperation("open")
        let program = try Program.open(disk)
        var timeline = Timeline(before: history.states, opened: 0, history.states[0])
        for (number, changes) in history.transactions.enumerated() {
            disk.setOperation("commit-\(number)")
            timeline.begin(history.states[number + 1], at: disk.operations)
            try program.commit { changes }
            if Program.keepsAcknowledged { timeline.keep(number + 1, at: disk.operations) }
        }
        disk.setOperation("close")
        try program.close()
        timeline.keepAll(at: disk.operations)
        return (disk, timeline)
    }

    /// Judges a disk, and some disks after another crash.
    /// - Returns: false if the simulation has to stop.
    private func visit(
        _ left: SimulatedDisk, _ address: CrashAddress, _ allowed: [ProgramState], _ depth: Int, _ choice: UInt64,
        _ report: inout CrashSimulationReport
    ) -> Bool {
        if !report.goesOn(deadline) { return false }
        report.opened += 1
        let start = left.operations
        switch judge(left, allowed, after: address.steps.last) {
        case .failure(let wrong): report.problems.append(CrashProblem(address, wrong.text))
        case .success(let timeline):
            let isKill = address.steps.last?.isKill ?? false
            if depth < depths.count {
                let every = isKill && depth == 0 ? killsDeeper : depths[depth].every
                if choice % UInt64(every) != 0 { return report.goesOn(deadline) }
                visitDeeper(left, address, timeline, (start + 1)..<(left.operations + 1), depth, &report)
            }
        }
        return report.goesOn(deadline)
    }

    /// Cuts power during and after the recovery, and kills the process there.
    private func visitDeeper(
        _ left: SimulatedDisk, _ address: CrashAddress, _ timeline: Timeline, _ points: Range<Int>, _ depth: Int,
        _ report: inout CrashSimulationReport
    ) {
        var sweep = left.sweep(depths[depth].rules)
        let swept = sweep.visit(points: points, context: timeline.context) { inner in
            visit(
                left.crash(inner), address.appending(inner.step), timeline.allowed(inner.step.operation), depth + 1,
                inner.digest, &report)
        }
        report.sweeps[depth + 1] += swept
        for operation in points where operation % depths[depth].kills == 0 && operation < left.operations {
            if !report.goesOn(deadline) { return }
            report.kills += 1
            _ = visit(
                left.kill(after: operation), address.appending(CrashAddress([.kill(operation)])),
                timeline.allowed(operation), depth + 1, UInt64(operation), &report)
        }
    }

    private struct Wrong: Error {
        var text: String
    }

    /// The number of transactions after a recovery, derived from the state, so that an address alone repeats it.
    private func following(_ step: CrashAddress.Step) -> Int {
        let digest = ByteDigest.hash(CrashAddress([step]).description)
        if digest % UInt64(usedEvery) != 0 { return 0 }
        return (digest >> 32) % UInt64(closedEvery) == 0 ? 6 : 1
    }

    /// Opens a disk, compares it, and continues to use it.
    /// - Returns: the allowed contents from now on.
    private func judge(
        _ disk: SimulatedDisk, _ allowed: [ProgramState], after step: CrashAddress.Step?
    ) -> Result<Timeline, Wrong> {
        do {
            disk.setOperation("recover")
            let program = try Program.open(disk)
            let opened = disk.operations
            let found = try program.digest()
            try program.check()
            guard let state = allowed.last(where: { $0.digest == found }) else {
                let known = history.states.indices.filter { history.states[$0].digest == found }
                let wanted = allowed.compactMap { state in history.states.firstIndex { $0 == state } }
                let what = known.isEmpty ? "no state of the history" : "the state after \(known)"
                return .failure(Wrong(text: "found \(what), allowed \(wanted)"))
            }
            // A version that was read must not be lost later.
            var timeline = Timeline(before: allowed, opened: opened, state)
            disk.setOperation("go on")
            let count = step.map(following) ?? 0
            if count > 0 {
                try goOn(program, disk, state, count, &timeline)
            } else if state.digest % UInt64(twinsEvery) == 0, let wrong = wrongWithoutTwin(disk, [state], isQuiet: true)
            {
                return .failure(Wrong(text: wrong))
            }
            return .success(timeline)
        } catch {
            return .failure(Wrong(text: "\(error)"))
        }
    }

    private func goOn(
        _ program: Program, _ disk: SimulatedDisk, _ state: ProgramState, _ count: Int,
        _ timeline: inout Timeline
    ) throws {
        let more = ProgramHistory(disk.settings.seed.derived(part: "go on"), after: state, count: count)
        for (changes, after) in zip(more.transactions, more.states.dropFirst()) {
            timeline.begin(after, at: disk.operations)
            try program.commit { changes }
            if Program.keepsAcknowledged { timeline.keep(timeline.count, at: disk.operations) }
            if try program.digest() != after.digest { throw Wrong(text: "a commit after recovery is not read") }
        }
        if count == 1 { return }
        try program.check()
        try program.close()
        timeline.keepAll(at: disk.operations)
        let again = try Program.open(disk)
        if try again.digest() != more.states.last?.digest { throw Wrong(text: "a close loses something") }
        try again.close()
    }
}

/// A disk whose check failed, and the reason.
struct CrashProblem: Equatable, CustomStringConvertible {
    var address: CrashAddress
    var text: String

    init(_ address: CrashAddress, _ text: String) {
        self.address = address
        self.text = text
    }

    var description: String { "\(address): \(text)" }
}

/// The counts of a simulation.
struct CrashSimulationReport: CustomStringConvertible {
    /// By depth: crashes of the history, of the recovery, of the recovery from that.
    var sweeps: [CrashCoverage]
    /// Deaths of the process without a power loss.
    var kills = 0
    /// Disks opened and judged.
    var opened = 0
    /// Processor time of the calling thread.
    var seconds = 0.0
    var problems: [CrashProblem] = []
    var isCut = false

    init(depths: Int) { sweeps = Array(repeating: CrashCoverage(), count: depths) }

    /// Whether to go on: not after three problems, and not after the deadline, which `isCut` records.
    mutating func goesOn(_ deadline: ContinuousClock.Instant) -> Bool {
        if ContinuousClock.now > deadline { isCut = true }
        return problems.count < 3 && !isCut
    }

    static func += (one: inout CrashSimulationReport, other: CrashSimulationReport) {
        for depth in one.sweeps.indices { one.sweeps[depth] += other.sweeps[depth] }
        one.kills += other.kills
        one.opened += other.opened
        one.seconds += other.seconds
        one.problems += other.problems
        one.isCut = one.isCut || other.isCut
    }

    var description: String {
        let visited = sweeps.reduce(0) { $0 + $1.visited } + kills
        let rates =
            seconds > 0 ? "\(Int(Double(visited) / seconds)) visited and \(Int(Double(opened) / seconds)) opened" : "-"
        let levels = sweeps.enumerated().map { "  \($0 + 1) deep: \($1)" }.joined(separator: "\n")
        return """
            deaths of the process \(kills), disks opened \(opened); per second and core \(rates)\
            \(isCut ? "; cut by the deadline" : "")
            \(levels)
            """
    }

    static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
