import Harness
import RunRecords

/// A reader holds an old version while a writer updates row after row. The file must not grow without bound, and the
/// reader must see its version to the end.
struct PinnedReader: Scenario {
    let slug = "pinned-reader"
    let family = Family.growth
    let question = "How far does the file grow while a reader holds an old version?"
    let requires: Set<Capability> = [.tables, .updates, .snapshots]
    let defaultDataset: String? = "people"
    let parameters = [
        ScenarioParameter("transactions", .size, default: 200, summary: "update transactions while the reader reads"),
        ScenarioParameter("updates", .size, default: 1_000, summary: "random rows updated per transaction"),
        ScenarioParameter(
            "readers", .size, default: 1, range: 1...1_000,
            summary: "versions held, the first before the first update"),
        ScenarioParameter(
            "bound", .allowance, default: 4,
            summary: "largest size, in multiples of that at the start, and a step of growth, if a bound is promised"),
    ]

    func fixture(for test: Case) -> FixtureRequest? { FixtureRequest() }

    func run(_ context: CaseContext) throws {
        let location = try context.fixtureLocation()
        let run = try PinnedUpdates.run(context, at: location)
        run.judgeGrowth(closedBytes: try context.fileBytes(at: location), bound: try context.integer("bound"))
        if context.engine.capabilities.contains(.persistent) { try run.judgeLetGo(at: location) }
        context.judgeContent("content", at: location, expected: run.oracle)
    }
}
