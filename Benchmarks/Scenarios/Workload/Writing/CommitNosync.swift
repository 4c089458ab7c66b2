import Harness
import RunRecords

/// One-row insert transactions that need not survive a power failure: the cost of a commit without the disk.
struct CommitNosync: Scenario {
    let slug = "commit-nosync"
    let family = Family.workload
    let question = "How many one-row transactions a second does one writer get when none is synced?"
    let requires: Set<Capability> = [.tables]
    let durability: DurabilityClass? = DurabilityClass.none
    let defaultDataset: String? = "people"
    let parameters = [ScenarioParameter("commits", .size, default: 100_000, summary: "transactions")]

    func run(_ context: CaseContext) throws {
        _ = try OneRowCommits(
            context: context, isPrepared: false, count: try context.integer("commits"), isTimed: false
        ).run()
    }
}
