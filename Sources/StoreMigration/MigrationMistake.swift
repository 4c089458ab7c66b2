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
        /// What waits in the outbox is written after what came later.
        case wrongOrder = "migration-wrong-order"
        /// The hash of a record takes null for 0.
        case nullIsZero = "migration-null-is-zero"
        /// The rule by which the newer record wins keeps the older one.
        case olderWins = "migration-older-wins"

        /// For one test, which runs beside others.
        @TaskLocal package static var inTest: MigrationMistake?

        private static let chosen = getenv("ASSAY_ZOO_MISTAKE").flatMap {
            MigrationMistake(rawValue: String(cString: $0))
        }

        package var isPlanted: Bool { self == Self.inTest || self == Self.chosen }
    }
#endif
