internal import StrataFiles

// What the owner of writing does for processes that ask: it lends its turn for one transaction, or gives writing on to
// a process that needs it for itself, or that is the only one that writes.

extension Store {
    /// So many transactions of one other process in a row, and writing is its business.
    private static let timesBeforeGivingOn = 64

    /// Serves the process that asked first. The write gate is held, and given back.
    func serve(_ table: ProcessTable) throws(StorageError) {
        defer { gate.release() }
        let (isOwner, isPoisoned, isClosed) = monitor.withLock { (state.isOwner, state.isPoisoned, state.isClosed) }
        if table.isEnded || !table.isOwner { return }
        if !isOwner { return try table.releaseOwnership() }
        guard let asker = try table.firstAsker() else { return }
        let isAlone = writer.lent.slot == asker.slot && writer.lent.commits == writer.commits
        writer.lent.times = isAlone ? writer.lent.times + 1 : 1
        writer.lent.slot = asker.slot
        if asker.wantsOwnership || isPoisoned || isClosed || writer.lent.times > Self.timesBeforeGivingOn {
            writer.lent.times = 0
            return try handOver(table)
        }
        try lend(table, asker.slot)
        writer.lent.commits = writer.commits
    }

    private func lend(_ table: ProcessTable, _ slot: Int) throws(StorageError) {
        // What the guest builds on must outlive this process, also where it is not durable yet.
        let base = monitor.withLock { () -> VersionState? in
            state.releaseHeld()
            appendPending()
            return state.isPoisoned ? nil : state.committed
        }
        guard let base else { throw .poisoned }
        let lent = PublishedVersion(
            number: 0, version: base.version, root: base.root, pages: allocator.allocator.fileCapacity)
        guard let grant = try table.lend(to: slot, lent) else { return }
        mark(.lentTurn)
        switch try table.awaitAnswer(of: slot, grant) {
        case .claimed: try handOver(table, to: slot)
        case .submitted: try commit(for: slot, grant, base, table)
        default:
            // Who gave its turn up waits until what it has seen is durable; who committed that may wait much later.
            if monitor.withLock({ state.durable < base.version }) { groupLeader.call(self) }
        }
    }

    private func commit(
        for slot: Int, _ grant: Grant, _ base: VersionState, _ table: ProcessTable
    ) throws(StorageError) {
        var failure: StorageError?
        do throws(StorageError) {
            guard let record = try table.submission(of: slot) else { throw StorageError.lockFile(path: table.path) }
            try apply(record, base)
            let isWritten = monitor.withLock {
                appendPending()
                return !state.isPoisoned
            }
            if !isWritten { throw StorageError.commitOutcomeUnknown(TransactionID(base.version + 1)) }
        } catch {
            failure = error
        }
        let isPublished = monitor.withLock { state.durable > base.version }
        // What is published later wakes the guest; what was, before the answer could be seen, did not.
        table.answer(slot, grant, failure, wakes: isPublished || table.isGuestInHurry(slot))
        if failure == nil, !isPublished {
            if monitor.withLock({ state.durable > base.version }) { table.wakeGuest(slot) }
            groupLeader.call(self)
        }
    }

    /// Makes a record of another process the next version, unsynced where others may share the sync. The write gate is
    /// held, and kept.
    func apply(_ record: [UInt8], _ base: VersionState) throws(StorageError) {
        try checkOwnSize()
        try reader.confirm()
        let transaction = try makeTransaction(base)
        do throws(StorageError) {
            try transaction.repeatChanges(record)
            try transaction.flushAll()
        } catch {
            transaction.isFailed = true
            giveUp(transaction, keepsGate: true)
            throw error
        }
        try commit(transaction, ending: .handedIn)
    }
}

/// A thread that leads the syncs of what a process commits for others, so that the one that serves them goes on
/// meanwhile. Started when it is needed.
final class GroupLeader: Sendable {
    private let scheduling: any Scheduling
    private let monitor: any Monitor
    /// Guarded by `monitor`.
    private nonisolated(unsafe) var isStarted = false
    private nonisolated(unsafe) var isCalled = false

    init(_ scheduling: any Scheduling) {
        self.scheduling = scheduling
        monitor = scheduling.makeMonitor("group leader")
    }

    /// Sees that everything that a store has committed is made durable.
    func call(_ store: Store) {
        let isFirst = monitor.withLock {
            isCalled = true
            monitor.wakeAll()
            defer { isStarted = true }
            return !isStarted
        }
        guard isFirst, let table = store.table else { return }
        scheduling.spawn("group leader") { [weak store, self] in
            while !table.isEnded {
                if !wait() { continue }
                guard let store else { return }
                store.leadGroup()
            }
        }
    }

    private func wait() -> Bool {
        let deadline = scheduling.deadline(after: 1_000_000)
        return monitor.withLock {
            if !isCalled { _ = monitor.wait(until: deadline) }
            defer { isCalled = false }
            return isCalled
        }
    }
}

extension Store {
    fileprivate func leadGroup() {
        let committed = monitor.withLock { state.committed }
        // A failure poisons the store, which whoever waits sees.
        _ = waitUntilDurable(committed.version)
        deliverNotices()
    }
}
