import Harness
import Measuring
import RunRecords

/// Transactions that set one integer each, again and again.
///
/// A violation: a file that leaves its plateau, more bytes written to files per commit than the bound allows, or a
/// value that is not the last one written. The preloaded library counts the bytes of the case's own write calls: the
/// kernel's count for the process counts whole folios of the page cache.
struct MillionSmallCommits: Scenario {
    let slug = "million-small-commits"
    let family = Family.growth
    let question = "How far does a file grow in a million commits of one field, and how much is written?"
    let requires: Set<Capability> = [.tables, .updates, .persistent]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("commits", .size, default: 1_000_000, range: 10...100_000_000, summary: "transactions"),
        ScenarioParameter(
            "bound", .allowance, default: 200,
            summary: "largest size, in percent of that in the first tenth of the commits, besides a step of growth"),
        ScenarioParameter(
            "written", .allowance, default: 32_768, summary: "bytes that a commit may write to its files, on average"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let rows = try PeopleRows.count(in: context)
        guard rows > 0 else { throw HarnessError("there is no row to update") }
        let count = try context.integer("commits")
        let location = try context.fixtureLocation()
        let session = try context.open(location, as: (any UpdateSession).self)
        var random = context.random("updates")
        var oracle = ExactOracle(try context.tables())
        var course = SizeCourse(step: "commits")
        try course.note(session, at: 0)
        let (points, meter) = (200, CostMeter(context))
        var (done, nanoseconds) = (0, UInt64(0))
        while done < count {
            let end = min(count, done + max(1, count / points))
            let keys = (done..<end).map { _ in Int64(random.below(rows)) }
            let values = keys.indices.map { Int64(($0 &* 7 + done) % 100) }
            let start = MonotonicClock.now()
            for (key, value) in zip(keys, values) {
                try session.update(table: "Person", column: "age", keys: [key], values: [value])
            }
            nanoseconds += MonotonicClock.now() - start
            oracle.update(table: "Person", column: "age", keys: keys, values: values)
            done = end
            try course.note(session, at: done)
            if context.isOverBudget {
                report.cut()
                break
            }
        }
        let written = meter.witnessedBytes()
        try session.close()
        report.add(.commitsPerSecond, Double(done) / (Double(max(1, nanoseconds)) / 1e9), count: done)
        report.add(.operations, Double(done), statistic: "count")
        let average = written.map { Double($0) / Double(done) }
        Self.judgeWritten(average, limit: try context.integer("written"), context, done)
        let warmUp = max(2, course.series.points.count / 10)
        course.judgePlateau(context, warmUp: warmUp, percent: try context.integer("bound"))
        context.judgeContent("content", at: location, expected: oracle)
    }

    /// - Parameter average: bytes per commit; nil where they were not counted.
    static func judgeWritten(_ average: Double?, limit: Int, _ context: CaseContext, _ count: Int) {
        let report = context.report
        guard let average else {
            let reason = "bytes written were not counted: libAssayPreload.so is not there"
            // Inconclusive only for an engine that promises a bound.
            return context.engine.promises(.boundedSize) ? report.inconclusive(reason) : report.note(reason)
        }
        report.add(.writtenBytesPerCommit, average, count: count)
        report.add(.writeAmplification, average / 8, count: count)
        guard context.engine.promises(.boundedSize) else { return }
        // No bytes were counted if the engine writes in another way than by write calls.
        guard average > 0 else {
            report.inconclusive("no byte was written to the files that are counted")
            return
        }
        report.add(
            Trial(
                address: FaultAddress(text: "written"), outcome: average <= Double(limit) ? .correct : .overSize,
                detail: average <= Double(limit) ? "" : "\(average) bytes a commit, allowed \(limit)"))
    }
}
