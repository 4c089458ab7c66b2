import Harness
import Measuring
import RunRecords

/// The longest commit while the engine's own checkpoint or flush runs.
///
/// Transactions of random updates continue until the engine's files show a write-back (``Engine/writeBackMarks(at:)``),
/// so that the figure never describes commits without one. As many raw writes and syncs are timed, some before and some
/// after: their longest wait is that of the disk without an engine.
struct CheckpointStall: Scenario {
    let slug = "checkpoint-stall"
    let family = Family.workload
    let question = "How long is a commit held up by the engine's own write-back, and how long by the disk alone?"
    let requires: Set<Capability> = [.tables, .persistent, .updates]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("commits", .size, default: 300, summary: "timed transactions at least"),
        ScenarioParameter("updates", .size, default: 200, summary: "random rows updated by each"),
        ScenarioParameter(
            "within", .condition, default: 0,
            summary: "all updates fall on so many rows in the middle; 0: on all rows"),
        ScenarioParameter(
            "most", .allowance, default: 5_000, summary: "transactions until the engine must have written back"),
        SampledContent.parameter,
    ]

    /// Transactions before the clock starts: the first ones create the log.
    private static let warmUp = 10

    func fixture(for test: Case) -> FixtureRequest? { .changing(test) }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let rows = try PeopleRows.oracle(context)
        let location = try context.fixtureLocation()
        let wanted = try context.integer("commits")
        let most = max(wanted, try context.integer("most"))
        var raw = Histogram()
        let askedBefore = max(1, wanted / 2)
        raw.merge(try RawDiskLoop(directory: context.directory).overwrite(count: askedBefore).histogram)

        var updates = RandomAges(
            rows, count: try context.integer("updates"), within: try context.integer("within"),
            random: context.random("updates"))
        let session = try context.open(location, as: (any UpdateSession).self)
        for _ in 0..<Self.warmUp { try updates.commit(session) }
        let files = WrittenFiles(context.engine, location)
        var latency = Histogram()
        var (commits, updated) = (0, 0)
        while commits < wanted || (commits < most && !files.haveChanged) {
            let (keys, values) = updates.next()
            let start = MonotonicClock.now()
            try updates.commit(session, keys, values)
            latency.record(MonotonicClock.now() - start)
            commits += 1
            updated += keys.count
            if context.isOverBudget {
                report.cut()
                break
            }
        }
        let hasWrittenBack = files.haveChanged
        try session.close()
        let askedAfter = max(1, commits - askedBefore)
        raw.merge(try RawDiskLoop(directory: context.directory).overwrite(count: askedAfter).histogram)

        report.add(latency, name: "commit")
        report.add(.updatesPerSecond, Double(updated) / (latency.mean * Double(commits) / 1e9), count: updated)
        report.add(.operations, Double(commits), statistic: "count")
        report.add(
            .longestWait, Double(raw.maximum) / 1e6, count: Int(raw.count), label: "raw overwrite and sync")
        if hasWrittenBack {
            report.add(.longestWait, Double(latency.maximum) / 1e6, count: commits)
        } else {
            report.inconclusive("the engine wrote nothing back in \(commits) commits: no stall could be measured")
        }
        try updates.verify(context, at: location)
    }
}
