import Harness
import Measuring
import Platform
import RunRecords
import Synchronization

/// Measures how long one writer that commits now and then waits among writers that commit without pause.
///
/// A violation, if the engine promises a bounded wait: a commit that took longer than the bound, or writers that were
/// overtaken again and again (`WriterTurns`). Afterwards the whole database is compared: it must have the acknowledged
/// commits of each thread, and no other change.
struct WriterStarvation: Scenario {
    let slug = "writer-starvation"
    let family = Family.concurrency
    let question = "How long does a writer wait among others that never pause?"
    let requires: Set<Capability> = [.tables, .updates, .threads]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .boundedWait
    let parameters = [
        ScenarioParameter("greedy", .size, default: 4, range: 1...256, summary: "threads that commit without pause"),
        ScenarioParameter("waits", .size, default: 200, summary: "commits of the patient thread, a millisecond apart"),
        ScenarioParameter(
            "bound", .allowance, default: 1_000, summary: "milliseconds that its slowest commit may take"),
    ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        case .silentlyWrong, .lostCommit: .isolation
        case .crashed: nil
        default: expects
        }
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// The work of a thread.
    private struct Lane: Sendable {
        var commits = 0
        var latency = Histogram()
        /// Commits of other threads during a commit of the patient thread.
        var overtakes = Histogram()
    }

    private final class Board: Sendable {
        let isOver = Atomic<Bool>(false)
        let commits = Atomic<Int>(0)
    }

    func run(_ context: CaseContext) throws {
        let greedy = try context.integer("greedy")
        let waits = try context.integer("waits")
        let bound = try context.integer("bound")
        var expected = ExactOracle(try context.tables())
        guard try PeopleRows.count(in: context) > greedy else { throw HarnessError("each thread needs a row") }
        let location = try context.fixtureLocation()
        let board = Board()
        let line = StartLine(count: greedy + 1)
        let (engine, settings, deadline) = (context.engine, context.settings, context.deadline)
        let lanes = try ThreadGroup.run(greedy + 1) { index in
            let opened = Result { try CaseContext.session(engine, location, settings, as: (any UpdateSession).self) }
            line.arriveAndWait()
            // The other threads end when the patient one ends, with or without an error.
            defer { if index == 0 { board.isOver.store(true, ordering: .releasing) } }
            let session = try opened.get()
            let lane =
                index == 0
                ? try Self.wait(session, board, waits: waits, deadline: deadline)
                : try Self.grab(session, Int64(index), board)
            try session.close()
            return lane
        }
        let report = context.report
        if lanes[0].commits < waits { report.cut() }
        report.add(lanes[0].latency, name: "patient commit")
        let others = lanes.dropFirst().reduce(0) { $0 + $1.commits }
        report.add(.overtakes, lanes[0].overtakes.mean, statistic: "mean", count: lanes[0].commits)
        report.add(.overtakes, Double(lanes[0].overtakes.maximum), statistic: "max", count: lanes[0].commits)
        report.note("the others committed \(others) times meanwhile")
        let slowest = Double(lanes[0].latency.maximum) / 1e6
        report.add(
            Trial(
                address: FaultAddress(text: "slowest wait"), outcome: slowest <= Double(bound) ? .correct : .hung,
                detail: slowest <= Double(bound) ? "" : "\(slowest) ms, allowed \(bound)"))
        // The order of the turns is checked as well: unlike times, it does not depend on the load of the machine.
        if context.engine.promises(.boundedWait), context.engine.capabilities.contains(.transactions) {
            if let turns = try WriterTurns.run(context, at: location, threads: greedy + 1) { report.add(turns.trial) }
        }
        for (key, lane) in lanes.enumerated() {
            expected.increment(table: "Person", column: "age", key: Int64(key), by: Int64(lane.commits))
        }
        context.judgeContent("content", at: location, expected: expected)
        context.require(others, "no other writer committed beside the patient one")
    }

    private static func wait(
        _ session: any UpdateSession, _ board: Board, waits: Int, deadline: UInt64
    ) throws -> Lane {
        var lane = Lane()
        while lane.commits < waits, MonotonicClock.now() < deadline {
            usleep(1_000)
            let before = board.commits.load(ordering: .relaxed)
            let start = MonotonicClock.now()
            lane.commits += try session.increment(table: "Person", column: "age", key: 0, times: 1, latency: nil)
            lane.latency.record(MonotonicClock.now() - start)
            lane.overtakes.record(UInt64(board.commits.load(ordering: .relaxed) - before))
        }
        return lane
    }

    private static func grab(_ session: any UpdateSession, _ key: Int64, _ board: Board) throws -> Lane {
        var lane = Lane()
        while !board.isOver.load(ordering: .acquiring) {
            lane.commits += try session.increment(table: "Person", column: "age", key: key, times: 1, latency: nil)
            board.commits.add(1, ordering: .relaxed)
        }
        return lane
    }
}

extension Metric {
    /// Commits of other threads that ended while this one waited.
    static let overtakes = Metric("overtakes", unit: "count", .lowerIsBetter, .measured)
}
