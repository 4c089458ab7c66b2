import Harness
import RunRecords

/// Transactions of many random updates, with none, one or twenty versions pinned: speed, bytes to the disk, size.
package struct UpdateBatch: Scenario {
    package let slug = "update-batch"
    package let family = Family.workload
    package let question = "How fast are rows updated in batches, and what does that cost while readers hold versions?"
    package let requires: Set<Capability> = [.tables, .updates, .snapshots]
    package let defaultDataset: String? = "people"
    package let parameters = [
        ScenarioParameter("transactions", default: "200", summary: "durable update transactions"),
        ScenarioParameter("updates", default: "1000", summary: "random rows updated per transaction"),
        ScenarioParameter(
            "readers", default: "0", range: 0...1_000, summary: "versions held, pinned at even distances in the run"),
    ]

    package init() {}

    package func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    package func run(_ context: CaseContext) throws {
        let location = try context.fixtureLocation()
        let run = try PinnedUpdates.run(context, at: location)
        run.judgeGrowth(closedBytes: try context.fileBytes(at: location))
        context.judgeContent("content", at: location, expected: run.oracle)
    }
}
