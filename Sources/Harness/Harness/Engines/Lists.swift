import RunRecords

// Lists of integers, each with an owner, for the scenarios about lists. They are separate from tables because an
// element is addressed by its position, and positions move.

/// How lists are stored by an engine that has none of its own.
package enum ListKeeping: String, Sendable, CaseIterable {
    /// A row for each element, keyed by owner and position: 0, 1, 2. An element is found by its key; an insert changes
    /// the keys of all later elements.
    case dense
    /// A row for each element, keyed by owner and a number that grows with the position, with gaps. An insert takes a
    /// number between those of its neighbours; an element is found by counting from the first.
    case gapped
    /// All elements as one value in the row of the owner: read and written as a whole.
    case packed
}

/// Equally long lists of consecutive owners.
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

/// Changes of one list, done one after the other.
package enum ListChange: Sendable {
    /// Each value by a call of its own.
    case append([Int64])
    /// All values in one call, if the engine has one for that.
    case appendAll([Int64])
    /// Each value at a position: that of the element before which it goes, at the moment of its insertion.
    case insert([Int64], at: [Int])
    case remove(at: [Int])
    /// For engines with lists of their own. Each element is at its new position after its move.
    case move(from: [Int], to: [Int])

    package var count: Int {
        switch self {
        case .append(let values), .appendAll(let values), .insert(let values, _): values.count
        case .remove(let places), .move(let places, _): places.count
        }
    }
}

/// A digest of elements that depends on their order, and is cheap enough for a measured loop.
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

    /// To be called after each of several lists: the digest then also changes when an element moves to a neighbouring
    /// list.
    @inlinable
    package mutating func endList() { sum = sum &* 31 &+ 0x5851_F42D_4C95_7F2D }
}

/// Lists of one database, used by one thread. The invariants of sessions hold: one call does a whole batch.
package protocol ListSession: Session {
    /// Adds owners with their lists, in one transaction.
    func addLists(_ lists: ListBatch) throws(EngineError)
    /// Changes the list in one transaction. The session calls `beforeCommit` between the last step and the commit.
    func change(owner: Int64, _ change: ListChange, beforeCommit: () -> Void) throws(EngineError)
    /// Reads the elements at the positions, one by one, in this order.
    func readElements(owner: Int64, at places: [Int]) throws(EngineError) -> ListDigest
    /// Iterates over the lists of the owners, list after list, with `endList` after each.
    func walkLists(owners: [Int64]) throws(EngineError) -> ListDigest
    /// Reads the whole list by iterating over it.
    func readList(owner: Int64) throws(EngineError) -> [Int64]
}

/// Capability `lists`.
package protocol ListEngine: Engine {
    /// Whether the engine has lists of its own; it then treats `dense` and `gapped` alike.
    var hasOwnLists: Bool { get }

    /// Opens a database that contains only lists; creates it if there is none.
    func openLists(
        _ location: DatabaseLocation, settings: EngineSettings, keeping: ListKeeping
    ) throws(EngineError) -> any ListSession
}
