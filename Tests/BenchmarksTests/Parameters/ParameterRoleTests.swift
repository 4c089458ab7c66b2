import RunRecords
import Seeds
import Testing

@testable import Harness
@testable import MigrationScenarios
@testable import ObjectScenarios
@testable import Scenarios

/// `assay minimize` reduces only sizes, so a bound with the role of a size is lowered until every engine breaks it:
/// bound=200 limit=96 was once minimized to bound=0 limit=1.
@Suite struct ParameterRoleTests {
    private static func scenarios() -> [any Scenario] {
        var registry = ScenarioRegistry()
        ScenarioRegistration.register(into: &registry)
        ObjectScenarioRegistration.register(into: &registry)
        MigrationScenarioRegistration.register(into: &registry)
        PlantedScenarios.register(into: &registry)
        return registry.scenarios
    }

    @Test("exactly the numbers of scenarios and conditions have a role")
    func everyRole() {
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

    /// Words that mark the bound of a promise in a parameter's summary. A parameter with such a summary must not have
    /// the role `size`.
    private static let bounding = ["may take", "may reach", "may write", "allowed", "has to be seen", "never is"]

    @Test("bounds of an answer are allowances, numbers of trials are efforts")
    func allowancesAndEfforts() {
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

    @Test("of a large migration only the rows are minimized")
    func minimizedRows() throws {
        let scenario = LargeMigration()
        let test = Case(
            scenario: scenario.slug, family: scenario.family, engine: "strata", dataset: "", size: 0,
            parameters: scenario.parameters.map { CaseParameter(name: $0.name, value: $0.defaultValue) },
            seed: Seed(1), durability: .full)
        #expect(scenario.sizes(of: test).map(\.name) == ["rows"])
        #expect(scenario.parameters.filter { $0.role == .allowance }.map(\.name) == ["bound", "limit"])
    }
}
