import Datasets
import Harness
import Measuring
import RunRecords

/// Inserts people one by one, each in a transaction, into an empty or a prepared database, and reads them back.
struct OneRowCommits {
    let context: CaseContext
    let isPrepared: Bool
    let count: Int
    /// Compares a sample of the rows afterwards instead of all: for large prepared databases.
    var isSampled = false
    /// False if a commit is so fast that reading the clock twice would show.
    var isTimed = true

    struct Result {
        var acknowledged: Int
        var seconds: Double
    }

    /// `around`: called before the first and after the last measured commit.
    func run(around: () throws -> Void = {}) throws -> Result {
        let report = context.report
        let base = isPrepared ? try PeopleRows.count(in: context) : 0
        let location = isPrepared ? try context.fixtureLocation() : try context.emptyLocation("database")
        let chunks = PeopleRows.chunks(from: base, count: count)
        let warmUp = PeopleDataset.persons(chunks.end..<(chunks.end + max(1, min(1_000, count / 20))))
        let session = try context.open(location, as: (any TableSession).self)
        if !isPrepared { try session.create(try PeopleRows.noRows()) }
        // The first commits of a session create what later ones use: a log, a prepared statement.
        _ = try session.insertEach(warmUp, latency: nil)

        try around()
        let latency = context.commitRecorder()
        let meter = CostMeter(context)
        var acknowledged = 0
        let start = MonotonicClock.now()
        for chunk in chunks.tables {
            acknowledged += try session.insertEach(chunk, latency: isTimed ? latency : nil)
            if context.isOverBudget { break }
        }
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        let costs = meter.samples(per: "commit", count: max(1, acknowledged))
        try around()
        if acknowledged < chunks.end - base { report.cut() }

        let commits = Double(max(1, acknowledged))
        report.add(.commitsPerSecond, commits / seconds, count: acknowledged)
        report.add(latency.histogram, name: "commit")
        report.add(.operations, Double(acknowledged), statistic: "count")
        report.judge(latency.commits, in: context.test.durability)
        if context.engine.capabilities.contains(.persistent) { report.add(costs) }
        try session.close()
        context.require(acknowledged, "nothing was committed")
        let inserted = [base..<(base + acknowledged), chunks.end..<(chunks.end + warmUp.rowCount)]
        if isSampled && isPrepared {
            try SampledContent(rows: try RowOracle(context), inserted: inserted).judge(context, at: location)
            return Result(acknowledged: acknowledged, seconds: seconds)
        }
        try PeopleRows.verify(
            context, at: location, isEmpty: !isPrepared,
            inserted: inserted)
        return Result(acknowledged: acknowledged, seconds: seconds)
    }
}
