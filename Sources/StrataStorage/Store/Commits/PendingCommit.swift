/// When a commit returns.
enum CommitEnding {
    /// When it is as durable as the store makes it.
    case durable
    /// When it is a version; the sync is waited for later.
    case pending
    /// The same, and further commits go to the log with it, in one piece. The transaction keeps the write gate for the
    /// next one.
    case grouped
    /// When it is a version that another process handed in: nobody waits here.
    case handedIn
}

/// A version that was committed and may not be durable yet.
package struct PendingCommit: Sendable {
    package let version: TransactionID
    /// What the commit made, for whoever committed; nobody else sees it before it is durable. Nil when it is durable
    /// already: where another process owns writing, and where too many versions are pinned, it was waited for.
    package let snapshot: Snapshot?
    private let store: Store

    init(_ store: Store, _ version: TransactionID, snapshot: Snapshot? = nil) {
        self.store = store
        self.version = version
        self.snapshot = snapshot
    }

    /// Waits until the version is durable, leading the sync when nobody does. Ends a group.
    /// - Throws: `commitOutcomeUnknown`.
    package func wait() throws(StorageError) {
        if snapshot == nil { return }
        if !store.commits.waitUntilDurable(version.rawValue) { throw .commitOutcomeUnknown(version) }
        store.commits.deliverNotices()
    }
}

extension WriteTransaction {
    /// Makes the changes a version without waiting for the disk, where the store syncs every commit; elsewhere, where
    /// a commit is a checkpoint of its own, and where another process owns writing, as ``commit()``.
    /// - Throws: as ``commit()``.
    package func commitWithoutWaiting() throws(StorageError) -> PendingCommit {
        if try finishesEmpty() { return PendingCommit(store, TransactionID(base.version)) }
        return try store.commit(self, ending: .pending)
    }

    /// The same, and the transaction that follows: both are durable, or neither is. Nobody else writes in between.
    ///
    /// The group ends with a commit of another kind, with a transaction that is given up, and when somebody waits for
    /// one of its versions.
    /// - Returns: the next transaction; nil when there can be no group, and it is to be begun as always.
    /// - Throws: as ``commit()``.
    package func commitGrouped() throws(StorageError) -> (PendingCommit, next: WriteTransaction?) {
        if try finishesEmpty() { return (PendingCommit(store, TransactionID(base.version)), nil) }
        let done = try store.commit(self, ending: .grouped)
        guard let permit = takePermit() else { return (done, nil) }
        return (done, try store.continueBatch(permit))
    }

    /// Waits until what this is based on can be pinned: it may stand behind a sync that another thread or process
    /// leads.
    /// - Returns: false when the store failed before, or the process that committed it died.
    package func waitUntilBaseIsVisible() -> Bool {
        if let guest { return guest.waitUntilPublished(base.version, recovers: false) }
        return store.commits.waitUntilDurable(base.version)
    }
}
