import RunRecords

@testable import Harness

/// A scenario that does nothing, for registries.
struct EmptyScenario: Scenario {
    let slug: String
    var family = Family.workload
    let question = "?"
    var requires: Set<Capability> = []
    var parameters: [ScenarioParameter] = []
    var conditions = Condition.ofTheMachine
    func run(_ context: CaseContext) throws {}
}
