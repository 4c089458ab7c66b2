import Harness
import Measuring
import RunRecords
import Synchronization

/// Somebody compacts again and again, while others open, read, write and close.
///
/// A violation: a read that is no state of the database, a lost increment, or an error that is not the compaction's own
/// refusal. An engine that compacts only a database that nobody has open may refuse, or leave it as it is.
struct CompactVsReaders: Scenario {
    let slug = "compact-vs-readers"
    let family = Family.growth
    let question = "Do readers and writers see anything of a compaction beside them?"
    let requires: Set<Capability> = [.tables, .updates, .deletions, .persistent, .compaction, .threads]
    let schedule = Schedule.free
    let defaultDataset: String? = "people"
    let expects: Promise.Kind? = .isolation
    let parameters = [
        ScenarioParameter("readers", default: "2", range: 1...256, summary: "threads that open, read and close"),
        ScenarioParameter(
            "writers", default: "1", range: 1...256, summary: "threads that open, increment a row and close"),
        ScenarioParameter("compactions", default: "40", summary: "attempts"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    /// Everybody else has to have been there several times, however fast an attempt is.
    private final class Visits: Sendable {
        private let number = Atomic<Int>(0)
        var value: Int { number.load(ordering: .relaxed) }
        func add() { number.add(1, ordering: .relaxed) }
    }

    private enum Role { case compactor, writer, reader }

    /// What a thread did.
    private struct Lane: Sendable {
        var done = 0
        var refused = 0
        var wrong: [String] = []
        var latency = Histogram()
    }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let (readers, writers) = (try context.integer("readers"), try context.integer("writers"))
        let compactions = try context.integer("compactions")
        let location = try context.fixtureLocation()
        var deletion = try HalfDeletion(try context.tables())
        let deleting = try context.open(location, as: (any DeletionSession).self)
        _ = try deletion.run(deleting)
        try deleting.close()
        // Even rows are there; the first ones are the writers', the others nobody changes.
        let counters = (0..<writers).map { Int64($0 * 2) }
        let rows = try PeopleRows.count(in: context)
        guard rows > writers * 2 + 2 else { throw HarnessError("each writer needs a row") }
        let still = stride(from: writers * 2, to: rows, by: 2).map { Int64($0) }
        let reads = PointReads(table: "Person", keys: still, columns: ["age", "name"])
        let (expected, before) = (deletion.oracle.digest(reads), deletion.oracle)
        let isOver = Atomic<Bool>(false)
        let visits = (least: 10 * (readers + writers), count: Visits())
        let (engine, settings, deadline) = (context.engine, context.settings, context.deadline)
        let lanes = try ThreadGroup.run(1 + writers + readers) { index in
            let role: Role = index == 0 ? .compactor : index <= writers ? .writer : .reader
            // The others end with the compactor, and everybody with one that met an error.
            defer { isOver.store(true, ordering: .releasing) }
            var lane = Lane()
            func goesOn() -> Bool {
                if isOver.load(ordering: .acquiring) { return false }
                return role != .compactor || lane.done + lane.refused < compactions || visits.count.value < visits.least
            }
            while goesOn() {
                if MonotonicClock.now() > deadline { break }
                let start = MonotonicClock.now()
                switch role {
                case .compactor: try Self.compact(engine, location, settings, &lane)
                case .writer:
                    let session = try CaseContext.session(
                        engine, location, settings, as: (any UpdateSession).self)
                    lane.done += try session.increment(
                        table: "Person", column: "age", key: counters[index - 1], times: 1, latency: nil)
                    try session.close()
                case .reader:
                    let session = try CaseContext.session(engine, location, settings, as: (any TableSession).self)
                    let got = try session.readPoints(reads, latency: nil)
                    if got != expected { lane.wrong.append("expected \(expected), got \(got)") }
                    try session.close()
                    lane.done += 1
                }
                lane.latency.record(MonotonicClock.now() - start)
                if role != .compactor { visits.count.add() }
            }
            return lane
        }
        Self.report(lanes, writers: writers, compactions, report)
        let sums = PointReads(table: "Person", keys: counters, columns: ["age"])
        var due = before.digest(sums)
        due.sum &+= UInt64(lanes[1...writers].reduce(0) { $0 + $1.done })
        let session = try context.open(location, as: (any TableSession).self)
        report.check("increments", expected: due, got: try session.readPoints(sums, latency: nil))
        report.check("rows", expected: (rows + 1) / 2, got: try session.rowCount(table: "Person"))
        try session.close()
    }

    /// Figures of the compactor, which is the first, of the writers behind it and of the readers.
    private static func report(_ lanes: [Lane], writers: Int, _ compactions: Int, _ report: CaseReport) {
        if lanes[0].done + lanes[0].refused < compactions { report.cut() }
        report.add(lanes[0].latency, name: "compaction or its refusal")
        report.add(.compactions, Double(lanes[0].done), statistic: "count")
        report.note("\(lanes[0].done) compactions returned, \(lanes[0].refused) were refused, as others were there")
        var (writing, reading) = (Histogram(), Histogram())
        for lane in lanes[1...writers] { writing.merge(lane.latency) }
        for lane in lanes[(writers + 1)...] { reading.merge(lane.latency) }
        report.add(writing, name: "open, increment, close")
        report.add(reading, name: "open, read, close")
        report.check("reads that were no state", expected: [], got: Array(lanes.flatMap(\.wrong).prefix(5)))
    }

    private static func compact(
        _ engine: any Engine, _ location: DatabaseLocation, _ settings: EngineSettings, _ lane: inout Lane
    ) throws {
        let session = try CaseContext.session(engine, location, settings, as: (any CompactionSession).self)
        do throws(EngineError) {
            try session.compact()
            lane.done += 1
        } catch {
            guard error.kind == .refused else { throw error }
            lane.refused += 1
        }
        try session.close()
    }
}

extension Metric {
    static let compactions = Metric("compactions", unit: "count", .neutral, .measured)
}
