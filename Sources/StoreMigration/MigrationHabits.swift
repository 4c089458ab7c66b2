#if Zoo
    package import StrataFiles

    /// Lets every file of this module name a planted mistake without an import that builds without Zoo do not need.
    package typealias PlantedMistake = StrataFiles.PlantedMistake

    extension PlantedMistake {
        /// Task-local, since tests run in parallel.
        @TaskLocal package static var inTest: PlantedMistake?

        var isMade: Bool { self == Self.inTest || isPlanted }
    }
#endif

/// Correct behaviours, each false while its mistake is planted.
enum MigrationHabits {
    static var keepsOrder: Bool {
        #if Zoo
            !PlantedMistake.waitingOrder.isMade
        #else
            true
        #endif
    }

    static var notesChanges: Bool {
        #if Zoo
            !PlantedMistake.changeUnnoted.isMade
        #else
            true
        #endif
    }
}
