import Harness
import Measuring
import RunRecords

/// One-row insert transactions, each durable before the next begins; the disk's own limit is measured before and after.
struct Commit: Scenario {
    let slug = "commit"
    let family = Family.workload
    let question = "How many durable one-row transactions a second does one writer get?"
    let requires: Set<Capability> = [.tables]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("commits", .size, default: 2_000, summary: "transactions"),
        ScenarioParameter(
            "file", default: "empty", allowed: ["empty", "prepared"], summary: "what the database holds before"),
        SampledContent.parameter,
    ]

    func fixture(for test: Case) -> FixtureRequest? {
        test.parameter("file") == "prepared" ? .changing(test) : nil
    }

    func run(_ context: CaseContext) throws {
        let commits = OneRowCommits(
            context: context, isPrepared: try context.text("file") == "prepared",
            count: try context.integer("commits"), isSampled: try context.text("compare") == "sample")
        var raw: [Double] = []
        let result = try commits.run {
            raw.append(try RawDiskLoop(directory: context.directory).overwrite(count: 100).perSecond)
        }
        guard context.engine.capabilities.contains(.persistent), !raw.isEmpty else { return }
        let limit = raw.reduce(0, +) / Double(raw.count)
        context.report.add(.operationsPerSecond, limit, count: raw.count * 100, label: "raw overwrite and sync")
        context.report.add(.rawShare, Double(result.acknowledged) / result.seconds / limit)
    }
}
