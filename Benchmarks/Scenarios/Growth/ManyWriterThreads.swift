import Harness
import Measuring
import RunRecords
import Seeds

/// Short-lived threads open the database, write and end; their sessions are closed some rounds later.
///
/// A violation: a file that keeps growing after the first rounds, or a row that differs from the threads' writes. An
/// open session pins the version that it saw last; here each stays open for the number of rounds in the parameter
/// `held`.
struct ManyWriterThreads: Scenario {
    let slug = "many-writer-threads"
    let family = Family.growth
    let question = "Does a file grow with threads that write, end, and leave what they opened behind?"
    let requires: Set<Capability> = [.tables, .updates, .threads, .persistent]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("rounds", .size, default: 100, range: 2...100_000, summary: "rounds, each with new threads"),
        ScenarioParameter("threads", .size, default: 4, range: 1...256, summary: "threads of a round"),
        ScenarioParameter("updates", .size, default: 200, summary: "random rows that each updates in a transaction"),
        ScenarioParameter("held", .condition, default: 8, summary: "rounds for which a thread's session stays open"),
        ScenarioParameter(
            "bound", .allowance, default: 150,
            summary: "largest size, in percent of that up to the first closed sessions, besides a step of growth"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// A session that outlives its thread.
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
        let work = Work(context, rows: rows, threads: threads, updates: updates)
        var oracle = ExactOracle(try context.tables())
        for round in 0..<rounds {
            let (engine, settings) = (context.engine, context.settings)
            left.append(
                try ThreadGroup.run(threads) { index in
                    let session = try CaseContext.session(engine, location, settings, as: (any UpdateSession).self)
                    let (keys, values) = work.updates(round: round, thread: index)
                    try session.update(table: "Person", column: "age", keys: keys, values: values)
                    _ = try session.increment(
                        table: "Person", column: "age", key: Int64(index), times: 1, latency: nil)
                    return Handed(session: session)
                })
            for index in 0..<threads {
                let (keys, values) = work.updates(round: round, thread: index)
                oracle.update(table: "Person", column: "age", keys: keys, values: values)
                oracle.increment(table: "Person", column: "age", key: Int64(index), by: 1)
            }
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
        context.judgeContent("content", at: location, expected: oracle)
    }

    /// The rows that a thread sets, and their values. Threads share no row, so the order of their commits does not
    /// matter.
    private struct Work: Sendable {
        private let seed: Seed
        private let threads: Int
        private let count: Int
        private let share: Int

        init(_ context: CaseContext, rows: Int, threads: Int, updates: Int) {
            seed = context.seed
            self.threads = threads
            count = updates
            share = max(1, (rows - threads) / threads)
        }

        func updates(round: Int, thread: Int) -> (keys: [Int64], values: [Int64]) {
            var random = RandomStream(seed.derived("round \(round)").derived("thread \(thread)"))
            let first = threads + thread * share
            let keys = (0..<count).map { _ in Int64(first + random.below(share)) }
            return (keys, keys.map { _ in Int64(random.below(100)) })
        }
    }
}
