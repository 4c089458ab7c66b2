import Harness

/// The scenarios of migrations from another store: one line each.
package enum MigrationScenarioRegistration {
    package static func register(into registry: inout ScenarioRegistry) {
        registry.register(DoubleWriteCrashes())
        registry.register(ReconciledStores())
        registry.register(SwitchedAccounts())
        registry.register(ImportedCoreData())
    }
}
