import Harness

/// The scenarios that run on every engine: one line each.
package enum ScenarioRegistration {
    package static func register(into registry: inout ScenarioRegistry) {
        registry.register(BulkInsert())
        registry.register(Commit())
        registry.register(RawDisk())
        registry.register(PointRead())
        registry.register(PropertyRead())
        registry.register(StringEqual())
        registry.register(Traverse())
        registry.register(CommitThreads())
        registry.register(LostUpdate())
        registry.register(PinnedReader())
        registry.register(CompactOnLaunch())
        registry.register(KillMidWrite())
        registry.register(BitFlip())
        registry.register(Truncate())
    }
}
