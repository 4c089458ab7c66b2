import Datasets
import Harness
import Measuring
import RunRecords
import Seeds
import Synchronization

/// Readers and writers work on one database without pause: the throughput of each side.
///
/// Writers increment rows by their keys, some rows much more often than others. A reader must never see an older value
/// than it has seen before, and after the writers have ended each reader must read the final values.
struct MixedThreads: Scenario {
    let slug = "mixed-threads"
    let family = Family.concurrency
    let question = "What do readers and writers get beside each other, and how fairly?"
    let requires: Set<Capability> = [.tables, .threads, .keyedRows]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("readers", .size, default: 2, range: 1...256, summary: "threads that read row after row"),
        ScenarioParameter("writers", .size, default: 2, range: 1...256, summary: "threads that commit row after row"),
        ScenarioParameter("commits", .size, default: 2_000, summary: "transactions of all writers together"),
    ]

    func objection(to test: Case) -> String? {
        test.integer("commits") < test.integer("writers") ? "commits needs at least one per writer" : nil
    }

    func fixture(for test: Case) -> FixtureRequest? { .changing(test) }

    /// The work of a thread.
    private struct Lane: Sendable {
        var start: UInt64 = 0
        var end: UInt64 = 0
        var done = 0
        var latency = Histogram()
        var answers = CommitAnswers()
        /// Of a writer: its increments of each row.
        var increments: [Int64: Int64] = [:]
        /// Of a reader: its reads after the writers ended.
        var last: [(key: Int64, answer: ReadDigest)] = []
        var complaint: String?

        var rate: Double { end > start ? Double(done) / (Double(end - start) / 1e9) : 0 }
    }

    private struct Load: Sendable {
        let content: KeyedContent
        let zipfian: Zipfian
        let each: Int
        let writers: Int
        let deadline: UInt64
        let witness: IOWitness?
    }

    private final class Board: Sendable {
        let writing: Atomic<Int>
        init(writers: Int) { writing = Atomic(writers) }
        var isOver: Bool { writing.load(ordering: .acquiring) == 0 }
    }

    /// Rows that a reader reads after the writers ended.
    private static let lastReads = 100

    func run(_ context: CaseContext) throws {
        let (readers, writers) = (try context.integer("readers"), try context.integer("writers"))
        _ = try PeopleRows.oracle(context)
        let content = try KeyedContent(try context.tables().main)
        let load = Load(
            content: content, zipfian: Zipfian(content.count), each: try context.integer("commits") / writers,
            writers: writers, deadline: context.deadline, witness: context.commitRecorder().witness)
        let location = try context.fixtureLocation()
        let lanes = try Self.work(context, load, location, threads: readers + writers)
        let (writing, reading) = (lanes[..<writers], lanes[writers...])
        let report = context.report
        let commits = writing.reduce(0) { $0 + $1.done }
        if commits < load.each * writers { report.cut() }
        Self.tell(.commitsPerSecond, writing, name: "commit", role: "writers", report: report)
        Self.tell(.operationsPerSecond, reading, name: "read", role: "readers", report: report)
        var answers = CommitAnswers()
        for lane in writing { answers.merge(lane.answers) }
        report.judge(answers, in: context.test.durability)
        report.add(.operations, Double(commits), statistic: "count")
        context.require(commits, "nothing was committed")
        try Self.judge(context, content, lanes: lanes, location: location)
    }

    private static func tell(
        _ metric: Metric, _ lanes: ArraySlice<Lane>, name: String, role: String, report: CaseReport
    ) {
        let span = (lanes.map(\.end).max() ?? 0) &- (lanes.map(\.start).min() ?? 0)
        let done = lanes.reduce(0) { $0 + $1.done }
        report.add(metric, Double(done) / (Double(max(1, span)) / 1e9), count: done, label: role)
        report.addFairness(lanes.map(\.rate), label: role)
        var latency = Histogram()
        for lane in lanes { latency.merge(lane.latency) }
        report.add(latency, name: name)
    }

    private static func judge(
        _ context: CaseContext, _ content: KeyedContent, lanes: [Lane], location: DatabaseLocation
    ) throws {
        var increments: [Int64: Int64] = [:]
        for lane in lanes { increments.merge(lane.increments) { $0 + $1 } }
        var complaint = lanes.compactMap(\.complaint).first
        for (key, answer) in lanes.flatMap(\.last) where complaint == nil {
            let wanted = content.ages[Int(key)] + (increments[key] ?? 0)
            complaint = Self.complaint(content, key, answer: answer, allowed: wanted...wanted)
        }
        context.report.add(
            Trial(
                address: FaultAddress(text: "answers"), outcome: complaint == nil ? .correct : .silentlyWrong,
                detail: complaint ?? ""))
        var expected = ExactOracle(try context.tables())
        for (key, times) in increments {
            expected.increment(
                table: KeyedContent.rows.table, column: KeyedContent.rows.changed, key: key, by: times)
        }
        context.judgeContent("content", at: location, expected: expected)
    }

    private static func complaint(
        _ content: KeyedContent, _ key: Int64, answer: ReadDigest, allowed: ClosedRange<Int64>
    ) -> String? {
        let age = Int64(bitPattern: answer.sum &- content.rests[Int(key)])
        if answer.count == KeyedContent.rows.columns.count, allowed.contains(age) { return nil }
        return "row \(key): \(answer.count) values, age \(age), not \(KeyedContent.rows.columns.count) and \(allowed)"
    }

    // MARK: Threads

    /// Writers first.
    private static func work(
        _ context: CaseContext, _ load: Load, _ location: DatabaseLocation, threads: Int
    ) throws -> [Lane] {
        let (engine, settings) = (context.engine, context.settings)
        let seed = context.seed.derived("keys")
        let board = Board(writers: load.writers)
        let line = StartLine(count: threads)
        return try ThreadGroup.run(threads) { index in
            let isWriter = index < load.writers
            let opened = Result {
                let session = try CaseContext.session(engine, location, settings, as: (any KeyedRowSession).self)
                try session.prepareRows(KeyedContent.rows)
                return session
            }
            line.arriveAndWait()
            // Readers end when the last writer has ended, with or without an error.
            defer { if isWriter { board.writing.subtract(1, ordering: .releasing) } }
            let session = try opened.get()
            var random = RandomStream(seed.derived(UInt64(index)))
            let lane =
                isWriter ? try write(session, load, &random) : try read(session, load, board: board, random: &random)
            try session.close()
            return lane
        }
    }

    private static func write(
        _ session: any KeyedRowSession, _ load: Load, _ random: inout RandomStream
    ) throws -> Lane {
        let recorder = LatencyRecorder(witness: load.witness)
        var lane = Lane(start: MonotonicClock.now())
        while lane.done < load.each, MonotonicClock.now() < load.deadline {
            let key = Int64(load.zipfian.scattered(&random))
            _ = try recorder.time { try session.incrementRow(key) }
            lane.increments[key, default: 0] += 1
            lane.done += 1
        }
        lane.end = MonotonicClock.now()
        lane.latency = recorder.histogram
        lane.answers = recorder.commits
        return lane
    }

    private static func read(
        _ session: any KeyedRowSession, _ load: Load, board: Board, random: inout RandomStream
    ) throws -> Lane {
        let recorder = LatencyRecorder()
        var seen = load.content.ages
        var lane = Lane(start: MonotonicClock.now())
        repeat {
            let key = Int64(load.zipfian.scattered(&random))
            let answer = try recorder.timeSampled(lane.done) { try session.readRow(key) }
            lane.done += 1
            if let complaint = complaint(load.content, key, answer: answer, allowed: seen[Int(key)]...(.max)) {
                lane.complaint = lane.complaint ?? complaint
            } else {
                seen[Int(key)] = Int64(bitPattern: answer.sum &- load.content.rests[Int(key)])
            }
        } while !board.isOver
        lane.end = MonotonicClock.now()
        lane.latency = recorder.histogram
        for _ in 0..<lastReads {
            let key = Int64(load.zipfian.scattered(&random))
            lane.last.append((key, try session.readRow(key)))
        }
        return lane
    }
}
