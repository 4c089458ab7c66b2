import Datasets
import Harness
import Measuring
import RunRecords

/// One-row commits while large transactions in between keep the engine's checkpoints, flushes or compactions going.
///
/// Only the small commits are timed. They compete with the work that the large ones leave to the background.
struct CommitDuringCheckpoint: Scenario {
    let slug = "commit-during-checkpoint"
    let family = Family.workload
    let question = "How long do the slowest commits take while the engine works in the background?"
    let requires: Set<Capability> = [.tables, .updates]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("commits", .size, default: 4_000, summary: "timed one-row transactions"),
        ScenarioParameter("every", .condition, default: 20, summary: "timed transactions between two large ones"),
        ScenarioParameter(
            "updates", .size, default: 2_000, range: 0...1_000_000, summary: "random rows updated by each large one"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let report = context.report
        let base = try PeopleRows.count(in: context)
        guard base > 0 else { throw HarnessError("there is no row to update") }
        let location = try context.fixtureLocation()
        let session = try context.open(location, as: (any TableSession).self)
        guard let updates = session as? any UpdateSession else {
            throw HarnessError("\(context.test.engine) declares updates that its session has not")
        }
        let count = try context.integer("commits")
        let every = try context.integer("every")
        let large = try context.integer("updates")
        var random = context.random("updates")
        let latency = LatencyRecorder()
        var changed: [(keys: [Int64], values: [Int64])] = []
        var acknowledged = 0
        while acknowledged < count {
            let keys = (0..<large).map { _ in Int64(random.below(base)) }
            let values = keys.map { _ in Int64(random.below(100)) }
            try updates.update(table: "Person", column: "age", keys: keys, values: values)
            changed.append((keys, values))
            let first = base + acknowledged
            acknowledged += try session.insertEach(
                PeopleDataset.persons(first..<min(first + every, base + count)), latency: latency)
            if context.isOverBudget {
                report.cut()
                break
            }
        }
        report.add(latency.histogram, name: "commit")
        report.add(.operations, Double(acknowledged), statistic: "count")
        try session.close()
        context.require(acknowledged, "nothing was committed")
        try PeopleRows.verify(context, at: location, inserted: [base..<(base + acknowledged)]) { oracle in
            for (keys, values) in changed { oracle.update(table: "Person", column: "age", keys: keys, values: values) }
        }
    }
}
