#if Zoo
    package import StrataFiles

    /// Lets a file of this module name a planted mistake without importing StrataFiles, which it may need only for Zoo.
    package typealias PlantedMistake = StrataFiles.PlantedMistake

    extension PlantedMistake {
        /// The mistake that a test plants in its own task, so that tests which run in parallel do not make it.
        @TaskLocal package static var inTest: PlantedMistake?

        var isMade: Bool { self == Self.inTest || isPlanted }
    }
#endif

/// What the double writer always does in a build without Zoo. Each is false while its mistake is planted.
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
