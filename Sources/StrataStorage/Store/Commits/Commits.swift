internal import StrataFiles
internal import Synchronization

/// Takes the commits of an open store from a new version to a durable and visible one, in order (invariants 3 and 6 of
/// docs/file-format.md).
///
/// Has the store's monitor and the state under it. The parts of that state decide what happens next and touch no file;
/// here threads wait, and one of them writes to the log and syncs it for all.
///
/// Concurrency: every member may be called from any thread, without the monitor held unless it says so.
final class Commits: Sendable {
    let monitor: any Monitor
    /// Guarded by `monitor`.
    @exclusivity(unchecked) nonisolated(unsafe) var state: StoreState
    /// The newest version that readers pin, and their pins.
    let visible: VisibleVersion
    /// The process table; nil while this process keeps the store for itself.
    let processes: ProcessTable?
    let pages: PageMap
    let reader: PageReader
    /// Guarded by its own lock.
    nonisolated(unsafe) let allocator: PageAllocator
    let origin = ProcessOrigin()
    /// An observer was added since the open: transactions that begin later record what they change.
    let wasObserved = Atomic<Bool>(false)
    private let scheduling: any Scheduling
    /// Whether a commit waits for a sync of the log; if not, only for the write.
    private let syncsEach: Bool

    init(
        _ state: StoreState, processes: ProcessTable?, pages: PageMap, allocator: PageAllocator,
        options: StoreOptions
    ) {
        self.state = state
        visible = state.visible
        self.processes = processes
        self.pages = pages
        reader = PageReader(pages)
        self.allocator = allocator
        scheduling = options.scheduling
        monitor = scheduling.makeMonitor("store")
        syncsEach = options.durability == .full
    }

    /// A store that is released without being closed drops its locks like a process that died. A running checkpoint
    /// keeps this object alive.
    deinit { if !origin.isForked { processes?.abandon() } }

    /// The newest version, which may not be durable yet.
    var newest: VersionState { monitor.withLock { state.committed } }

    // MARK: Pins

    /// Pins the newest version that readers may read.
    /// - Parameter reserved: uses up a reserved pin, also if this throws. If not, further readers may pin the version
    ///   without the monitor.
    /// - Throws: `closed`, `limit(.pins)`, `lockFile`, `corrupt`.
    func pinNewest(
        reserved: Bool
    ) throws(StorageError) -> (version: VersionState, publication: UInt64?, isOwner: Bool) {
        try monitor.withLock { () throws(StorageError) in
            if reserved { visible.giveBackReserved() }
            if state.isClosed { throw .closed }
            if let processes, !state.isOwner {
                try ForeignVersions(commits: self, processes: processes).pinNewest()
            }
            guard visible.pin(visible.version) else { throw .limit(.pins) }
            // A writer that shows its own result is no sign of readers.
            if !reserved { visible.share() }
            return (visible.state, visible.publication, state.isOwner)
        }
    }

    /// Pins a version that is protected, but perhaps not visible yet.
    /// - Parameter reserved: uses up a reserved pin.
    /// - Returns: false if too many versions are pinned.
    func pin(_ version: UInt64, reserved: Bool) -> Bool {
        monitor.withLock {
            if reserved { visible.giveBackReserved() }
            return visible.pin(version)
        }
    }

    /// Releases a pin.
    /// - Returns: whether it was the last one of a closed store: the caller then closes the file.
    func unpin(_ version: UInt64) -> Bool {
        monitor.withLock {
            visible.unpin(version)
            return isUnused
        }
    }

    /// Ends the pin that was left of those without the monitor, all of which are released.
    /// - Returns: as ``unpin(_:)``.
    func end(_ last: ReaderPin) -> Bool {
        monitor.withLock {
            visible.end(last)
            return isUnused
        }
    }

    /// Whether the store is closed, and no version is pinned. `monitor` is held.
    private var isUnused: Bool { state.use == .closed && !visible.isPinned }

    /// The newest version that readers may pin.
    var newestVersion: TransactionID {
        monitor.withLock {
            let visible = TransactionID(visible.version)
            guard let processes, !state.isOwner else { return visible }
            // Errors are dropped: the next use of the store meets the overwritten table and throws.
            do throws(StorageError) { return TransactionID(try processes.versions.newest().version) } catch {
                return visible
            }
        }
    }

    /// Whether this publication still is the newest. Takes no lock.
    func isNewest(_ publication: UInt64?) -> Bool {
        guard let publication, let processes else { return false }
        return processes.versions.publication == publication
    }

    /// Versions that are kept: the newest one, and those pinned in this process or in another.
    /// - Complexity: O(pins).
    var activeVersions: Int {
        monitor.withLock {
            var versions = visible.versions
            if let processes { versions.formUnion(processes.pins.foreign) }
            return versions.count
        }
    }

    // MARK: A new version

    /// Commits the version of a transaction. The write gate is held.
    /// - Parameters:
    ///   - isDurable: the durability class asks for nothing more.
    ///   - record: for the log; nil if the version is made durable without it.
    ///   - isHeldBack: the record belongs to an open commit batch.
    func append(
        _ transaction: WriteTransaction, _ version: VersionState, isDurable: Bool,
        record: UnsafeRawBufferPointer? = nil, isHeldBack: Bool = false
    ) {
        allocator.settle(transaction.nodes, protecting: version.version)
        var superseded: SupersededVersions?
        monitor.withLock {
            state.queue.append(version, record: record, isHeldBack: isHeldBack)
            #if Zoo
                visible.shareEarly(version)
            #endif
            // A version that is visible at once is of no interest to observers that come later.
            if !isDurable || !state.observers.isEmpty { state.observers.note(CommitNotice(of: transaction)) }
            if isDurable {
                superseded = show(state.queue.acknowledge(through: version.version, isSynced: false))
            }
        }
        allocator.bury(
            transaction.nodes.dead, freed: version.version, abandoned: transaction.nodes.abandoned,
            unprotecting: superseded)
    }

    /// A checkpoint made this version durable, and all before it.
    func acknowledge(through version: UInt64) {
        monitor.withLock {
            publish(state.queue.acknowledge(through: version, isSynced: true))
            monitor.wakeAll()
        }
    }

    /// Makes a version visible that a recovery has made durable. It has its protection as visible already.
    func show(_ version: VersionState) {
        monitor.withLock {
            state.queue.append(version)
            publish(state.queue.acknowledge(through: version.version, isSynced: true))
        }
    }

    /// Makes the newest durable version visible, and ends the protection of those before. `monitor` is held.
    private func publish(_ durable: CommitQueue.Durable?) { show(durable)?.forEach(allocator.unprotect) }

    /// Makes the newest durable version visible. `monitor` is held.
    /// - Returns: the versions that lose a protection.
    private func show(_ durable: CommitQueue.Durable?) -> SupersededVersions? {
        guard let durable else { return nil }
        let superseded = visible.replace(by: durable)
        state.observers.becameVisible(visible.version)
        return superseded
    }

    // MARK: Making versions durable

    /// Waits until a version is durable, and leads the sync if no other thread does.
    /// - Returns: false if it may not be durable.
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

    /// Writes the waiting records and syncs the log. `monitor` is held before and after, and released meanwhile.
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

    /// Writes the waiting records to the log without a sync, so that they survive this process. `monitor` is held
    /// before and after, and released meanwhile.
    /// - Parameter keeping: excludes other writers of the log until the caller's lead ends.
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

    /// - Returns: false if the records may not be in the log.
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

    /// Poisons the store after a failed write or sync: it calls no later version durable.
    func poison() {
        mark(.poisoned)
        monitor.withLock {
            fail()
            monitor.wakeAll()
        }
    }

    /// As ``poison()``, with `monitor` held; the caller wakes its waiters.
    func fail() {
        state.queue.fail()
        processes?.poison()
    }

    var isPoisoned: Bool { monitor.withLock { state.isPoisoned } }

    /// Whether the store is closed or poisoned for good.
    var isOver: Bool { monitor.withLock { state.isOver } }

    /// Whether this process may move pages that readers use.
    var mayMoveNodes: Bool { monitor.withLock { state.isUsable && state.isOwner } }

    // MARK: Telling

    /// Calls the observers of visible versions, in order. If another thread delivers already, it delivers the notices
    /// of this one, too. No lock is held.
    func deliverNotices() {
        while true {
            let next = monitor.withLock { state.observers.beginTelling(visible: visible.version) }
            guard let next else { return }
            for observer in next.observers { observer(next.notice) }
            monitor.withLock { state.observers.endTelling() }
        }
    }
}
