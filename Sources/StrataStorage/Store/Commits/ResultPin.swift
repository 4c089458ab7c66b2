// A process pins so many versions at a time and no more (``VersionPins``). A Realm that commits and shows the result
// needs a pin for it; that there is none left would be found when nothing can be taken back. So the pin comes first.
//
// 1. A pin that is kept counts as a pinned version: no other snapshot gets it.
// 2. It is used once, by ``newestSnapshot()`` or by a commit that is not waited for, or goes back with the transaction:
//    after a rollback, a commit that fails and a write that is taken back it is let go of, no more.

/// A pin that a transaction keeps for the version that is shown after it.
///
/// Concurrency: as its transaction.
package struct ResultPin: ~Copyable {
    private let store: Store
    private(set) var isKept = false

    init(_ store: Store) { self.store = store }

    deinit {
        // In a child that was forked off since, the monitor may be held by a thread that is not there.
        if !isKept || store.isForked { return }
        store.commits.monitor.withLock { store.commits.state.pins.giveBackReserved() }
    }

    /// Keeps a pin; one, however often it is called.
    /// - Throws: `limit(.pins)`: the transaction goes on, but what it commits may not be shown.
    package mutating func reserve() throws(StorageError) {
        if isKept { return }
        isKept = store.commits.monitor.withLock { store.commits.state.pins.reserve() }
        if !isKept { throw .limit(.pins) }
    }

    /// Pins the newest visible version, by the pin that was kept if there is one: the version that the transaction
    /// made, or a later one. After a rollback what others committed.
    /// - Throws: as ``Store/snapshot()``; `limit(.pins)` only where none was kept.
    package mutating func newestSnapshot() throws(StorageError) -> Snapshot {
        let wasKept = isKept
        isKept = false
        let newest = try store.snapshot(reserved: wasKept)
        // A process that does not own writing may have met other versions on the way.
        store.commits.deliverNotices()
        return newest
    }

    /// Pins what the transaction made, which is protected and may not be visible yet. Nil when there are too many pins.
    mutating func pin(_ made: VersionState) -> Snapshot? {
        let wasKept = isKept
        isKept = false
        return store.commits.pin(made.version, reserved: wasKept) ? Snapshot(store, made) : nil
    }
}
