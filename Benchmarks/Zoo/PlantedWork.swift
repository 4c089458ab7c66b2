import Platform
import Synchronization

/// Superfluous work.
enum PlantedWork {
    private static let slowInARow = Atomic<Int>(0)
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

    /// Waits 20 ms in every transaction after four in a row that took 35 ms or more, as on a slow disk.
    static func stayAsSlow(as nanoseconds: UInt64) {
        let (slow, enough) = (35_000_000, 4)
        if slowInARow.load(ordering: .relaxed) >= enough {
            usleep(20_000)
        } else if nanoseconds >= slow {
            slowInARow.add(1, ordering: .relaxed)
        } else {
            slowInARow.store(0, ordering: .relaxed)
        }
    }
}
