#if Zoo
    import Platform

    /// A deliberate mistake of this module, which its tests and scenarios must find. Only the test build contains it.
    package enum MigrationMistake: String, CaseIterable, Sendable {
        /// An entry leaves the outbox before the second store has it.
        case lostOutboxEntry = "migration-lost-outbox-entry"
        /// An entry is added to the outbox only after the first store has its batch.
        case outboxLate = "migration-outbox-late"
        /// A waiting batch is written after later ones.
        case wrongOrder = "migration-wrong-order"
        /// Changes after the cut-over are not recorded for the way back.
        case changeUnnoted = "migration-change-unnoted"
        /// The hash of a record treats null as 0.
        case nullIsZero = "migration-null-is-zero"
        /// The rule by which the newer record wins keeps the older one.
        case olderWins = "migration-older-wins"
        /// A comparison skips the last differing range.
        case rangeSkipped = "migration-range-skipped"
        /// Hashes are computed from the sent values, not from the stored ones.
        case hashStale = "migration-hash-stale"
        /// A record that the rule leaves alone is mended from the old store.
        case leaveIgnored = "migration-leave-ignored"
        /// Closing a writer drops the waiting batches.
        case switchDropsWaiting = "migration-switch-drops-waiting"
        /// Reopening a writer restores the previous phase.
        case phaseForgotten = "migration-phase-forgotten"
        /// A compaction of the closed stores returns without compacting.
        case compactionNothing = "migration-compaction-nothing"

        /// Task-local, since tests run in parallel.
        @TaskLocal package static var inTest: MigrationMistake?

        private static let chosen = getenv("ASSAY_ZOO_MISTAKE").flatMap {
            MigrationMistake(rawValue: String(cString: $0))
        }

        package var isPlanted: Bool { self == Self.inTest || self == Self.chosen }
    }
#endif

/// Correct behaviours, each false while its mistake is planted.
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
