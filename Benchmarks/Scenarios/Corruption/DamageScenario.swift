import Harness
import RunRecords

/// A scenario that damages the files of a database in one place per trial, and reads the database. Every outcome keeps
/// the promise except one that is silently wrong.
protocol DamageScenario: Scenario {
    /// Whether an earlier copy of the files is kept beside them.
    var keepsOlder: Bool { get }
}

extension DamageScenario {
    var keepsOlder: Bool { false }
    var family: Family { .corruption }
    var requires: Set<Capability> { [.tables, .persistent] }
    var defaultDataset: String? { "damage" }
    var accepts: Set<Outcome> { Outcome.honest }
    var expects: Promise.Kind? { .detectsDamage }

    func fixture(for test: Case) -> FixtureRequest? { DamageFixture.request(for: test, keepsOlder: keepsOlder) }

    func buildFixture(_ context: CaseContext, at location: DatabaseLocation) throws {
        try DamageFixture(context, keepsOlder: keepsOlder).build(at: location)
    }
}
