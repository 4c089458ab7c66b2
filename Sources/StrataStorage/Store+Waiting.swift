/// When a commit returns.
enum CommitEnding {
    /// When it is as durable as the store makes it.
    case durable
    /// When it is a version; the sync is waited for later.
    case pending
    /// The same, and further commits go to the log with it, in one piece. The write gate is kept.
    case grouped
    /// When it is a version that another process handed in. The write gate is kept, and nobody waits here.
    case handedIn
}

/// A version that was committed and may not be durable yet.
package struct PendingCommit: Sendable {
    package let version: TransactionID
    /// What the commit made, for whoever committed; nobody else sees it before it is durable. Nil when it is durable
    /// already: where another process owns writing, and where too many versions are pinned, it was waited for.
    package let snapshot: Snapshot?
    private let store: Store
    let isGateHeld: Bool

    init(_ store: Store, _ version: TransactionID, snapshot: Snapshot? = nil, isGateHeld: Bool = false) {
        self.store = store
        self.version = version
        self.snapshot = snapshot
        self.isGateHeld = isGateHeld
    }

    /// Waits until the version is durable, leading the sync when nobody does. Ends a group.
    /// - Throws: `commitOutcomeUnknown`.
    package func wait() throws(StorageError) {
        if snapshot == nil { return }
        if !store.waitUntilDurable(version.rawValue) { throw .commitOutcomeUnknown(version) }
        store.deliverNotices()
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
        guard done.isGateHeld else { return (done, nil) }
        return (done, try store.continueGroup())
    }

    /// Waits until what this is based on can be pinned: it may stand behind a sync that another thread or process
    /// leads.
    /// - Returns: false when the store failed before, or the process that committed it died.
    package func waitUntilBaseIsVisible() -> Bool {
        if let grant { return store.waitUntilPublished(base.version, grant, recovers: false) }
        return store.waitUntilDurable(base.version)
    }
}

extension Store {
    /// The write gate is held, and given back when there is no next transaction.
    fileprivate func continueGroup() throws(StorageError) -> WriteTransaction? {
        do throws(StorageError) {
            let base = monitor.withLock { state.isClosed || state.isPoisoned ? nil : state.committed }
            guard let base else {
                gate.release()
                return nil
            }
            return try makeTransaction(base)
        } catch {
            gate.release()
            throw error
        }
    }

    /// Pins a version that is protected and may not be visible yet. Nil when there are too many pins.
    func pin(_ version: VersionState) -> Snapshot? {
        monitor.withLock {
            if state.pinned[version.version] == nil {
                if table != nil && state.pinned.count >= ProcessTable.Layout.pinsPerSlot { return nil }
                allocator.allocator.protect(version.version)
                state.pinned[version.version] = StoreState.Pinned()
            }
            state.pinned[version.version]?.count += 1
            state.pins += 1
            return Snapshot(self, version)
        }
    }
}

extension StoreState {
    /// Lets the next leader write the group's records.
    mutating func releaseHeld() {
        if heldFirst == 0 { return }
        if pending.isEmpty { pendingFirst = heldFirst }
        pending.append(contentsOf: held)
        pendingLast = heldLast
        held.removeAll()
        heldFirst = 0
    }
}
