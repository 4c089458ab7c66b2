import Harness

/// The scenarios that need Strata's own object interface: one line each.
package enum ObjectScenarioRegistration {
    package static func register(into registry: inout ScenarioRegistry) {
        registry.register(ReadDeleted())
        registry.register(CountThenIndex())
        registry.register(UIMatrix())
        registry.register(SkipVersions())
        registry.register(ThrowInBlock())
    }
}
