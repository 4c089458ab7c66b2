import Seeds

/// Everything of a case but its engine: what engines are set side by side on.
package struct Subject: Hashable, Sendable {
    package var family: Family
    package var scenario: String
    package var dataset: String
    package var size: Int
    package var parameters: [CaseParameter]
    package var seed: Seed
    package var durability: DurabilityClass

    package init(_ test: Case) {
        family = test.family
        scenario = test.scenario
        dataset = test.dataset
        size = test.size
        parameters = test.parameters
        seed = test.seed
        durability = test.durability
    }
}
