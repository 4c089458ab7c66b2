internal import StrataFiles

/// What a process does for others that have the store open: as the owner of writing it lends its turn for one
/// transaction, or gives writing on to a process that needs it for itself, or that is the only one that writes. A
/// thread does it, so that an idle owner can be asked.
struct Attendant {
    /// So many transactions of one other process in a row, and writing is its business.
    private static let timesBeforeGivingOn = 64
    /// Microseconds after which the thread looks for itself whether there is something to do.
    private static let pause = 10_000_000

    let store: Store
    let processes: ProcessTable

    private var commits: Commits { store.commits }
    private var monitor: any Monitor { store.commits.monitor }

    /// Starts the thread, which also hears of versions of others, unless it runs. The monitor is not held.
    func start() {
        let isFirst = monitor.withLock {
            defer { commits.state.others.hasAttendant = true }
            return !commits.state.others.hasAttendant
        }
        guard isFirst else { return }
        let hasThread = store.options.scheduling.spawn("attendant") { [weak store, processes] in
            while !processes.isEnded {
                let bell = processes.slots.bell
                processes.slots.giveSign()
                // The store lives as long as its users, not as long as this thread.
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
        // Tried again at the next transaction. Until then other processes wait for this one to close.
        if !hasThread { monitor.withLock { commits.state.others.hasAttendant = false } }
    }

    private func attend() {
        if !processes.ownership.isOwn && monitor.withLock({ commits.state.isOwner }) { restoreWord() }
        while processes.ownership.isOwn && processes.ownership.isAsked && !processes.isEnded {
            let permit = acquireGate()
            // What cannot be given on is found by whoever waits: this process's locks go with it. Nobody waits for this
            // thread; the next use of the store meets the cause.
            do throws(StorageError) { try serve(permit) } catch { break }
            permit.giveBack()
            commits.deliverNotices()
        }
        let listens = monitor.withLock {
            !commits.state.isOwner && !commits.state.isClosed && !commits.state.observers.isEmpty
        }
        if listens {
            // A damaged version is reported to whoever reads it.
            do throws(StorageError) { _ = try store.snapshot() } catch {}
            commits.deliverNotices()
        }
    }

    /// Waits for the write gate, and hears its bell meanwhile: a process in a long transaction is not stopped.
    private func acquireGate() -> WritePermit {
        while true {
            let deadline = store.options.scheduling.deadline(after: ProcessTable.step)
            if let permit = store.gate.acquire(until: deadline) { return permit }
            processes.slots.giveSign()
        }
    }

    /// A process wrote over the owner word while this process owns writing.
    private func restoreWord() {
        store.gate.whileHeld { _ in
            guard !processes.isEnded, monitor.withLock({ commits.state.isOwner }) else { return }
            // Where the table is gone altogether, the next use of the store says so.
            do throws(StorageError) { try processes.ownership.restoreWord() } catch {}
        }
    }

    // MARK: The owner

    /// Serves the process that asked first.
    func serve(_ permit: borrowing WritePermit) throws(StorageError) {
        let state = monitor.withLock {
            (isOwner: commits.state.isOwner, mustGive: commits.state.isPoisoned || commits.state.isClosed)
        }
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
                // Without room for a checkpoint, and without a log, this process alone has the newest commits: it keeps
                // writing, and goes on to lend it.
                if state.mustGive || !monitor.withLock({ commits.state.isOwner }) { throw error }
                if asker.wantsOwnership { return try processes.ownership.refuse(asker.slot, error) }
            }
        }
        try lend(to: asker.slot)
        store.writer.lent.commits = store.writer.commits
    }

    private func lend(to slot: Int) throws(StorageError) {
        // What the guest builds on must outlive this process, also where it is not durable yet.
        let base = monitor.withLock { () -> VersionState? in
            commits.state.queue.endBatch()
            commits.appendWaiting()
            return commits.state.isPoisoned ? nil : commits.state.committed
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
            // Who gave its turn back waits until what it has seen is durable; who committed that may wait much later.
            if monitor.withLock({ commits.state.queue.durable < base.version }) { store.groupLeader.call(commits) }
        }
    }

    private func commit(for slot: Int, _ grant: Grant, _ base: VersionState) {
        var failure: StorageError?
        do throws(StorageError) {
            guard let record = try processes.grants.submission(of: slot) else {
                throw StorageError.lockFile(path: processes.path)
            }
            try store.commit(record: record, on: base)
            let isWritten = monitor.withLock {
                commits.appendWaiting()
                return !commits.state.isPoisoned
            }
            if !isWritten { throw StorageError.commitOutcomeUnknown(TransactionID(base.version + 1)) }
        } catch {
            failure = error
        }
        let isPublished = monitor.withLock { commits.state.queue.durable > base.version }
        // What is published later wakes the guest; what was, before the answer could be seen, did not.
        let wakes = isPublished || processes.grants.isGuestInHurry(slot)
        processes.grants.answer(slot, grant, failure, wakes: wakes)
        if failure == nil, !isPublished {
            if monitor.withLock({ commits.state.queue.durable > base.version }) { processes.slots.wakeGuest(slot) }
            store.groupLeader.call(commits)
        }
    }
}

extension Store {
    /// Makes this process the one that writes. The write gate is held.
    /// - Throws: as ``Succession/awaitTurn(until:acceptsGrant:)``.
    func becomeOwner(until deadline: Deadline = .never) throws(StorageError) {
        guard let processes else { return }
        let succession = Succession(store: self, processes: processes)
        _ = try succession.awaitTurn(until: deadline, acceptsGrant: false)
    }

    /// Makes a record of another process the next version, unsynced where others may share the sync. The write gate is
    /// held, and kept.
    func commit(record: [UInt8], on base: VersionState) throws(StorageError) {
        try checkOwnSize()
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
