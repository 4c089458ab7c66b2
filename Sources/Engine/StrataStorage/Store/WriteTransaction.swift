/// The open transaction that changes the store; there is one at a time.
///
/// What it changes is in its base class, which knows no store; here are its place in the order of writers and its end.
/// Concurrency: one thread at a time; it may change threads. The transaction holds the write gate, not a thread.
package final class WriteTransaction: TransactionChanges {
    let store: Store
    @exclusivity(unchecked) package var resultPin: ResultPin
    /// In a process that did not own writing when the transaction began: the turn that the owner lent for it.
    private let turn: GuestTurn?
    /// The write gate, while the transaction holds it; nil from the beginning if its creator keeps the gate.
    @exclusivity(unchecked) private var permit: WritePermit?

    /// - Parameters:
    ///   - workspace: begun for this transaction.
    ///   - turn: passes to the transaction.
    init(
        store: Store, base: VersionState, workspace: WriterWorkspace, _ permit: consuming WritePermit?,
        isReplay: Bool = false, turn: GuestTurn? = nil
    ) {
        self.permit = permit
        self.store = store
        self.turn = turn
        resultPin = ResultPin(store)
        // Without an observer, as in a migration at the open, no change is listed. An observer that is added before the
        // commit compares the versions.
        let isObserved = store.commits.wasObserved.load(ordering: .acquiring)
        super.init(
            on: base, workspace, pageWriter: store.checkpoints,
            listing: isObserved ? workspace.nodes.limits.listedChanges : 0, isReplay: isReplay, lentTurn: turn)
    }

    deinit { if !isEnded { rollback() } }

    /// The turn in which the owner commits this transaction; nil if this process owns writing, perhaps only since an
    /// operation of the transaction.
    var guest: GuestTurn? { lentTurn == nil ? nil : turn }

    // MARK: End

    /// Commits the changes. Returns when the version is durable, in the sense of the durability class, and visible.
    ///
    /// A transaction without changes makes no version; it returns when its base is durable.
    /// - Throws: `noSpace` on a full disk: the transaction is rolled back without further effect.
    ///   `commitOutcomeUnknown` if a sync failed; `misuse(.transactionEnded)`.
    /// - Complexity: one run of pages, and one sync that all waiting commits share.
    @discardableResult
    package func commit() throws(StorageError) -> TransactionID {
        if try finishesEmpty() { return TransactionID(base.version) }
        return try store.commit(self).version
    }

    /// Applies pending operations; ends a transaction without changes once its base is durable.
    /// - Returns: whether it ended the transaction.
    /// - Throws: `commitOutcomeUnknown` if its base may be lost.
    func finishesEmpty() throws(StorageError) -> Bool {
        if isEnded { throw .misuse(.transactionEnded) }
        do throws(StorageError) {
            try store.checkOrigin()
            if isFailed { throw .misuse(.transactionFailed) }
            try flushAll()
        } catch {
            rollback()
            throw error
        }
        if !isEmpty { return false }
        if !undo() { throw .commitOutcomeUnknown(TransactionID(base.version)) }
        return true
    }

    /// Rolls the transaction back.
    package func rollback() { if !isEnded { _ = undo() } }

    /// Rolls back, and waits until the base is durable, because the transaction's user has seen it.
    /// - Returns: false if the base may not be durable.
    private func undo() -> Bool {
        if !nodes.placed.isEmpty { mark(.rolledBackPlaced) }
        end(.undone)
        if isReplay { return true }
        if store.isForked {
            // In a forked child no thread waits at the gate; the permit must not outlive the gate's store.
            giveGateBack()
            return true
        }
        if let guest { return guest.rollBack(self) }
        giveGateBack()
        return store.commits.waitUntilDurable(base.version)
    }

    /// Ends all use of the transaction. It keeps the write gate.
    func end(_ end: End) { endUse(store.isForked ? .forked : end) }

    /// Releases the write gate, if the transaction holds it.
    func giveGateBack() { permit = nil }

    /// Takes the write gate away from this transaction, for the next one of its commit batch.
    func takePermit() -> WritePermit? { permit.take() }
}
