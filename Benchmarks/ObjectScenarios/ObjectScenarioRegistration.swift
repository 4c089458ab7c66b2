import Harness

/// The scenarios that need Strata's own object interface: one line each.
package enum ObjectScenarioRegistration {
    package static func register(into registry: inout ScenarioRegistry) {
        registry.register(ReadDeleted())
        registry.register(CountThenIndex())
        registry.register(UIMatrix())
        registry.register(IdentityAfterDelete())
        registry.register(DeleteInLoop())
        registry.register(DeleteSlice())
        registry.register(ParentDeleted())
        registry.register(BacklinksDeleted())
        registry.register(ObserverOfDeleted())
        registry.register(DeletedBeforeFirstNotify())
        registry.register(ShiftedIndexDelete())
        registry.register(RecreateSameKey())
        registry.register(CancelWrite())
        registry.register(Frozen())
        registry.register(WrongThread())
        registry.register(ThreadSafeReferences())
        registry.register(StaleResultsInWrite())
        registry.register(ObserverMatrix())
        registry.register(SkipVersions())
        registry.register(ThrowInBlock())
    }
}
