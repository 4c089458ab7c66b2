import Harness
import History
import Measuring
import RunRecords

/// Threads read one number, add 1 and write it back, each time in a transaction: no update may be lost.
struct LostUpdate: Scenario {
    let slug = "lost-update"
    let family = Family.concurrency
    let question = "Does every read-modify-write of concurrent writers count?"
    let requires: Set<Capability> = [.tables, .updates, .threads]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .isolation
    let parameters = [
        ScenarioParameter("threads", .size, default: 4, range: 1...256, summary: "writers"),
        ScenarioParameter("increments", .size, default: 1_000, summary: "increments of all threads together"),
    ]
    func objection(to test: Case) -> String? {
        test.integer("increments") < test.integer("threads") ? "increments needs at least one per thread" : nil
    }

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    private struct Lane: Sendable {
        var start: UInt64
        var end: UInt64
        var acknowledged: Int
        var attempted: Int
        var latency: Histogram
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let threads = try context.integer("threads")
        let each = try context.integer("increments") / threads
        let count = try PeopleRows.count(in: context)
        guard count > 0 else { throw HarnessError("there is no row to count in") }
        var random = context.random("row")
        let key = Int64(random.below(count))
        let reads = PointReads(table: "Person", keys: [key], columns: ["age"])
        let initial = ExactOracle(try context.tables()).digest(reads)
        let location = try context.fixtureLocation()
        let lanes = try Self.write(
            threads: threads, each: each, key: key, engine: context.engine, settings: context.settings,
            location: location, deadline: context.deadline)

        let session = try context.open(location, as: (any TableSession).self)
        let final = try session.readPoints(reads, latency: nil)
        try session.close()
        let acknowledged = lanes.reduce(0) { $0 + $1.acknowledged }
        let attempted = lanes.reduce(0) { $0 + $1.attempted }
        let (outcome, detail) = IncrementSum.judge(
            initial: Int64(bitPattern: initial.sum), acknowledged: Int64(acknowledged), attempted: Int64(attempted),
            final: Int64(bitPattern: final.sum))
        report.add(Trial(address: FaultAddress(text: "sum"), outcome: outcome, detail: detail))
        if context.engine.capabilities.contains(.transactions) {
            try checkHistory(context, location, cell: (Int(key) + 1) % count, threads: threads)
        }
        if attempted < threads * each { report.cut() }
        var latency = Histogram()
        for lane in lanes { latency.merge(lane.latency) }
        let start = lanes.map(\.start).min() ?? 0
        let end = lanes.map(\.end).max() ?? 0
        report.add(
            .updatesPerSecond, Double(acknowledged) / (Double(max(1, end - start)) / 1e9), count: acknowledged)
        report.add(latency, name: "increment")
        report.add(.operations, Double(attempted), statistic: "count")
    }

    /// A sum neither shows which update was lost nor that two errors compensate each other. So the threads also
    /// increment another row by transactions of which every read and write is recorded, and the history is judged.
    private func checkHistory(
        _ context: CaseContext, _ location: DatabaseLocation, cell: Int, threads: Int
    ) throws {
        let opening = try context.open(location, as: (any TransactionSession).self)
        try opening.begin(.writing)
        try opening.write(cell, History.initialValue)
        try opening.commit()
        try opening.close()
        let each = min(100, try context.integer("increments") / threads)
        var lanes = try TransactionLane.run(context, location, actors: 0..<threads) { index in
            (0..<each).map { number in
                let value = Int64(index * each + number + 1)
                let steps = [HistoryLog.Step(.read, cell), HistoryLog.Step(.write, cell, value: value)]
                return PlannedTransaction(steps: steps, isRolledBack: false)
            }
        }
        let last = PlannedTransaction(steps: [HistoryLog.Step(.read, cell)], isRolledBack: false)
        lanes.append(try TransactionLane.read(context, location, [last], actor: threads))
        var history = History()
        for lane in lanes { try HistoryLog.add(lane.words, to: &history) }
        try HistoryJudgement.judge(history, lanes.map(\.failures), context, isAll: false)
        if lanes.contains(where: \.isCut) { context.report.cut() }
        try TransactionLane.throwFailure(of: lanes)
    }

    private static func write(
        threads: Int, each: Int, key: Int64, engine: any Engine, settings: EngineSettings, location: DatabaseLocation,
        deadline: UInt64
    ) throws -> [Lane] {
        let line = StartLine(count: threads)
        return try ThreadGroup.run(threads) { _ in
            let opened = Result {
                try CaseContext.session(engine, location, settings, as: (any UpdateSession).self)
            }
            line.arriveAndWait()
            let session = try opened.get()
            let latency = LatencyRecorder()
            var lane = Lane(
                start: MonotonicClock.now(), end: 0, acknowledged: 0, attempted: 0, latency: Histogram())
            while lane.attempted < each, MonotonicClock.now() < deadline {
                let times = min(50, each - lane.attempted)
                lane.attempted += times
                lane.acknowledged += try session.increment(
                    table: "Person", column: "age", key: key, times: times, latency: latency)
            }
            lane.end = MonotonicClock.now()
            lane.latency = latency.histogram
            try session.close()
            return lane
        }
    }
}
