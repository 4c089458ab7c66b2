import Harness
import Measuring
import RunRecords
import Seeds

/// Threads that come, open the database, write and go, while what they opened is let go some rounds later.
///
/// A violation: a file that grows on after the first rounds, or an increment that is lost. An instance that nobody let
/// go holds the version that it saw last: here each is held for a number of rounds that the plan says.
struct ManyWriterThreads: Scenario {
    let slug = "many-writer-threads"
    let family = Family.growth
    let question = "Does a file grow with threads that write, end, and leave what they opened behind?"
    let requires: Set<Capability> = [.tables, .updates, .threads, .persistent]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("rounds", default: "100", range: 2...100_000, summary: "times that the threads come"),
        ScenarioParameter("threads", default: "4", range: 1...256, summary: "threads of a round"),
        ScenarioParameter("updates", default: "200", summary: "random rows that each updates in a transaction"),
        ScenarioParameter("held", default: "8", summary: "rounds after which what a thread opened is closed"),
        ScenarioParameter(
            "bound", default: "150", summary: "percent of the size when the first is closed, and 1 MiB, that is allowed"
        ),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// A session that its thread left behind.
    private struct Handed: @unchecked Sendable {  // the thread that made it has ended
        let session: any UpdateSession
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let rows = try PeopleRows.count(in: context)
        let (rounds, threads) = (try context.integer("rounds"), try context.integer("threads"))
        guard rows > threads else { throw HarnessError("each thread needs a row") }
        let updates = try context.integer("updates")
        let held = try context.integer("held")
        let location = try context.fixtureLocation()
        let watcher = try context.open(location)
        var course = SizeCourse(step: "rounds")
        try course.note(watcher, at: 0)
        var left: [[Handed]] = []
        var acknowledged = 0
        for round in 0..<rounds {
            let seed = context.seed.derived("round \(round)")
            let (engine, settings) = (context.engine, context.settings)
            let share = max(1, (rows - threads) / threads)
            left.append(
                try ThreadGroup.run(threads) { index in
                    let session = try CaseContext.session(engine, location, settings, as: (any UpdateSession).self)
                    var random = RandomStream(seed.derived("thread \(index)"))
                    let first = threads + index * share
                    let keys = (0..<updates).map { _ in Int64(first + random.below(share)) }
                    try session.update(
                        table: "Person", column: "age", keys: keys, values: keys.map { _ in Int64(random.below(100)) })
                    _ = try session.increment(
                        table: "Person", column: "age", key: Int64(index), times: 1, latency: nil)
                    return Handed(session: session)
                })
            acknowledged += 1
            if left.count > held { for handed in left.removeFirst() { try handed.session.close() } }
            try course.note(watcher, at: round + 1)
            if context.isOverBudget {
                report.cut()
                break
            }
        }
        for handed in left.joined() { try handed.session.close() }
        try watcher.close()
        report.add(.operations, Double(acknowledged * threads * 2), statistic: "count")
        course.judgePlateau(context, warmUp: held + 3, percent: try context.integer("bound"))
        try Self.verify(context, location, threads: threads, rounds: acknowledged)
    }

    private static func verify(
        _ context: CaseContext, _ location: DatabaseLocation, threads: Int, rounds: Int
    ) throws {
        let reads = PointReads(table: "Person", keys: (0..<threads).map { Int64($0) }, columns: ["age"])
        var expected = ExactOracle(try context.tables()).digest(reads)
        expected.sum &+= UInt64(threads * rounds)
        let session = try context.open(location, as: (any TableSession).self)
        context.report.check("increments", expected: expected, got: try session.readPoints(reads, latency: nil))
        try session.close()
    }
}
