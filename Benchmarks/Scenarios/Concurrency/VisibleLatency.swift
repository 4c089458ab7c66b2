import Harness
import Measuring
import RunRecords
import Synchronization

/// How long after a commit returned another thread, which reads again and again, sees what it wrote.
struct VisibleLatency: Scenario {
    let slug = "visible-latency"
    let family = Family.concurrency
    let question = "How soon after a commit does another thread see it?"
    let requires: Set<Capability> = [.tables, .updates, .threads]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let parameters = [ScenarioParameter("commits", default: "1000", summary: "transactions of one update")]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// What the two threads tell each other.
    private final class Board: Sendable {
        /// Number of the last commit that returned, and when.
        let committed = Atomic<Int64>(0)
        let returnedAt = Atomic<UInt64>(0)
        /// The last one that the reader saw.
        let seen = Atomic<Int64>(0)
        let isOver = Atomic<Bool>(false)
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let count = try context.integer("commits")
        guard try PeopleRows.count(in: context) > 0 else { throw HarnessError("there is no row to update") }
        let location = try context.fixtureLocation()
        let board = Board()
        let (engine, settings, deadline) = (context.engine, context.settings, context.deadline)
        let histograms = try ThreadGroup.run(2) { index in
            index == 0
                ? try Self.write(engine, location, settings, board, count, deadline)
                : try Self.watch(engine, location, settings, board)
        }
        var latency = Histogram()
        for histogram in histograms { latency.merge(histogram) }
        if Int(board.committed.load(ordering: .relaxed)) < count { report.cut() }
        report.add(latency, name: "visible")
        report.add(.operations, Double(latency.count), statistic: "count")
        report.check(
            "last commit seen", expected: board.committed.load(ordering: .relaxed),
            got: board.seen.load(ordering: .relaxed))
    }

    /// Commits, and waits until it was seen before the next.
    private static func write(
        _ engine: any Engine, _ location: DatabaseLocation, _ settings: EngineSettings, _ board: Board, _ count: Int,
        _ deadline: UInt64
    ) throws -> Histogram {
        defer { board.isOver.store(true, ordering: .releasing) }
        let session = try CaseContext.session(engine, location, settings, as: (any UpdateSession).self)
        for number in 1...Int64(count) {
            try session.update(table: "Person", column: "age", keys: [0], values: [1_000 + number])
            board.returnedAt.store(MonotonicClock.now(), ordering: .relaxed)
            board.committed.store(number, ordering: .releasing)
            while board.seen.load(ordering: .acquiring) < number {
                if MonotonicClock.now() > deadline { break }
            }
            if MonotonicClock.now() > deadline { break }
        }
        try session.close()
        return Histogram()
    }

    /// Reads the row without pause; what it sees before the commit returned counts as 0.
    private static func watch(
        _ engine: any Engine, _ location: DatabaseLocation, _ settings: EngineSettings, _ board: Board
    ) throws -> Histogram {
        let session = try CaseContext.session(engine, location, settings, as: (any TableSession).self)
        let reads = PointReads(table: "Person", keys: [0], columns: ["age"])
        var histogram = Histogram()
        var last: Int64 = 0
        while true {
            let isOver = board.isOver.load(ordering: .acquiring)
            let number = Int64(bitPattern: try session.readPoints(reads, latency: nil).sum) - 1_000
            if number > last {
                let now = MonotonicClock.now()
                // The writer may not have said so yet: then it was seen before the commit returned.
                let hasReturned = board.committed.load(ordering: .acquiring) >= number
                let returned = board.returnedAt.load(ordering: .relaxed)
                histogram.record(hasReturned && now > returned ? now - returned : 0)
                last = number
                board.seen.store(number, ordering: .releasing)
            } else if isOver {
                break
            }
        }
        try session.close()
        return histogram
    }
}
