import Harness

/// The scenarios that run on every engine: one line each.
package enum ScenarioRegistration {
    package static func register(into registry: inout ScenarioRegistry) {
        registry.register(BulkInsert())
        registry.register(Commit())
        registry.register(CommitNosync())
        registry.register(CommitDuringCheckpoint())
        registry.register(RawDisk())
        registry.register(OpenAndRead())
        registry.register(PointRead())
        registry.register(PropertyRead())
        registry.register(ColumnSum())
        registry.register(FilterTwo())
        registry.register(StringEqual())
        registry.register(Iterate())
        registry.register(Traverse())
        registry.register(UpdateBatch())
        registry.register(DeleteHalf())
        registry.register(Compact())
        registry.register(CommitThreads())
        registry.register(CommitProcesses())
        registry.register(VisibleLatency())
        registry.register(LostUpdate())
        registry.register(PinnedReader())
        registry.register(CompactOnLaunch())
        registry.register(KillMidWrite())
        registry.register(PowerLoss())
        registry.register(BitFlip())
        registry.register(Truncate())
        registry.register(ZeroedPage())
    }
}
