/// When a commit returns.
enum CommitEnding {
    /// When the version is durable in the sense of the durability class.
    case durable
    /// When it is a version; the caller waits for the sync later.
    case pending
    /// As `pending`, in a commit batch: the records of further commits go to the log with this one, in one write. The
    /// transaction keeps the write gate for the next one.
    case grouped
    /// When it is a version; its transaction was submitted by another process, so no thread here waits for it.
    case handedIn
}

/// A committed version that may not be durable yet.
package struct PendingCommit: Sendable {
    package let version: TransactionID
    /// The version, for the thread that committed it; other readers see it once it is durable. Nil if it already is, as
    /// the durability class defines it, because the commit waited: for another process that owns writing, for a
    /// checkpoint of its own, because too many versions are pinned, or since it had no changes or the class is not
    /// `full`.
    package let snapshot: Snapshot?
    private let store: Store

    init(_ store: Store, _ version: TransactionID, snapshot: Snapshot? = nil) {
        self.store = store
        self.version = version
        self.snapshot = snapshot
    }

    /// Waits until the version is durable, and leads the sync if no other thread does. Ends the commit batch.
    /// - Throws: `commitOutcomeUnknown`.
    package func wait() throws(StorageError) {
        if snapshot == nil { return }
        if !store.commits.waitUntilDurable(version.rawValue) { throw .commitOutcomeUnknown(version) }
        store.commits.deliverNotices()
    }
}

extension WriteTransaction {
    /// Commits without waiting for the disk, if the store syncs every commit. Otherwise, and if another process owns
    /// writing, as ``commit()``.
    /// - Throws: as ``commit()``.
    package func commitWithoutWaiting() throws(StorageError) -> PendingCommit {
        if try finishesEmpty() { return PendingCommit(store, TransactionID(base.version)) }
        return try store.commit(self, ending: .pending)
    }

    /// As ``commitWithoutWaiting()``, and begins the next transaction of a commit batch: both are durable, or neither
    /// is. No other transaction comes in between.
    ///
    /// The batch ends with a commit of another kind, with a rollback, and when a thread waits for one of its versions.
    /// - Returns: the next transaction; nil if there can be no batch: the caller then begins one with
    ///   ``Store/beginWrite()``.
    /// - Throws: as ``commit()``.
    package func commitGrouped() throws(StorageError) -> (PendingCommit, next: WriteTransaction?) {
        if try finishesEmpty() { return (PendingCommit(store, TransactionID(base.version)), nil) }
        let done = try store.commit(self, ending: .grouped)
        guard let permit = takePermit() else { return (done, nil) }
        return (done, try store.continueBatch(permit))
    }

    /// Waits until this transaction's base can be pinned: a sync of it, led by another thread or process, may be under
    /// way.
    /// - Returns: false if the store has failed, or the process that committed the base died.
    package func waitUntilBaseIsVisible() -> Bool {
        if let guest { return guest.waitUntilPublished(base.version, recovers: false) }
        return store.commits.waitUntilDurable(base.version)
    }
}
