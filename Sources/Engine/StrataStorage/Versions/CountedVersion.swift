internal import Synchronization

/// A version that readers pin by counting, without a lock.
///
/// Pins are counted where their version is found (``ReaderPins``), and released pins are counted down here. Both counts
/// are brought together when another version takes this one's place: from then on ``left`` is the number of its pins.
final class CountedVersion: Sendable {
    /// More than the pins that a version can ever have: until the counts are brought together, ``left`` is not 0.
    private static let bias = 1 << 50

    let state: VersionState
    /// Number of its publication; nil without a process table.
    let publication: UInt64?
    /// Whether each pin is stored in the process table, too, because this process does not own writing.
    let isStored: Bool
    /// Its place among the versions of its store.
    let slot: Int
    private let left = Atomic<Int>(bias)

    init(_ state: VersionState, publication: UInt64?, isStored: Bool, slot: Int) {
        self.state = state
        self.publication = publication
        self.isStored = isStored
        self.slot = slot
    }

    /// Counts one released pin.
    /// - Returns: whether it was the last pin of a version that is pinned no more.
    @inline(__always)
    func release() -> Bool { left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }

    /// Brings the counts together: no more pins are taken.
    /// - Parameter pins: all that were taken.
    /// - Returns: whether one is left.
    func retire(after pins: Int) -> Bool { left.add(pins - Self.bias, ordering: .acquiringAndReleasing).newValue != 0 }

    #if Zoo
        /// Counts one released pin in two steps, between which another thread may run.
        func releaseInSteps(_ between: () -> Void) -> Bool {
            let before = left.load(ordering: .acquiring)
            between()
            left.store(before - 1, ordering: .releasing)
            return before == 1
        }
    #endif
}

/// A pin that a reader took without a lock. Its holder releases it once, on any thread.
struct ReaderPin {
    // Its own pin keeps the version alive, without a count of references.
    private let counted: Unmanaged<CountedVersion>
    private let storedAt: Int32

    /// - Parameter place: in the process table.
    @inline(__always)
    init(_ counted: Unmanaged<CountedVersion>, place: Int?) {
        self.counted = counted
        storedAt = place.map { Int32(truncatingIfNeeded: $0) } ?? -1
    }

    /// Its place in the process table; nil if it is not stored there.
    @inline(__always) var place: Int? { storedAt < 0 ? nil : Int(storedAt) }

    @inline(__always)
    func withVersion<Value>(_ body: (CountedVersion) -> Value) -> Value { counted._withUnsafeGuaranteedRef(body) }
}
