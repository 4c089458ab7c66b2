internal import StrataFiles

// The fence protocol of pins. A reader stores its pin, executes a fence, and checks that the version is still the
// newest. The owner publishes another version, executes a fence, and scans the pins. So either the reader sees the
// newer version and tries again, or the owner sees the pin and keeps the version's pages.

/// Pins of this process, as other processes see them.
///
/// Concurrency: the store's lock guards it, except for the places of readers: a thread takes one of those by a
/// compare-exchange.
final class ProcessPins: Sendable {
    typealias Layout = ProcessTable.Layout

    private let slots: ProcessSlots
    /// Places in the slot whose pins this process has removed. Guarded by the store's lock.
    private nonisolated(unsafe) var unused: [Int] = []
    /// Number of places in the slot that have ever been used, those of readers included; other processes scan only
    /// these. Guarded by the store's lock.
    private nonisolated(unsafe) var used = Layout.readerPins

    init(_ slots: ProcessSlots) { self.slots = slots }

    /// Stores a pin of a version and executes a fence. The pin keeps the version's pages only if the version is still
    /// the newest one after that, which the caller checks, or if the owner protects it until then: the base of an open
    /// grant, and the version that this process, as the owner, protects until it gives ownership up.
    /// - Returns: the pin's place in the slot; nil if none is free.
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

    // MARK: Without the lock

    /// Lets readers pin by ``pinForReader(_:)`` from now on. The caller holds the store's lock.
    func admitReaders() {
        let memory = slots.file.memory
        if memory[slots.ownWords.pinsUsed] < Layout.readerPins { memory[slots.ownWords.pinsUsed] = UInt32(used) }
    }

    /// As ``pin(_:)``, from any thread.
    func pinForReader(_ version: UInt64) -> Int? {
        let memory = slots.file.memory
        let first = withUnsafePointer(to: version) { Self.firstPlace(stack: UInt(bitPattern: $0)) }
        for step in 0..<Layout.readerPins {
            let place = (first + step) & (Layout.readerPins - 1)
            if memory.exchange64(slots.ownWords.pin(place).offset, expected: 0, with: version &+ 1) {
                memory.fence()
                return place
            }
        }
        return nil
    }

    /// The place at which a thread begins its search. Threads that pin at once begin at different places, although the
    /// system often maps their stacks at equal distances, a power of two apart.
    /// - Parameter stack: an address in the thread's stack.
    static func firstPlace(stack: UInt) -> Int {
        Int(truncatingIfNeeded: (stack >> 14 &* 0x9E37_79B9) >> 32) & (Layout.readerPins - 1)
    }

    func unpinForReader(_ place: Int) { slots.file.memory[slots.ownWords.pin(place)] = 0 }

    /// Versions that other processes have pinned. A caller that frees pages of other versions executes a fence before.
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
