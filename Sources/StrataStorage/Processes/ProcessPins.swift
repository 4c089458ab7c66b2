internal import StrataFiles

// The fence protocol of pins. A reader stores its pin, fences, and looks whether the version is still the newest; the
// writer makes another version the newest, fences, and scans the pins. One of the two sees the other: either the reader
// tries again, or the writer keeps the pages.

/// The versions that this process reads, as the others see them.
///
/// Concurrency: the store's monitor guards it.
final class ProcessPins: Sendable {
    typealias Layout = ProcessTable.Layout

    private let slots: ProcessSlots
    /// Places that were let go of. Guarded by the store's monitor.
    private nonisolated(unsafe) var unused: [Int] = []
    /// Places that were ever used. Guarded by the store's monitor.
    private nonisolated(unsafe) var used = 0

    init(_ slots: ProcessSlots) { self.slots = slots }

    /// Says that this process reads a version. It counts if that is the newest one still, looked at afterwards.
    /// - Returns: its place; nil when there is none left.
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

    /// Versions that other processes read. After a fence.
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
