import Harness

/// The scenarios about leaving another store: one line each.
package enum MigrationScenarioRegistration {
    package static func register(into registry: inout ScenarioRegistry) {
        registry.register(DoubleWriteCrashes())
        registry.register(ReconciledStores())
        registry.register(SwitchedAccounts())
        registry.register(ImportedCoreData())
    }
}
