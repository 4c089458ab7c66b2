import Harness
import RunRecords

/// A scenario that damages the files of a database in one place per trial, and reads what is left: right is whatever is
/// not silently wrong.
protocol DamageScenario: Scenario {}

extension DamageScenario {
    var family: Family { .corruption }
    var requires: Set<Capability> { [.tables, .persistent] }
    var defaultDataset: String? { "damage" }
    var accepts: Set<Outcome> { Outcome.honest }
    var expects: Promise.Kind? { .detectsDamage }

    func fixture(for test: Case) -> FixtureRequest? { DamageSweep.fixture(for: test) }

    func buildFixture(_ context: CaseContext, at location: DatabaseLocation) throws {
        try DamageSweep.buildFixture(context, at: location)
    }
}
