internal import StrataFiles

// The fence protocol of pins. A reader stores its pin, fences, and checks that the version is still the newest. The
// writer publishes another version, fences, and scans the pins. So either the reader sees the newer version and tries
// again, or the writer sees the pin and keeps the pages.

/// Pins of this process, as other processes see them.
///
/// Concurrency: the store's monitor guards it, except for the places of readers.
final class ProcessPins: Sendable {
    typealias Layout = ProcessTable.Layout

    private let slots: ProcessSlots
    /// Places whose pins were removed. Guarded by the store's monitor.
    private nonisolated(unsafe) var unused: [Int] = []
    /// Number of places used so far, those of readers included. Guarded by the store's monitor.
    private nonisolated(unsafe) var used = Layout.readerPins

    init(_ slots: ProcessSlots) { self.slots = slots }

    /// Pins a version. The pin counts only if the caller then finds that the version is still the newest one.
    /// - Returns: its place; nil if none is free.
    func pin(_ version: UInt64) -> Int? {
        let memory = slots.file.memory
        let place: Int
        if let last = unused.popLast() {
            place = last
        } else {
            if used == Layout.pinsPerSlot { return nil }
            place = used
            used += 1
            memory[slots.ownWords.pinsUsed] = UInt32(used)
        }
        memory[slots.ownWords.pin(place)] = version &+ 1
        memory.fence()
        return place
    }

    func unpin(_ place: Int) {
        slots.file.memory[slots.ownWords.pin(place)] = 0
        unused.append(place)
    }

    // MARK: Without the monitor

    /// Lets readers pin by ``pinForReader(_:)`` from now on. The store's monitor is held.
    func admitReaders() {
        let memory = slots.file.memory
        if memory[slots.ownWords.pinsUsed] < Layout.readerPins { memory[slots.ownWords.pinsUsed] = UInt32(used) }
    }

    /// As ``pin(_:)``, from any thread.
    func pinForReader(_ version: UInt64) -> Int? {
        let memory = slots.file.memory
        // Threads have stacks of their own, so most begin their search at different places.
        let first = withUnsafePointer(to: version) { UInt(bitPattern: $0) >> 14 &* 0x9E37_79B9 >> 8 }
        for step in 0..<Layout.readerPins {
            let place = (Int(truncatingIfNeeded: first) + step) & (Layout.readerPins - 1)
            if memory.exchange64(slots.ownWords.pin(place).offset, expected: 0, with: version &+ 1) {
                memory.fence()
                return place
            }
        }
        return nil
    }

    func unpinForReader(_ place: Int) { slots.file.memory[slots.ownWords.pin(place)] = 0 }

    /// Versions that other processes have pinned. The caller has fenced before.
    var foreign: Set<UInt64> {
        let memory = slots.file.memory
        var found: Set<UInt64> = []
        for other in slots.others {
            let words = Layout.slot(other)
            for pin in 0..<min(Int(memory[words.pinsUsed]), Layout.pinsPerSlot) {
                let value = memory[words.pin(pin)]
                if value != 0 { found.insert(value - 1) }
            }
        }
        return found
    }
}
