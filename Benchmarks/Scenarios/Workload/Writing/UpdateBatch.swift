import Harness
import RunRecords

/// Transactions of many random updates, with no, one or twenty versions pinned: speed, bytes to the disk, size.
struct UpdateBatch: Scenario {
    let slug = "update-batch"
    let family = Family.workload
    let question = "How fast are rows updated in batches, and what does that cost while readers hold versions?"
    let requires: Set<Capability> = [.tables, .updates, .snapshots]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("transactions", .size, default: 200, summary: "durable update transactions"),
        ScenarioParameter("updates", .size, default: 1_000, summary: "random rows updated per transaction"),
        ScenarioParameter(
            "readers", .size, default: 0, range: 0...1_000,
            summary: "versions held, pinned at even distances in the run"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let location = try context.fixtureLocation()
        let run = try PinnedUpdates.run(context, at: location)
        run.judgeGrowth(closedBytes: try context.fileBytes(at: location))
        if context.engine.capabilities.contains(.persistent) { try run.judgeLetGo(at: location) }
        context.judgeContent("content", at: location, expected: run.oracle)
    }
}
