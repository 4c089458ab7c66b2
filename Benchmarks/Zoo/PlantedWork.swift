import Measuring
import Platform
import Synchronization

/// Superfluous work.
enum PlantedWork {
    private static let hasMetDelay = Atomic<Bool>(false)
    /// Stores the result, so that the compiler keeps the work.
    private static let worked = Atomic<UInt64>(0)

    static func work(_ steps: UInt64) {
        for step in 0..<steps { worked.store(step &* 6_364_136_223_846_793_005, ordering: .relaxed) }
    }

    static func pause(milliseconds: UInt32) { usleep(milliseconds * 1_000) }

    /// One allocation, freed at once.
    static func allocate() {
        let memory = malloc(16)
        worked.store(UInt64(UInt(bitPattern: memory)), ordering: .relaxed)
        free(memory)
    }

    /// Pauses each transaction after the first of this process that met a delayed sync. The pause is as long as the
    /// delay that scenarios set by default, so that these transactions are slow wherever the delay itself shows.
    /// - Parameter counts: from before the transaction.
    static func stayAsSlow(since counts: IOCounts?) {
        let metDelay = IOWitness.shared?.counts().delayedSyncs != counts?.delayedSyncs
        if hasMetDelay.load(ordering: .relaxed) {
            pause(milliseconds: 40)
        } else if metDelay {
            hasMetDelay.store(true, ordering: .relaxed)
        }
    }
}
