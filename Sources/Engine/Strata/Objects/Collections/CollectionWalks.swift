/// An iteration over a collection that the program may change before the iteration ends.
protocol CollectionWalk: AnyObject {
    /// Whether it iterates over the collection in this column of a row. Table and column are positions in the schema.
    func isOf(_ table: Int, _ key: Int64, _ column: Int) -> Bool
    /// Copies the elements that the iteration has still to give, because the collection is about to change.
    func settle()
}

/// The unfinished iterations over collections in a write, so that each still gives the elements as they were at its
/// start. Retains none of them: an iteration removes itself before it is deallocated.
///
/// Concurrency: confined with its Realm.
final class CollectionWalks {
    @exclusivity(unchecked) private var walks: [ObjectIdentifier: Known] = [:]

    private struct Known {
        unowned(unsafe) let walk: any CollectionWalk
    }

    func add(_ walk: any CollectionWalk) { walks[ObjectIdentifier(walk)] = Known(walk: walk) }

    /// Called before an iteration is deallocated.
    func remove(_ walk: any CollectionWalk) {
        if !walks.isEmpty { walks[ObjectIdentifier(walk)] = nil }
    }

    /// Called before a column of a row changes.
    @inline(__always)
    func settle(_ table: Int, _ key: Int64, _ column: Int) {
        if walks.isEmpty { return }
        for walk in walks.values.map(\.walk) where walk.isOf(table, key, column) { walk.settle() }
    }

    /// Called before an operation that may change every collection, and at the end of the write.
    func settleAll() {
        if walks.isEmpty { return }
        for walk in walks.values.map(\.walk) { walk.settle() }
    }
}
