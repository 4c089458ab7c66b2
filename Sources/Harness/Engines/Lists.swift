import RunRecords

// Lists of integers, each with an owner: what the scenarios about lists ask of an engine. They are told apart from
// tables because an element is named by its place, and places move.

/// How lists are kept by an engine that has none of its own.
package enum ListKeeping: String, Sendable, CaseIterable {
    /// A row for each element, keyed by owner and place: 0, 1, 2. An element is found by its key; an insert moves the
    /// keys of all that stand behind it.
    case dense
    /// A row for each element, keyed by owner and a number that grows with the place, with gaps. An insert takes a
    /// number between its neighbours'; an element is found by counting from the first.
    case gapped
    /// All elements as one value in the row of the owner: read whole and written whole.
    case packed
}

/// Lists with owners in a row, equally long.
package struct ListBatch: Sendable {
    package var firstOwner: Int64
    package var length: Int
    /// List after list.
    package var values: [Int64]

    package init(firstOwner: Int64, length: Int, values: [Int64]) {
        precondition(length > 0 && values.count % length == 0, "a batch of lists that are not equally long")
        self.firstOwner = firstOwner
        self.length = length
        self.values = values
    }

    package var owners: Range<Int64> { firstOwner..<(firstOwner + Int64(values.count / length)) }

    @inlinable
    package func elements(_ owner: Int64) -> ArraySlice<Int64> {
        let start = Int(owner - firstOwner) * length
        return values[start..<(start + length)]
    }
}

/// Steps on one list, done one after the other.
package enum ListChange: Sendable {
    /// Each value by a call of its own.
    case append([Int64])
    /// All values at once, where the engine has a call for that.
    case appendAll([Int64])
    /// Value by value; each place is that before which the value goes at that moment.
    case insert([Int64], at: [Int])
    case remove(at: [Int])
    /// Asked of engines with lists of their own. Each element stands at its new place when its step is done.
    case move(from: [Int], to: [Int])

    package var count: Int {
        switch self {
        case .append(let values), .appendAll(let values), .insert(let values, _): values.count
        case .remove(let places), .move(let places, _): places.count
        }
    }
}

/// Sums up elements with their order: two that change places give another sum. Cheap enough to stand inside a measured
/// loop.
@usableFromInline
package struct ListDigest: Hashable, Sendable {
    @usableFromInline
    package var count = 0
    @usableFromInline
    package var sum: UInt64 = 0

    @inlinable
    package init() {}

    @inlinable @inline(__always)
    package mutating func add(_ value: Int64) {
        count &+= 1
        sum = (sum &+ UInt64(bitPattern: value) &+ 1) &* 0x9E37_79B9_7F4A_7C15
    }

    /// To be called behind each of several lists: an element that went to the neighbour's list shows.
    @inlinable
    package mutating func endList() { sum = sum &* 31 &+ 0x5851_F42D_4C95_7F2D }
}

/// Lists of one database, used by one thread. Invariants of sessions hold: a call does a whole batch.
package protocol ListSession: Session {
    /// Adds owners with their lists, in one transaction.
    func addLists(_ lists: ListBatch) throws(EngineError)
    /// Changes the list in one transaction. `beforeCommit` is called between the last step and the commit.
    func change(owner: Int64, _ change: ListChange, beforeCommit: () -> Void) throws(EngineError)
    /// Reads the elements at the places, one by one, in this order.
    func readElements(owner: Int64, at places: [Int]) throws(EngineError) -> ListDigest
    /// Walks the lists of the owners, list after list, with `endList` behind each.
    func walkLists(owners: [Int64]) throws(EngineError) -> ListDigest
    /// The whole list, by a walk.
    func readList(owner: Int64) throws(EngineError) -> [Int64]
}

/// Capability `lists`.
package protocol ListEngine: Engine {
    /// An engine with lists of its own tells `dense` and `gapped` apart in nothing.
    var hasOwnLists: Bool { get }

    /// Opens a database that holds lists and nothing else; makes it where there is none.
    func openLists(
        _ location: DatabaseLocation, settings: EngineSettings, keeping: ListKeeping
    ) throws(EngineError) -> any ListSession
}
