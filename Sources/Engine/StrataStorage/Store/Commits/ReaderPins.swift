internal import StrataFiles
internal import Synchronization

// Pins of the visible version without a lock.
//
// 1. A word holds the slot of the visible version in its upper bits, and in the lower ones how often it was pinned. One
//    addition gives a reader the version and counts its pin.
// 2. A released pin is counted down in the version itself. The thread that retires the version takes the word away, and
//    brings the two counts together (``CountedVersion``).
// 3. A process that does not own writing stores each pin in the process table, too, and trusts it if the version still
//    is the newest after that: the fence protocol of ``ProcessPins``.
// 4. A slot is used again once no pin of its version is left: a reader that has counted its pin reads the slot next.

/// The version that readers pin without a lock, if there is one.
///
/// Concurrency: ``pin()`` and ``release(_:)`` may be called from any thread; ``VisibleVersion``
/// calls all else, under the store's lock.
final class ReaderPins: Sendable {
    private static let slots = 256
    private static let countBits: UInt64 = 48
    private static let counts: UInt64 = 1 << countBits - 1
    /// One pin in this many checks the file's size, which takes longer than the pin.
    private static let pinsPerCheck: UInt64 = 64

    /// Slot plus 1, and the number of pins; slot 0 means that there is no version.
    private let word = Atomic<UInt64>(0)
    private nonisolated(unsafe) let versions: UnsafeMutablePointer<Unmanaged<CountedVersion>?>
    private let table: ProcessTable?
    /// A version that was pinned this often, which takes months, is retired before the count runs over.
    private let mostPins: UInt64
    /// Guarded by the store's lock.
    @exclusivity(unchecked) private(set) nonisolated(unsafe) var current: CountedVersion?
    /// The last slot that was used. Guarded by the store's lock.
    @exclusivity(unchecked) private nonisolated(unsafe) var lastSlot = 0
    /// Switches threads between the steps; nil with the system's threads, where a call would cost as much as a step.
    private let steps: (any Scheduling)?

    init(_ table: ProcessTable?, _ scheduling: any Scheduling, mostPins: UInt64 = 1 << 47) {
        self.table = table
        self.mostPins = mostPins
        steps = scheduling is SystemScheduling ? nil : scheduling
        versions = .allocate(capacity: Self.slots)
        versions.initialize(repeating: nil, count: Self.slots)
    }

    deinit {
        for slot in 0..<Self.slots { versions[slot]?.release() }
        versions.deallocate()
    }

    /// What came of a try to pin.
    enum Attempt {
        /// - checksSize: it is the first pin of its version, or another one at which the file's size is checked.
        case pinned(ReaderPin, checksSize: Bool)
        /// The pin counts, but its version may not be read. The caller releases it.
        case outdated(ReaderPin)
        case none
    }

    /// Pins the version that readers share.
    @inline(__always)
    func pin() -> Attempt {
        if word.load(ordering: .relaxed) <= Self.counts { return .none }
        let before = word.wrappingAdd(1, ordering: .acquiring).oldValue
        steps?.yield(at: "reader counted")
        let slot = Int(before >> Self.countBits)
        guard slot > 0, let counted = versions[slot - 1] else { return .none }
        if before & Self.counts >= mostPins { return .outdated(ReaderPin(counted, place: nil)) }
        let checksSize = before & (Self.pinsPerCheck - 1) == 0
        if counted._withUnsafeGuaranteedRef({ $0.isStored }) { return store(counted, checksSize: checksSize) }
        return .pinned(ReaderPin(counted, place: nil), checksSize: checksSize)
    }

    /// Stores a pin in the process table.
    private func store(_ counted: Unmanaged<CountedVersion>, checksSize: Bool) -> Attempt {
        let (version, publication) = counted._withUnsafeGuaranteedRef { ($0.state.version, $0.publication) }
        guard let table, let place = table.pins.pinForReader(version) else {
            return .outdated(ReaderPin(counted, place: nil))
        }
        steps?.yield(at: "reader stored")
        let pin = ReaderPin(counted, place: place)
        #if Zoo
            if PinMistake.storedUnchecked.isMade { return .pinned(pin, checksSize: checksSize) }
        #endif
        let isNewest = table.isIntact && table.versions.publication == publication
        return isNewest ? .pinned(pin, checksSize: checksSize) : .outdated(pin)
    }

    /// Releases a pin.
    /// - Returns: whether it was the last one of a version that was retired: the caller then calls ``free(_:)``.
    @inline(__always)
    func release(_ pin: ReaderPin) -> Bool {
        pin.withVersion { version in
            if let place = pin.place { table?.pins.unpinForReader(place) }
            #if Zoo
                if PinMistake.releasedInSteps.isMade {
                    return version.releaseInSteps { steps?.yield(at: "reader releases") }
                }
            #endif
            steps?.yield(at: "reader releases")
            return version.release()
        }
    }

    // MARK: Under the lock

    /// Has readers pin a version from now on. There is none before.
    /// - Parameter isStored: each pin is stored in the process table, too.
    /// - Returns: false if all slots are in use: there is no version then.
    func share(_ state: VersionState, publication: UInt64?, isStored: Bool) -> Bool {
        guard let slot = unusedSlot() else { return false }
        let version = CountedVersion(state, publication: publication, isStored: isStored, slot: slot)
        versions[slot] = .passRetained(version)
        lastSlot = slot
        current = version
        word.store(UInt64(slot + 1) << Self.countBits, ordering: .releasing)
        return true
    }

    /// Whether the current version was pinned as often as the count allows.
    var isWorn: Bool { word.load(ordering: .relaxed) & Self.counts >= mostPins }

    private func unusedSlot() -> Int? {
        #if Zoo
            if PinMistake.slotUsedEarly.isMade { return 0 }
        #endif
        for step in 1...Self.slots where versions[(lastSlot + step) % Self.slots] == nil {
            return (lastSlot + step) % Self.slots
        }
        return nil
    }

    /// Ends the sharing of the current version.
    /// - Returns: how often it was pinned meanwhile, and whether a pin is left.
    func retire() -> (pins: UInt64, isPinned: Bool) {
        guard let version = current else { return (0, false) }
        current = nil
        let pins = word.exchange(0, ordering: .acquiringAndReleasing) & Self.counts
        steps?.yield(at: "version retires")
        var counted = Int(pins)
        #if Zoo
            if PinMistake.pinsUncounted.isMade { counted = 0 }
        #endif
        let isPinned = version.retire(after: counted)
        if !isPinned { free(version.slot) }
        return (pins, isPinned)
    }

    /// Gives up a retired version whose last pin was released.
    /// - Returns: its number.
    func free(_ last: ReaderPin) -> UInt64 {
        let (version, slot) = last.withVersion { ($0.state.version, $0.slot) }
        free(slot)
        return version
    }

    private func free(_ slot: Int) {
        let version = versions[slot]
        versions[slot] = nil
        version?.release()
    }
}
