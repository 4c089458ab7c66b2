internal import StrataFiles
internal import Synchronization

// Pins of the visible version without a lock.
//
// 1. A word holds the slot of the visible version in its upper bits, and in the lower ones how often it was pinned. One
//    addition gives a reader the version and counts its pin.
// 2. A released pin is counted down in the version itself, which starts at ``CountedVersion/bias``. The thread that
//    retires the version takes the word away, under the monitor, and brings the two counts together. From then on 0
//    means that no pin is left.
// 3. Pins that are left at that moment become one pin in ``VersionPins``, which the last of them releases under the
//    monitor. So everything that asks which versions are pinned retires the version first: a publication, a close, the
//    end and the begin of ownership.
// 4. A process that does not own writing stores each pin in the process table, too, and believes it once the version
//    still is the newest after that: the fence protocol of ``ProcessPins``.
// 5. A slot is used again once no pin of its version is left: a reader that has counted its pin reads the slot next.

/// A version that readers pin by counting.
final class CountedVersion: Sendable {
    static let bias = 1 << 50

    let state: VersionState
    /// Number of its publication; nil without a process table.
    let publication: UInt64?
    /// Where each pin is stored, too; nil if this process owns writing.
    let table: ProcessTable?
    fileprivate let slot: Int
    /// Pins that the word has handed over, less those that were released.
    fileprivate let left = Atomic<Int>(bias)

    fileprivate init(_ state: VersionState, publication: UInt64?, table: ProcessTable?, slot: Int) {
        self.state = state
        self.publication = publication
        self.table = table
        self.slot = slot
    }
}

/// A pin that was taken without a lock. Its holder releases it once.
struct ReaderPin {
    // Its own pin keeps the version alive, without a count of references.
    fileprivate let counted: Unmanaged<CountedVersion>
    /// Its place in the process table.
    let place: Int?
    /// Whether it is the first pin of its version, or another one at which the file's size is checked.
    let checksSize: Bool

    @inline(__always)
    func withVersion<Value>(_ body: (CountedVersion) -> Value) -> Value { counted._withUnsafeGuaranteedRef(body) }
}

/// The visible version as readers pin it without a lock.
///
/// Concurrency: ``pin()`` and ``release(_:)`` may be called from any thread; all else with the store's monitor held.
final class ReaderPins: Sendable {
    private static let slots = 256
    private static let countBits: UInt64 = 48
    private static let counts: UInt64 = 1 << countBits - 1
    /// One pin in this many checks the file's size, which takes longer than the pin.
    private static let pinsPerCheck: UInt64 = 64

    /// Slot plus 1, and the number of pins; slot 0 means that there is none.
    private let word = Atomic<UInt64>(0)
    private nonisolated(unsafe) let versions: UnsafeMutablePointer<Unmanaged<CountedVersion>?>
    /// Guarded by the store's monitor.
    @exclusivity(unchecked) private(set) nonisolated(unsafe) var current: CountedVersion?
    /// The last slot that was used. Guarded by the store's monitor.
    @exclusivity(unchecked) private nonisolated(unsafe) var lastSlot = 0
    /// Switches threads between the steps; nil with the system's threads, where a call would cost as much as a step.
    private let steps: (any Scheduling)?

    init(_ scheduling: any Scheduling) {
        steps = scheduling is SystemScheduling ? nil : scheduling
        versions = .allocate(capacity: Self.slots)
        versions.initialize(repeating: nil, count: Self.slots)
    }

    deinit {
        for slot in 0..<Self.slots { versions[slot]?.release() }
        versions.deallocate()
    }

    /// Pins the version that readers share.
    /// - Returns: nil if there is none, or another process may have made a newer one.
    @inline(__always)
    func pin() -> Attempt {
        if word.load(ordering: .relaxed) <= Self.counts { return .none }
        let before = word.wrappingAdd(1, ordering: .acquiring).oldValue
        steps?.yield(at: "reader counted")
        let slot = Int(before >> Self.countBits)
        guard slot > 0, let counted = versions[slot - 1] else { return .none }
        let checksSize = before & (Self.pinsPerCheck - 1) == 0
        guard let table = counted._withUnsafeGuaranteedRef({ $0.table }) else {
            return .pinned(ReaderPin(counted: counted, place: nil, checksSize: checksSize))
        }
        return pin(counted, in: table, checksSize: checksSize)
    }

    /// Stores the pin in the process table.
    private func pin(
        _ counted: Unmanaged<CountedVersion>, in table: ProcessTable, checksSize: Bool
    ) -> Attempt {
        let (version, publication) = counted._withUnsafeGuaranteedRef { ($0.state.version, $0.publication) }
        let place = table.pins.pinForReader(version)
        let pin = ReaderPin(counted: counted, place: place, checksSize: checksSize)
        if place == nil || !table.isIntact || table.versions.publication != publication { return .outdated(pin) }
        return .pinned(pin)
    }

    /// What came of a try to pin.
    enum Attempt {
        case pinned(ReaderPin)
        /// The pin counts, but its version may not be read. The caller releases it.
        case outdated(ReaderPin)
        case none
    }

    /// Releases a pin.
    /// - Returns: whether it was the last one of a version that was retired: the caller then calls ``free(_:)``.
    @inline(__always)
    func release(_ pin: ReaderPin) -> Bool {
        pin.withVersion { version in
            if let place = pin.place { version.table?.pins.unpinForReader(place) }
            steps?.yield(at: "reader releases")
            return version.left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
        }
    }

    // MARK: Under the monitor

    /// Has readers pin a version from now on. There is none before. With all slots in use, there is none afterwards.
    /// - Parameter table: where each pin is stored, too.
    func share(_ state: VersionState, publication: UInt64?, table: ProcessTable?) {
        guard let slot = unusedSlot() else { return }
        let version = CountedVersion(state, publication: publication, table: table, slot: slot)
        versions[slot] = .passRetained(version)
        lastSlot = slot
        current = version
        word.store(UInt64(slot + 1) << Self.countBits, ordering: .releasing)
    }

    private func unusedSlot() -> Int? {
        #if Zoo
            if Self.mistake == .slotUsedEarly { return 0 }
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
        #if Zoo
            let counted = Self.mistake == .pinsUncounted ? 0 : Int(pins)
        #else
            let counted = Int(pins)
        #endif
        let left = version.left.add(counted - CountedVersion.bias, ordering: .acquiringAndReleasing).newValue
        if left == 0 { free(version.slot) }
        return (pins, left != 0)
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

    #if Zoo
        /// Mistakes that only schedules of threads can show.
        enum Mistake {
            /// Pins of a version are not counted when another one takes its place.
            case pinsUncounted
            /// A slot is used for the next version while the one before is pinned.
            case slotUsedEarly
            /// A close does not end the sharing.
            case sharedAfterClose
            /// What is left when a version is retired becomes no pin.
            case pinsForgotten
        }

        /// Set by one test at a time, before its threads begin.
        nonisolated(unsafe) static var mistake: Mistake?
    #endif
}
