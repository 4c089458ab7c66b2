/// An iteration over a collection that may change meanwhile.
protocol CollectionWalk: AnyObject {
    /// Whether it iterates over this column of a row; `column` is a position.
    func isOf(_ table: Int, _ key: Int64, _ column: Int) -> Bool
    /// Copies the rest of the collection, because it is about to change.
    func settle()
}

/// Unfinished iterations over collections in a write. Holds them weakly.
///
/// Concurrency: confined with its Realm.
final class CollectionWalks {
    private var walks: [ObjectIdentifier: Known] = [:]

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

    /// Called before any collection may change, and at the end of the write.
    func settleAll() {
        if walks.isEmpty { return }
        for walk in walks.values.map(\.walk) { walk.settle() }
    }
}
