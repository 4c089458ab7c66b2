internal import StrataFiles
internal import Synchronization

/// The commits of an open store on their way from a version to a durable and visible one, in order (invariants 3 and 6
/// of docs/file-format.md).
///
/// It has the store's monitor and the state that this guards. What happens next is decided by the parts of that state,
/// which touch no file; here threads wait, and one of them writes to the log and syncs it for all.
///
/// Concurrency: every member may be called from any thread, without the monitor held but where it says so.
final class Commits: Sendable {
    let monitor: any Monitor
    /// Guarded by `monitor`.
    @exclusivity(unchecked) nonisolated(unsafe) var state: StoreState
    /// The other processes that have the store open; nil while this one keeps it for itself.
    let processes: ProcessTable?
    let pages: PageMap
    let reader: PageReader
    /// Guarded by its own lock.
    nonisolated(unsafe) let allocator: PageAllocator
    let origin = ProcessOrigin()
    /// An observer came since the open: transactions that begin later list what they change.
    let wasObserved = Atomic<Bool>(false)
    private let scheduling: any Scheduling
    /// Commits are durable when the log was synced, not when they were written.
    private let syncsEach: Bool

    init(
        _ state: StoreState, _ processes: ProcessTable?, _ pages: PageMap, _ allocator: PageAllocator,
        _ options: StoreOptions
    ) {
        self.state = state
        self.processes = processes
        self.pages = pages
        reader = PageReader(pages)
        self.allocator = allocator
        scheduling = options.scheduling
        monitor = scheduling.makeMonitor("store")
        syncsEach = options.durability == .full
    }

    /// Let go of without being closed: as if the process had died. A checkpoint in progress keeps this.
    deinit { if !origin.isForked { processes?.abandon() } }

    /// The newest version, which may not be durable yet.
    var newest: VersionState { monitor.withLock { state.committed } }

    // MARK: Pins

    /// Pins a version that is protected, and may not be visible yet.
    /// - Parameter reserved: by a pin that was kept for it, and is used up.
    /// - Returns: false when too many versions are pinned.
    func pin(_ version: UInt64, reserved: Bool) -> Bool {
        monitor.withLock {
            if reserved { state.pins.giveBackReserved() }
            return state.pins.pin(version)
        }
    }

    /// A pin is gone.
    /// - Returns: whether it was the last one of a closed store, which lets the file go.
    func unpin(_ version: UInt64) -> Bool {
        monitor.withLock {
            guard let end = state.pins.unpin(version) else { return false }
            if let place = end.place { processes?.pins.unpin(place) }
            if end.wasProtected { unprotectUnpinned(version) }
            return state.use == .closed && state.pins.isEmpty
        }
    }

    private func unprotectUnpinned(_ version: UInt64) {
        #if Zoo
            if PlantedMistake.pinKept.isPlanted { return }
        #endif
        allocator.unprotect(version)
    }

    /// The newest version that readers may pin.
    var newestVersion: TransactionID {
        monitor.withLock {
            let visible = TransactionID(state.visible.version)
            guard let processes, !state.isOwner else { return visible }
            // A table that somebody wrote over says nothing; the next use of the store says so.
            do throws(StorageError) { return TransactionID(try processes.versions.newest().version) } catch {
                return visible
            }
        }
    }

    /// The number under which processes were told of the visible version; nil where nobody is told. `monitor` is held.
    var publication: UInt64? { processes == nil ? nil : state.others.publication }

    /// Whether nothing was made the newest version since. Takes no lock.
    func isNewest(_ publication: UInt64?) -> Bool {
        guard let publication, let processes else { return false }
        return processes.versions.publication == publication
    }

    /// How many versions are kept: the newest, and those that somebody has pinned, in this process or in another.
    /// - Complexity: O(pins).
    var activeVersions: Int {
        monitor.withLock {
            var versions = Set(state.pins.versions)
            versions.insert(state.visible.version)
            if let processes { versions.formUnion(processes.pins.foreign) }
            return versions.count
        }
    }

    // MARK: A new version

    /// Lets the version of a transaction follow the last committed one. The write gate is held.
    /// - Parameters:
    ///   - isDurable: nothing has to make it durable.
    ///   - record: for the log; nil where the version is made durable without it.
    ///   - isHeldBack: the record is written together with those of the commits that follow.
    func append(
        _ transaction: WriteTransaction, _ version: VersionState, isDurable: Bool,
        record: UnsafeRawBufferPointer? = nil, isHeldBack: Bool = false
    ) {
        allocator.settle(transaction.nodes, protecting: version.version)
        var superseded: SupersededVersions?
        monitor.withLock {
            state.queue.append(version, record: record, isHeldBack: isHeldBack)
            // Whoever observes only after the version was published has no need to hear of it.
            if !isDurable || !state.observers.isEmpty { state.observers.note(CommitNotice(of: transaction)) }
            if isDurable {
                superseded = newestBecameVisible(state.queue.acknowledge(through: version.version, isSynced: false))
            }
        }
        allocator.bury(
            transaction.nodes.dead, freed: version.version, abandoned: transaction.nodes.abandoned,
            unprotecting: superseded)
    }

    /// A checkpoint has made a version durable, and all before it.
    func acknowledge(through version: UInt64) {
        monitor.withLock {
            publish(state.queue.acknowledge(through: version, isSynced: true))
            monitor.wakeAll()
        }
    }

    /// Lets a version be seen that a recovery has made durable. It is protected for that already.
    func show(_ version: VersionState) {
        monitor.withLock {
            state.queue.append(version)
            publish(state.queue.acknowledge(through: version.version, isSynced: true))
        }
    }

    /// Versions became durable, and the newest of them visible. `monitor` is held.
    private func publish(_ superseded: SupersededVersions?) {
        newestBecameVisible(superseded)?.forEach(allocator.unprotect)
    }

    /// Tells the other processes, before what was visible until now loses its protection: whoever pinned it meanwhile
    /// is seen first. `monitor` is held.
    /// - Returns: versions that lose a protection.
    private func newestBecameVisible(_ superseded: SupersededVersions?) -> SupersededVersions? {
        guard var superseded else { return nil }
        if let processes { ForeignVersions(commits: self, processes: processes).announce() }
        state.observers.becameVisible(state.visible.version)
        state.pins.keepPinned(&superseded)
        return superseded
    }

    // MARK: Making versions durable

    /// Waits until a version is durable, leading the sync when nobody does.
    /// - Returns: false when it may not be.
    func waitUntilDurable(_ version: UInt64) -> Bool {
        if origin.isForked { return false }
        monitor.lock()
        defer { monitor.unlock() }
        state.queue.endBatch(of: version)
        while true {
            switch state.queue.step(towards: version, isOwner: state.isOwner) {
            case .finish: return true
            case .giveUp: return false
            case .lead:
                lead()
                monitor.wakeAll()
            case .sleep:
                mark(.followedLeader)
                #if Zoo
                    if PlantedMistake.followerWithoutSync.isPlanted { return true }
                #endif
                monitor.wait()
            }
        }
    }

    /// Writes what waits, and syncs what was written. `monitor` is held before and after, not meanwhile.
    private func lead() {
        let isKept = processes?.slots.hasOthers != true
        appendWaiting(keeping: isKept)
        let last = state.queue.appended
        var isDone = !state.isPoisoned
        if isDone && syncsEach, let log = state.log {
            monitor.unlock()
            do throws(StorageError) { try log.sync() } catch { isDone = false }
            monitor.lock()
        }
        if !isDone { fail() }
        publish(state.queue.endLead(through: last, isSynced: syncsEach, wasKept: isKept))
    }

    /// Writes the records that wait to the log, unsynced: they outlive this process then. `monitor` is held before and
    /// after, not meanwhile.
    /// - Parameter keeping: nobody else may write to the log until the caller's lead ends.
    func appendWaiting(keeping: Bool = false) {
        while state.queue.isWriting { monitor.wait() }
        let writing = state.queue.beginWriting()
        var isDone = true
        if let writing {
            let log = state.log
            monitor.unlock()
            scheduling.yield(at: "lead")
            isDone = write(writing, to: log)
            monitor.lock()
        }
        if !isDone { fail() }
        state.queue.endWriting(writing, isDone: isDone, keeping: keeping)
        if writing != nil && !keeping { monitor.wakeAll() }
    }

    /// - Returns: false when it may not be in the log.
    private func write(_ writing: CommitQueue.Writing, to log: LogFile?) -> Bool {
        guard let log else { return false }
        var isDone = false
        writing.records.withUnsafeBytes { bytes in
            do throws(StorageError) {
                try log.append(
                    payload: bytes, firstLSN: writing.first, lastLSN: writing.last, durableTo: writing.durableTo)
                isDone = true
            } catch {
                isDone = false
            }
        }
        return isDone
    }

    // MARK: Failure

    /// A write or a sync failed: no later version is ever called durable by this store.
    func poison() {
        mark(.poisoned)
        monitor.withLock {
            fail()
            monitor.wakeAll()
        }
    }

    /// The same. `monitor` is held, and whoever waits for it is woken afterwards.
    func fail() {
        state.queue.fail()
        processes?.poison()
    }

    var isPoisoned: Bool { monitor.withLock { state.isPoisoned } }

    /// Whether nothing will ever be begun again.
    var isOver: Bool { monitor.withLock { state.isOver } }

    /// Whether this process may move what others read.
    var mayMoveNodes: Bool { monitor.withLock { state.isUsable && state.isOwner } }

    // MARK: Telling

    /// Hands notices of visible versions to the observers, in order. Whoever comes while another thread delivers
    /// leaves its notice to that one. No lock is held.
    func deliverNotices() {
        while true {
            let next = monitor.withLock { state.observers.beginTelling(visible: state.visible.version) }
            guard let next else { return }
            for observer in next.observers { observer(next.notice) }
            monitor.withLock { state.observers.endTelling() }
        }
    }
}
