#if Zoo
    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// Something that this module does wrong on purpose, so that its tests and scenarios see whether they find it. The
    /// build for tests alone has it.
    package enum MigrationMistake: String, CaseIterable, Sendable {
        /// An entry leaves the outbox before the second store has it.
        case lostOutboxEntry = "migration-lost-outbox-entry"
        /// An entry comes into the outbox when the first store has its batch, and not before.
        case outboxLate = "migration-outbox-late"
        /// What waits in the outbox is written after what came later.
        case wrongOrder = "migration-wrong-order"
        /// What is changed after the cut-over is not noted for the way back.
        case changeUnnoted = "migration-change-unnoted"
        /// The hash of a record takes null for 0.
        case nullIsZero = "migration-null-is-zero"
        /// The rule by which the newer record wins keeps the older one.
        case olderWins = "migration-older-wins"
        /// A comparison passes over the last of the ranges that differ.
        case rangeSkipped = "migration-range-skipped"
        /// Hashes are made of what the writer sent, and not of what a store has.
        case hashStale = "migration-hash-stale"
        /// What a rule leaves is mended by the old store.
        case leaveIgnored = "migration-leave-ignored"
        /// A writer that is closed forgets the batches that wait.
        case switchDropsWaiting = "migration-switch-drops-waiting"
        /// A writer that is opened again is in the phase before.
        case phaseForgotten = "migration-phase-forgotten"
        /// A compaction of the closed stores returns without having done anything.
        case compactionNothing = "migration-compaction-nothing"

        /// For one test, which runs beside others.
        @TaskLocal package static var inTest: MigrationMistake?

        private static let chosen = getenv("ASSAY_ZOO_MISTAKE").flatMap {
            MigrationMistake(rawValue: String(cString: $0))
        }

        package var isPlanted: Bool { self == Self.inTest || self == Self.chosen }
    }
#endif

/// What a writer does unless a mistake is planted.
enum MigrationHabits {
    static var keepsOrder: Bool {
        #if Zoo
            !MigrationMistake.wrongOrder.isPlanted
        #else
            true
        #endif
    }

    static var notesChanges: Bool {
        #if Zoo
            !MigrationMistake.changeUnnoted.isPlanted
        #else
            true
        #endif
    }
}
