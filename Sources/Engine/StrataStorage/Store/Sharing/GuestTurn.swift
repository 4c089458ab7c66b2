internal import StrataFiles

/// A transaction in a process that does not own writing.
///
/// The transaction runs in this process's memory, and submits only the record of its changes, which the owner commits.
/// If the transaction has to write pages before its commit (a long value, a spill, a record above the limit), this
/// process becomes the owner in the middle of it instead.
final class GuestTurn: LentTurn {
    let store: Store
    let processes: ProcessTable
    let grant: Grant
    /// This process's pin of the base in the table. It keeps the base's pages even if the turn is withdrawn because
    /// this process was stopped.
    private var pin: Int?

    init(store: Store, processes: ProcessTable, grant: Grant) {
        (self.store, self.processes, self.grant) = (store, processes, grant)
    }

    private var commits: Commits { store.commits }

    /// Starts the transaction.
    func begin(_ permit: consuming WritePermit) throws(StorageError) -> WriteTransaction {
        pin = commits.withState { _ in processes.pins.pin(grant.base.version) }
        do throws(StorageError) {
            store.pages.admit(grant.base.file.pages)
            var base = VersionState.empty
            if !grant.base.root.isNull {
                let known = commits.withState { $0.visible.state }
                base = try RootNode.read(grant.base.root, store.reader, known: known)
            }
            try store.reader.confirm()
            guard base.version == grant.base.version else {
                throw StorageError.corrupt(page: PageNumber(grant.base.root.page), offset: 24, reason: .structure)
            }
            let workspace: WriterWorkspace
            if let kept = store.writer.workspace { workspace = kept } else { workspace = try store.makeWorkspace() }
            workspace.begin(base, recordLimit: Grants.recordLimit)
            return WriteTransaction(store: store, base: base, workspace: workspace, permit, turn: self)
        } catch {
            unpin()
            processes.grants.giveBack(grant)
            throw error
        }
    }

    private func unpin() { if let pin { commits.withState { _ in processes.pins.unpin(pin) } } }

    func claim(_ transaction: TransactionChanges, canRepeat: Bool) throws(StorageError) {
        mark(.guestClaimed)
        defer { unpin() }
        transaction.lentTurn = nil
        transaction.nodes.beforeFirstPage = nil
        if !processes.grants.claim(grant) { throw .turnTakenBack(path: store.path) }
        // A recovery inside `becomeOwner` makes a transaction of its own: it must not reuse the open one's workspace.
        store.writer.workspace = nil
        defer { store.writer.workspace = transaction.workspace }
        do throws(StorageError) { try store.becomeOwner() } catch {
            // An open claim would bring ownership to this process later (``Grants/livingGuest()``).
            processes.grants.giveBack(grant)
            throw error
        }
        let committed = commits.newest
        let isSame = committed.version == grant.base.version
        if isSame, committed.root == grant.base.root { return try store.checkpoints.loadFreeMap() }
        // The owner died or left no block, and the recovery made another root or version.
        guard canRepeat, isSame, isOnlyDeath(recovered: committed.version) else {
            throw .commitOutcomeUnknown(TransactionID(transaction.version))
        }
        mark(.guestOutlivedOwner)
        let record = [UInt8](transaction.workspace.recorder.finish(lsn: transaction.version))
        transaction.rebase(committed)
        try store.checkpoints.loadFreeMap()
        try ChangeReplay(in: transaction).apply(record)
    }

    /// Whether there was exactly one recovery since the grant, and it ended at this version.
    private func isOnlyDeath(recovered version: UInt64) -> Bool {
        processes.ownership.deaths == grant.deaths + 1 && processes.ownership.recovered(grant.deaths) == version
    }

    // MARK: The end

    /// Submits the finished transaction to the owner, and waits until it is durable. Releases the write gate.
    func commit(_ transaction: WriteTransaction) throws(StorageError) -> TransactionID {
        let version = TransactionID(transaction.version)
        // A version is told with its changes only if it is the next after the visible one: the base has to be visible.
        refreshForObservers()
        commits.withState { $0.observers.handIn(CommitNotice(of: transaction), transaction.version) }
        // Count ourselves as waiting before submitting the record: the owner wakes only counted waiters when it
        // publishes the version; its answer alone may wake no thread.
        changeWaiters(by: 1)
        let failure = handInAndWait(transaction)
        changeWaiters(by: -1)
        if let failure {
            commits.withState { $0.observers.refuse(version.rawValue) }
            throw failure
        }
        refreshForObservers()
        commits.deliverNotices()
        return version
    }

    /// Ends the transaction without a commit. Releases the write gate.
    /// - Returns: whether the transaction's base is durable.
    func rollBack(_ transaction: WriteTransaction) -> Bool {
        unpin()
        processes.grants.giveBack(grant)
        transaction.giveGateBack()
        return waitUntilPublished(grant.base.version)
    }

    /// - Returns: why the transaction is not committed; nil if it is.
    private func handInAndWait(_ transaction: WriteTransaction) -> StorageError? {
        let version = transaction.version
        defer { unpin() }
        let outcome = handIn(transaction)
        var failure: StorageError?
        switch outcome {
        case .refused(let error): failure = error
        case .ownerGone:
            mark(.guestOutlivedOwner)
            do throws(StorageError) { try commitAgain(transaction) } catch { failure = error }
        case .applied: break
        }
        transaction.end(.committed)
        transaction.giveGateBack()
        if failure == nil, case .applied = outcome, !waitUntilPublished(version) {
            failure = .commitOutcomeUnknown(TransactionID(version))
        }
        return failure
    }

    private func handIn(_ transaction: WriteTransaction) -> Grants.Outcome {
        do throws(StorageError) {
            let record = transaction.workspace.recorder.finish(lsn: transaction.version)
            try processes.grants.submit(grant, record, isInHurry: store.gate.hasWaiters)
        } catch {
            processes.grants.giveBack(grant)
            return .refused(error)
        }
        do throws(StorageError) { return try processes.grants.awaitOutcome(grant, processes.ownership) } catch {
            // The table is not usable any more, or the owner is stopped.
            return .refused(.commitOutcomeUnknown(TransactionID(transaction.version)))
        }
    }

    /// Commits the record in this process after the owner died with it. The write gate is held.
    private func commitAgain(_ transaction: WriteTransaction) throws(StorageError) {
        let version = transaction.version
        let unknown = StorageError.commitOutcomeUnknown(TransactionID(version))
        let record = [UInt8](transaction.workspace.recorder.finish(lsn: version))
        transaction.end(.committed)
        do throws(StorageError) { try store.becomeOwner() } catch { throw unknown }
        guard let recovered = processes.ownership.recovered(grant.deaths) else { throw unknown }
        // Under the grant only this transaction could become this version. So a recovery that reached the version found
        // the record in the log.
        if recovered >= version { return }
        let committed = commits.newest
        guard committed.version == grant.base.version, isOnlyDeath(recovered: committed.version) else { throw unknown }
        try store.commit(record: record, on: committed)
        if !commits.waitUntilDurable(version) { throw unknown }
    }

    /// Makes the newest published version visible in this process, if it has observers, so that their notices are due.
    private func refreshForObservers() {
        if commits.withState({ $0.observers.isEmpty || $0.isOwner }) { return }
        // Errors are dropped: a damaged version is reported to the next reader of it.
        do throws(StorageError) { _ = try store.snapshot() } catch {}
    }

    /// Waits until the owner has made a version durable and published it.
    /// - Parameter recovers: if the owner dies, this thread takes the write gate, makes this process the owner and
    ///   recovers. The caller does not hold the gate then.
    /// - Returns: false if the version was lost when its owner died, or may have been.
    func waitUntilPublished(_ version: UInt64, recovers: Bool = true) -> Bool {
        changeWaiters(by: 1)
        defer { changeWaiters(by: -1) }
        var nextLook = processes.slots.nextLook
        var silence = SilenceWatch(processes.slots)
        let ownership = processes.ownership
        do throws(StorageError) {
            while true {
                let value = processes.slots.guestBell
                let newest = try processes.versions.newest().version
                processes.fence()
                if ownership.deaths != grant.deaths {
                    return ownership.recovered(grant.deaths).map { $0 >= version } ?? false
                }
                if newest >= version { return true }
                if processes.isPoisoned || processes.isEnded { return false }
                processes.slots.waitAsGuest(value)
                if !processes.slots.isTimeToLook(&nextLook, rang: processes.slots.guestBell != value) { continue }
                let isGone = try ownership.isGone(grant)
                if try processes.versions.newest().version >= version { continue }
                if !isGone {
                    if silence.isSilent(grant.owner) { return false }
                    continue
                }
                if !recovers { return false }
                try store.gate.whileHeld { (_) throws(StorageError) in try store.becomeOwner() }
            }
        } catch {
            return false
        }
    }

    /// Counts a thread that waits for a publication; the owner wakes processes whose count is not 0. A close waits
    /// until it is 0.
    private func changeWaiters(by count: Int) {
        commits.whileHeld { held in
            let waiters = held.state.changeWaiters(by: count)
            processes.slots.setWaiters(waiters)
            if waiters == 0 { held.wakeAll() }
        }
    }
}
