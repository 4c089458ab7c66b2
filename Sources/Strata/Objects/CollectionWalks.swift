/// A walk along a collection that may change meanwhile.
protocol CollectionWalk: AnyObject {
    /// Whether it is along a column of a row; `column` is a position.
    func isOf(_ table: Int, _ key: Int64, _ column: Int) -> Bool
    /// Takes what is left of the collection: it is about to change.
    func settle()
}

/// Walks along collections that were begun in a write and are not over. It keeps none of them alive.
///
/// Concurrency: confined with its Realm.
final class CollectionWalks {
    private var walks: [ObjectIdentifier: Known] = [:]

    private struct Known {
        unowned(unsafe) let walk: any CollectionWalk
    }

    func add(_ walk: any CollectionWalk) { walks[ObjectIdentifier(walk)] = Known(walk: walk) }

    /// To be called before a walk goes.
    func remove(_ walk: any CollectionWalk) {
        if !walks.isEmpty { walks[ObjectIdentifier(walk)] = nil }
    }

    /// A column of a row is about to change.
    @inline(__always)
    func settle(_ table: Int, _ key: Int64, _ column: Int) {
        if walks.isEmpty { return }
        for walk in walks.values.map(\.walk) where walk.isOf(table, key, column) { walk.settle() }
    }

    /// Any collection may change, or the write ends.
    func settleAll() {
        if walks.isEmpty { return }
        for walk in walks.values.map(\.walk) { walk.settle() }
    }
}
