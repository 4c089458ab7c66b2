import RunRecords
import Seeds
import Testing

@testable import Harness
@testable import MigrationScenarios
@testable import ObjectScenarios
@testable import Scenarios

/// `assay minimize` makes sizes smaller and nothing else, so a bound that calls itself a size is lowered until any
/// engine breaks it: bound=200 limit=96 once came back as bound=0 limit=1.
@Suite struct ParameterRoleTests {
    private static func scenarios() -> [any Scenario] {
        var registry = ScenarioRegistry()
        ScenarioRegistration.register(into: &registry)
        ObjectScenarioRegistration.register(into: &registry)
        MigrationScenarioRegistration.register(into: &registry)
        PlantedScenarios.register(into: &registry)
        return registry.scenarios
    }

    @Test func `every number of every scenario and condition has a role, and nothing else has`() {
        let conditions = Condition.allCases.map { ("condition", $0.parameter) }
        let all = Self.scenarios().flatMap { scenario in scenario.parameters.map { (scenario.slug, $0) } } + conditions
        #expect(all.count > 200)
        for (slug, parameter) in all {
            var isNumber = false
            if case .integer = parameter.kind { isNumber = true }
            #expect(isNumber == (parameter.role != nil), "\(slug) \(parameter.name)")
        }
        #expect(Set(all.compactMap(\.1.role)) == Set(ScenarioParameter.Role.allCases))
    }

    /// Words that a summary has where a promise is held to the number. A size that is named so is to be looked at, and
    /// gets another summary or another role.
    private static let bounding = ["may take", "may reach", "may write", "allowed", "has to be seen", "never is"]

    @Test func `what bounds an answer is an allowance, and what is tried is an effort`() {
        for scenario in Self.scenarios() {
            for parameter in scenario.parameters where parameter.role == .size {
                let words = Self.bounding.filter(parameter.summary.contains)
                #expect(words.isEmpty, "\(scenario.slug) \(parameter.name): \(parameter.summary)")
                #expect(
                    !["bound", "limit", "live", "plateau", "patience", "trials", "states"].contains(parameter.name),
                    "\(scenario.slug) \(parameter.name)")
            }
        }
    }

    @Test func `of a large migration the rows alone are made smaller`() throws {
        let scenario = LargeMigration()
        let test = Case(
            scenario: scenario.slug, family: scenario.family, engine: "strata", dataset: "", size: 0,
            parameters: scenario.parameters.map { CaseParameter(name: $0.name, value: $0.defaultValue) },
            seed: Seed(1), durability: .full)
        #expect(scenario.sizes(of: test).map(\.name) == ["rows"])
        #expect(scenario.parameters.filter { $0.role == .allowance }.map(\.name) == ["bound", "limit"])
    }
}
