import Harness
import RunRecords

/// A scenario that migrates files of the object layer.
protocol MigrationScenario: Scenario {}

extension MigrationScenario {
    var family: Family { .migration }
    var requires: Set<Capability> { [.migrations] }
}
