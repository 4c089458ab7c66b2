internal import StrataFiles

/// Answers the other processes that have the store open. If this process is the owner of writing, it lends a turn for
/// one transaction, or hands ownership over: to a process that needs ownership, or to one that has been the only
/// process to commit for a while. It does so on a thread of its own, so that an owner that makes no transactions
/// answers, too.
struct Attendant {
    /// After this many consecutive transactions by one other process, the owner hands writing over to it.
    private static let timesBeforeGivingOn = 64
    /// Microseconds after which the thread checks for requests although no bell rang.
    private static let pause = 10_000_000

    let store: Store
    let processes: ProcessTable

    private var commits: Commits { store.commits }

    /// Starts the thread, unless it runs. In a process with observers the thread also follows the versions of other
    /// processes.
    func start() {
        guard commits.withState({ $0.beginAttending() }) else { return }
        let hasThread = store.options.scheduling.spawn("attendant") { [weak store, processes] in
            while !processes.isEnded {
                let bell = processes.slots.bell
                processes.slots.giveSign()
                // A weak reference: this thread must not keep the store alive.
                do {
                    guard let store else { return }
                    Attendant(store: store, processes: processes).attend()
                }
                #if Zoo
                    let pause = PlantedMistake.attendantPolls.isPlanted ? 1_000 : Self.pause
                #else
                    let pause = Self.pause
                #endif
                processes.slots.waitForBell(bell, microseconds: pause)
            }
        }
        // This process's next transaction tries again. Until then other processes wait for their turn, at most until
        // this one closes the store.
        if !hasThread { commits.withState { $0.endAttending() } }
    }

    private var isOwner: Bool { commits.withState { $0.isOwner } }

    private func attend() {
        if !processes.ownership.isOwn && isOwner { restoreWord() }
        while processes.ownership.isOwn && processes.ownership.isAsked && !processes.isEnded {
            let permit = acquireGate()
            // The error needs no report: other processes find the owner gone once its locks are released, and the next
            // use of the store in this process throws the same error.
            do throws(StorageError) { try serve(permit) } catch { break }
            permit.giveBack()
            commits.deliverNotices()
        }
        let listens = commits.withState { !$0.isOwner && !$0.isClosed && !$0.observers.isEmpty }
        if listens {
            // Errors are dropped: a damaged version is reported to the next reader of it.
            do throws(StorageError) { _ = try store.snapshot() } catch {}
            commits.deliverNotices()
        }
    }

    /// Acquires the write gate. Gives signs of life meanwhile, so that a process in a long transaction does not count
    /// as stopped.
    private func acquireGate() -> WritePermit {
        while true {
            let deadline = store.options.scheduling.deadline(after: ProcessTable.step)
            if let permit = store.gate.acquire(until: deadline) { return permit }
            processes.slots.giveSign()
        }
    }

    /// Restores the owner word after another process overwrote it while this process owns writing.
    private func restoreWord() {
        store.gate.whileHeld { _ in
            guard !processes.isEnded, isOwner else { return }
            // Errors are dropped: if the table is gone, the next use of the store throws.
            do throws(StorageError) { try processes.ownership.restoreWord() } catch {}
        }
    }

    // MARK: The owner

    /// Lends a turn to the process that asked first, or hands ownership over.
    func serve(_ permit: borrowing WritePermit) throws(StorageError) {
        let state = commits.withState { (isOwner: $0.isOwner, mustGive: $0.isPoisoned || $0.isClosed) }
        if processes.isEnded || !processes.ownership.isOwn { return }
        if !state.isOwner { return try processes.ownership.release() }
        guard let asker = try processes.ownership.firstAsker() else { return }
        let lent = store.writer.lent
        let isAlone = lent.slot == asker.slot && lent.commits == store.writer.commits
        store.writer.lent.times = isAlone ? lent.times + 1 : 1
        store.writer.lent.slot = asker.slot
        if asker.wantsOwnership || state.mustGive || store.writer.lent.times > Self.timesBeforeGivingOn {
            store.writer.lent.times = 0
            do throws(StorageError) {
                return try Succession(store: store, processes: processes).handOver()
            } catch {
                // Without a log, only this process's memory has the newest commits, and the disk had no room for their
                // checkpoint. So this process keeps ownership and continues to lend turns.
                if state.mustGive || !isOwner { throw error }
                if asker.wantsOwnership { return try processes.ownership.refuse(asker.slot, error) }
            }
        }
        try lend(to: asker.slot)
        store.writer.lent.commits = store.writer.commits
    }

    private func lend(to slot: Int) throws(StorageError) {
        // The guest's base must survive the death of this process, so its record is in the log before the turn is lent.
        // It need not be synced yet.
        let base = commits.whileHeld { held -> VersionState? in
            held.state.endBatch()
            commits.appendWaiting(&held)
            return held.state.isPoisoned ? nil : held.state.committed
        }
        guard let base else { throw .poisoned }
        let lent = PublishedVersion(
            number: 0, version: base.version, root: base.root, file: store.allocator.extent)
        guard let grant = try processes.grants.lend(to: slot, lent) else { return }
        mark(.lentTurn)
        switch try processes.grants.awaitAnswer(of: slot, grant) {
        case .claimed: try Succession(store: store, processes: processes).handOver(to: slot)
        case .submitted: commit(for: slot, grant, base)
        default:
            // A guest that rolled back waits until its base is durable, and no thread here may wait for that commit
            // yet.
            if commits.withState({ $0.durable < base.version }) { store.groupLeader.call(commits) }
        }
    }

    private func commit(for slot: Int, _ grant: Grant, _ base: VersionState) {
        var failure: StorageError?
        do throws(StorageError) {
            guard let record = try processes.grants.submission(of: slot) else {
                throw StorageError.lockFile(path: processes.path)
            }
            try store.commit(record: record, on: base)
            let isWritten = commits.whileHeld { held in
                commits.appendWaiting(&held)
                return !held.state.isPoisoned
            }
            if !isWritten { throw StorageError.commitOutcomeUnknown(TransactionID(base.version + 1)) }
        } catch {
            failure = error
        }
        let isPublished = commits.withState { $0.durable > base.version }
        // A publication after the answer wakes the guest. One before the answer found the guest still waiting for the
        // answer, so the answer has to wake it.
        let wakes = isPublished || processes.grants.isGuestInHurry(slot)
        processes.grants.answer(slot, grant, failure, wakes: wakes)
        if failure == nil, !isPublished {
            if commits.withState({ $0.durable > base.version }) { processes.slots.wakeGuest(slot) }
            store.groupLeader.call(commits)
        }
    }
}

extension Store {
    /// Makes this process the owner of writing. The write gate is held.
    /// - Throws: as ``Succession/awaitTurn(until:acceptsGrant:)``.
    func becomeOwner(until deadline: Deadline = .never) throws(StorageError) {
        guard let processes else { return }
        let succession = Succession(store: self, processes: processes)
        _ = try succession.awaitTurn(until: deadline, acceptsGrant: false)
    }

    /// Commits a guest's record as the next version, and does not wait until it is durable. The write gate is held, and
    /// stays held.
    func commit(record: [UInt8], on base: VersionState) throws(StorageError) {
        try FileEnd(self).check()
        try reader.confirm()
        let transaction = try makeTransaction(base, nil)
        do throws(StorageError) {
            try ChangeReplay(in: transaction).apply(record)
            try transaction.flushAll()
        } catch {
            transaction.isFailed = true
            transaction.end(.undone)
            throw error
        }
        try commit(transaction, ending: .handedIn)
    }
}
