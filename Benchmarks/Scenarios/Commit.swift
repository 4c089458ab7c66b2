import Datasets
import Harness
import Measuring
import Results

/// One-row insert transactions, each durable before the next begins; the limit of the disk is measured around them.
package struct Commit: Scenario {
    package let slug = "commit"
    package let family = Family.workload
    package let question = "How many durable one-row transactions a second does one writer get?"
    package let requires: Set<Capability> = [.tables]
    package let defaultDataset: String? = "people"
    package let parameters = [
        ScenarioParameter("commits", default: "2000", summary: "transactions"),
        ScenarioParameter(
            "file", default: "empty", allowed: ["empty", "prepared"], summary: "what the database holds before"),
    ]

    package init() {}

    package func fixture(for test: Case) -> FixtureRequest? {
        test.parameter("file") == "prepared" ? FixtureRequest() : nil
    }

    package func run(_ context: CaseContext) throws {
        let report = context.report
        let isPrepared = try context.text("file") == "prepared"
        let base = isPrepared ? try PeopleRows.count(in: context) : 0
        let location = isPrepared ? try context.fixtureLocation() : try context.emptyLocation("database")
        let chunks = PeopleRows.chunks(from: base, count: max(1, try context.integer("commits")))
        let warmUp = PeopleDataset.persons(chunks.end..<(chunks.end + max(1, (chunks.end - base) / 20)))
        let session = try context.open(location, as: (any TableSession).self)
        if !isPrepared { try session.create(try PeopleRows.noRows()) }
        // The first commits of a session pay for what later ones find there: a log, a prepared statement.
        _ = try session.insertEach(warmUp, latency: nil)

        let rawBefore = try RawDiskLoop(directory: context.directory).overwrite(count: 100)
        let counters = (session as? any CountingSession)?.fileLayerCounters()
        let usage = ResourceUsage.now()
        let latency = LatencyRecorder()
        var acknowledged = 0
        let start = MonotonicClock.now()
        for chunk in chunks.tables {
            acknowledged += try session.insertEach(chunk, latency: latency)
            if context.isOverBudget { break }
        }
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        let used = ResourceUsage.now().since(usage)
        let rawAfter = try RawDiskLoop(directory: context.directory).overwrite(count: 100)
        if acknowledged < chunks.end - base { report.cut() }

        let commits = Double(max(1, acknowledged))
        report.add(.commitsPerSecond, commits / seconds, count: acknowledged)
        report.add(latency.histogram, name: "commit")
        report.add(.operations, Double(acknowledged), statistic: "count")
        if context.engine.capabilities.contains(.persistent) {
            report.add(.diskBytesPerCommit, Double(used.diskWrittenBytes) / commits, count: acknowledged)
            let raw = (rawBefore.perSecond + rawAfter.perSecond) / 2
            report.add(.operationsPerSecond, raw, count: 200, label: "raw overwrite and sync")
            report.add(.rawShare, commits / seconds / raw)
        }
        if let counters, let session = session as? any CountingSession {
            let difference = session.fileLayerCounters() - counters
            report.add(.syncsPerCommit, Double(difference.syncs) / commits, count: acknowledged)
        }
        try session.close()
        try PeopleRows.verify(
            context, at: location, inserted: base..<(base + acknowledged),
            count: base + acknowledged + warmUp.rowCount)
    }
}
