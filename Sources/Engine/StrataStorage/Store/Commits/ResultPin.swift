// A process can pin a limited number of versions (``VersionPins``). A Realm that commits and shows the result needs a
// pin for it. After the commit it is too late to fail, so the pin is reserved before.
//
// 1. A reserved pin counts as a pinned version: no other snapshot can take it.
// 2. It is used once, by ``newestSnapshot()`` or by a commit that is not waited for, or released with the transaction:
//    after a rollback or a failed commit.

/// A pin that a transaction reserves for the version shown after it.
///
/// Concurrency: as its transaction.
package struct ResultPin: ~Copyable {
    private let store: Store
    private(set) var isKept = false

    init(_ store: Store) { self.store = store }

    deinit {
        // In a forked child the store's lock may be held by a thread that does not exist there.
        if !isKept || store.isForked { return }
        store.commits.withState { $0.visible.giveBackReserved() }
    }

    /// Reserves a pin. Further calls have no effect.
    /// - Throws: `limit(.pins)`: the transaction can continue, but its result may not be shown.
    package mutating func reserve() throws(StorageError) {
        if isKept { return }
        isKept = store.commits.withState { $0.visible.reserve() }
        if !isKept { throw .limit(.pins) }
    }

    /// Pins the newest visible version, with the reserved pin if there is one. After a commit that is the transaction's
    /// version or a later one, after a rollback the newest of other transactions.
    /// - Throws: as ``Store/snapshot()``; `limit(.pins)` only if none was reserved.
    package mutating func newestSnapshot() throws(StorageError) -> Snapshot {
        let wasKept = isKept
        isKept = false
        let newest = try store.snapshot(reserved: wasKept)
        // A process that does not own writing may have followed to other versions: notify its observers.
        store.commits.deliverNotices()
        return newest
    }

    /// Pins the transaction's version, which is protected and perhaps not visible yet. Nil if too many versions are
    /// pinned.
    mutating func pin(_ made: VersionState) -> Snapshot? {
        let wasKept = isKept
        isKept = false
        return store.commits.pin(made.version, reserved: wasKept) ? Snapshot(store, made) : nil
    }
}
