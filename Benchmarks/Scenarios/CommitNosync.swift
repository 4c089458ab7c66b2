import Harness
import RunRecords

/// One-row insert transactions that need not survive a power cut: what a commit costs without the disk.
package struct CommitNosync: Scenario {
    package let slug = "commit-nosync"
    package let family = Family.workload
    package let question = "How many one-row transactions a second does one writer get when none is synced?"
    package let requires: Set<Capability> = [.tables]
    package let durability: DurabilityClass? = DurabilityClass.none
    package let defaultDataset: String? = "people"
    package let parameters = [ScenarioParameter("commits", default: "100000", summary: "transactions")]

    package init() {}

    package func run(_ context: CaseContext) throws {
        _ = try OneRowCommits(
            context: context, isPrepared: false, count: try context.integer("commits"), isTimed: false
        ).run()
    }
}
