import Harness
import Measuring
import RunRecords
import Synchronization

/// Measures the time from the return of a commit until a thread that polls the row sees the committed value.
///
/// A violation: a commit that is not seen within the bound, one that is seen before it began, and one that disappears
/// after it was seen.
struct VisibleLatency: Scenario {
    let slug = "visible-latency"
    let family = Family.concurrency
    let question = "How soon after a commit does another thread see it?"
    let requires: Set<Capability> = [.tables, .updates, .threads]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .isolation
    let parameters = [
        ScenarioParameter("commits", .size, default: 1_000, summary: "transactions of one update"),
        ScenarioParameter(
            "bound", .allowance, default: 10_000, summary: "milliseconds within which a commit has to be seen"),
    ]

    /// Visibility of commits needs no promise: every engine must provide it.
    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        case .hung, .crashed: nil
        default: expects
        }
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// State shared by the two threads.
    private final class Board: Sendable {
        /// Number of the last commit that returned, and when.
        let committed = Atomic<Int64>(0)
        let returnedAt = Atomic<UInt64>(0)
        /// Number of the last commit that the reader saw.
        let seen = Atomic<Int64>(0)
        let isOver = Atomic<Bool>(false)
        /// Number of the last commit that was begun.
        let begun = Atomic<Int64>(0)
        /// Number of a commit that was not seen within the bound, or 0.
        let missed = Atomic<Int64>(0)
        /// The first read that was not a committed state.
        let wrong = Mutex<String?>(nil)
        let bound: UInt64

        init(milliseconds: Int) { bound = UInt64(milliseconds) * 1_000_000 }
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let count = try context.integer("commits")
        guard try PeopleRows.count(in: context) > 0 else { throw HarnessError("there is no row to update") }
        let location = try context.fixtureLocation()
        let board = Board(milliseconds: try context.integer("bound"))
        var expected = ExactOracle(try context.tables())
        let initial = Int64(
            bitPattern: expected.digest(PointReads(table: "Person", keys: [0], columns: ["age"])).sum)
        let (engine, settings, deadline) = (context.engine, context.settings, context.deadline)
        let histograms = try ThreadGroup.run(2) { index in
            index == 0
                ? try Self.write(engine, location, settings: settings, board: board, count: count, deadline: deadline)
                : try Self.watch(engine, location, settings: settings, board: board, initial: initial)
        }
        var latency = Histogram()
        for histogram in histograms { latency.merge(histogram) }
        let committed = board.committed.load(ordering: .relaxed)
        let missed = board.missed.load(ordering: .relaxed)
        if Int(committed) < count && missed == 0 { report.cut() }
        report.add(latency, name: "visible")
        report.note("the time counts from the return of the commit; a commit that was seen before that counts as 0")
        report.add(.operations, Double(latency.count), statistic: "count")
        report.add(
            Trial(
                address: FaultAddress(text: "last commit seen"), outcome: missed == 0 ? .correct : .hung,
                detail: missed == 0 ? "" : "commit \(missed) was not seen within \(board.bound / 1_000_000) ms"))
        report.check("reads that were no state", expected: "", got: board.wrong.withLock { $0 } ?? "")
        if committed > 0 {
            expected.update(table: "Person", column: "age", keys: [0], values: [1_000 + committed])
        }
        context.judgeContent("content", at: location, expected: expected)
        context.require(Int(latency.count), "no commit was seen")
    }

    /// Commits, and waits until the reader has seen the commit before the next one.
    private static func write(
        _ engine: any Engine, _ location: DatabaseLocation, settings: EngineSettings, board: Board, count: Int,
        deadline: UInt64
    ) throws -> Histogram {
        defer { board.isOver.store(true, ordering: .releasing) }
        let session = try CaseContext.session(engine, location, settings, as: (any UpdateSession).self)
        for number in 1...Int64(count) {
            board.begun.store(number, ordering: .releasing)
            try session.update(table: "Person", column: "age", keys: [0], values: [1_000 + number])
            let returned = MonotonicClock.now()
            board.returnedAt.store(returned, ordering: .relaxed)
            board.committed.store(number, ordering: .releasing)
            while board.seen.load(ordering: .acquiring) < number {
                guard MonotonicClock.now() - returned < board.bound else {
                    board.missed.store(number, ordering: .relaxed)
                    break
                }
                // The reader met an error and ended the case.
                if board.isOver.load(ordering: .acquiring) { break }
            }
            if board.isOver.load(ordering: .acquiring) || board.missed.load(ordering: .relaxed) > 0 { break }
            if MonotonicClock.now() > deadline { break }
        }
        try session.close()
        return Histogram()
    }

    /// Polls the row; a commit that is seen before it returned counts as 0.
    private static func watch(
        _ engine: any Engine, _ location: DatabaseLocation, settings: EngineSettings, board: Board,
        initial: Int64
    ) throws -> Histogram {
        defer { board.isOver.store(true, ordering: .releasing) }
        let session = try CaseContext.session(engine, location, settings, as: (any TableSession).self)
        let reads = PointReads(table: "Person", keys: [0], columns: ["age"])
        var histogram = Histogram()
        var last: Int64 = 0
        while true {
            let isOver = board.isOver.load(ordering: .acquiring)
            let value = Int64(bitPattern: try session.readPoints(reads, latency: nil).sum)
            let number = value == initial && last == 0 ? 0 : value - 1_000
            if number < last || number > board.begun.load(ordering: .acquiring) {
                board.wrong.withLock { $0 = $0 ?? "\(value) after \(last + 1_000)" }
                break
            }
            if number > last {
                let now = MonotonicClock.now()
                // Before the writer has published its number: the commit was seen before it returned.
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
