import Datasets
import Harness
import Measuring
import RunRecords

/// One-row durable transactions from several threads, each with a session of its own, all on one database.
struct CommitThreads: Scenario {
    let slug = "commit-threads"
    let family = Family.concurrency
    let question = "How many durable transactions a second do several writers get together, and how fairly?"
    let requires: Set<Capability> = [.tables, .threads]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("threads", .size, default: 4, range: 1...256, summary: "writers"),
        ScenarioParameter("commits", .size, default: 2_000, summary: "transactions of all threads together"),
        ScenarioParameter(
            "writers", default: "serialized", allowed: WriterOrder.allCases.map(\.rawValue),
            summary: "how writers wait, if the engine allows both: for a lock of the process, or in the engine"),
    ]
    func objection(to test: Case) -> String? {
        test.integer("commits") < test.integer("threads") ? "commits needs at least one per thread" : nil
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    private struct Lane: Sendable {
        var start: UInt64
        var end: UInt64
        var commits: Int
        var latency: Histogram
        var answers = CommitAnswers()
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let threads = try context.integer("threads")
        let each = try context.integer("commits") / threads
        let base = try PeopleRows.count(in: context)
        let location = try context.fixtureLocation()
        var settings = context.settings
        settings.writers = WriterOrder(rawValue: try context.text("writers")) ?? .serialized
        let meter = CostMeter(context)
        let witness = context.commitRecorder().witness
        let lanes = try Self.write(
            threads: threads, each: each, base: base, engine: context.engine, settings: settings,
            location: location, deadline: context.deadline, witness: witness)
        var latency = Histogram()
        var answers = CommitAnswers()
        for lane in lanes {
            latency.merge(lane.latency)
            answers.merge(lane.answers)
        }
        let total = lanes.reduce(0) { $0 + $1.commits }
        if total < threads * each { report.cut() }
        let start = lanes.map(\.start).min() ?? 0
        let end = lanes.map(\.end).max() ?? 0
        report.add(.commitsPerSecond, Double(total) / (Double(max(1, end - start)) / 1e9), count: total)
        report.addFairness(lanes.map { Double($0.commits) / Double(max(1, $0.end - $0.start)) })
        report.add(latency, name: "commit")
        report.add(meter.samples(per: "commit", count: total))
        report.judge(answers, in: context.test.durability)
        report.add(.operations, Double(total), statistic: "count")
        context.require(total, "nothing was committed")
        try PeopleRows.verify(
            context, at: location,
            inserted: lanes.enumerated().map { index, lane in
                (base + index * each)..<(base + index * each + lane.commits)
            })
    }

    private static func write(
        threads: Int, each: Int, base: Int, engine: any Engine, settings: EngineSettings, location: DatabaseLocation,
        deadline: UInt64, witness: IOWitness?
    ) throws -> [Lane] {
        let line = StartLine(count: threads)
        return try ThreadGroup.run(threads) { index in
            let chunks = PeopleRows.chunks(from: base + index * each, count: each)
            let opened = Result {
                try CaseContext.session(engine, location, settings, as: (any TableSession).self)
            }
            line.arriveAndWait()
            let session = try opened.get()
            let latency = LatencyRecorder(witness: witness)
            var lane = Lane(start: MonotonicClock.now(), end: 0, commits: 0, latency: Histogram())
            for chunk in chunks.tables {
                lane.commits += try session.insertEach(chunk, latency: latency)
                if MonotonicClock.now() >= deadline { break }
            }
            lane.end = MonotonicClock.now()
            lane.latency = latency.histogram
            lane.answers = latency.commits
            try session.close()
            return lane
        }
    }
}
