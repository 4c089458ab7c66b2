internal import StrataFiles
internal import Synchronization

/// Takes the commits of an open store from a new version to a durable and visible one, in order (invariants 3 and 6 of
/// docs/file-format.md).
///
/// Has the store's state and its lock. The parts of that state decide what happens next and touch no file; here threads
/// wait, and one of them writes to the log and syncs it for all.
///
/// Concurrency: every member may be called from any thread.
final class Commits: Sendable {
    typealias Held = Guarded<StoreState>.Held

    private let guarded: Guarded<StoreState>
    /// Pins of the newest version, without the lock.
    let readers: ReaderPins
    /// The process table; nil while this process keeps the store for itself.
    let processes: ProcessTable?
    let pages: PageMap
    let reader: PageReader
    let allocator: PageAllocator
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
        readers = state.visible.readers
        self.processes = processes
        self.pages = pages
        reader = PageReader(pages)
        self.allocator = allocator
        scheduling = options.scheduling
        guarded = Guarded(state, by: options.scheduling.makeMonitor("store"))
        syncsEach = options.durability == .full
    }

    /// A store that is released without being closed drops its locks like a process that died. A running checkpoint
    /// keeps this object alive.
    deinit { if !origin.isForked { processes?.abandon() } }

    /// Runs `body` with the store's lock held.
    @inline(__always)
    func withState<Value, Failure: Error>(
        _ body: (_ state: inout StoreState) throws(Failure) -> Value
    ) throws(Failure) -> Value { try guarded.withState(body) }

    /// As ``withState(_:)``, for a body that waits, wakes threads that wait, or leaves the lock meanwhile.
    @inline(__always)
    func whileHeld<Value, Failure: Error>(
        _ body: (_ held: inout Held) throws(Failure) -> Value
    ) throws(Failure) -> Value { try guarded.whileHeld(body) }

    /// The newest version, which may not be durable yet.
    var newest: VersionState { withState { $0.committed } }

    // MARK: Pins

    /// Pins the newest version that readers may read.
    /// - Parameter reserved: uses up a reserved pin, also if this throws. If not, further readers may pin the version
    ///   without the lock.
    /// - Throws: `closed`, `limit(.pins)`, `lockFile`, `corrupt`.
    func pinNewest(
        reserved: Bool
    ) throws(StorageError) -> (version: VersionState, publication: UInt64?, isOwner: Bool) {
        try withState { (state) throws(StorageError) in
            let visible = state.visible
            if reserved { visible.giveBackReserved() }
            if state.isClosed { throw .closed }
            if let processes, !state.isOwner {
                try ForeignVersions(commits: self, processes: processes).pinNewest(&state)
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
        withState { state in
            if reserved { state.visible.giveBackReserved() }
            return state.visible.pin(version)
        }
    }

    /// Releases a pin.
    /// - Returns: whether it was the last one of a closed store: the caller then closes the file.
    func unpin(_ version: UInt64) -> Bool {
        withState { state in
            state.visible.unpin(version)
            return state.isUnused
        }
    }

    /// Ends the pin that was left of those without the lock, all of which are released.
    /// - Returns: as ``unpin(_:)``.
    func end(_ last: ReaderPin) -> Bool {
        withState { state in
            state.visible.end(last)
            return state.isUnused
        }
    }

    /// The newest version that readers may pin.
    var newestVersion: TransactionID {
        withState { state in
            let visible = TransactionID(state.visible.version)
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
        withState { state in
            var versions = state.visible.versions
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
        let superseded = withState {
            $0.append(
                version, record: record, isHeldBack: isHeldBack, isDurable: isDurable,
                notice: CommitNotice(of: transaction))
        }
        allocator.bury(
            transaction.nodes.dead, freed: version.version, abandoned: transaction.nodes.abandoned,
            unprotecting: superseded)
    }

    /// A checkpoint made this version durable, and all before it.
    func acknowledge(through version: UInt64) {
        whileHeld { held in
            unprotect(held.state.acknowledge(through: version))
            wakeWaiters(&held, after: .acknowledgement)
        }
    }

    /// Makes a version visible that a recovery has made durable. It has its protection as visible already.
    func show(_ version: VersionState) { withState { unprotect($0.showRecovered(version)) } }

    private func unprotect(_ superseded: SupersededVersions?) { superseded?.forEach(allocator.unprotect) }

    // MARK: Making versions durable

    /// Waits until a version is durable, and leads the sync if no other thread does.
    /// - Returns: false if it may not be durable.
    func waitUntilDurable(_ version: UInt64) -> Bool {
        if origin.isForked { return false }
        while true {
            let (turn, ready) = whileHeld { takeTurn(towards: version, &$0) }
            // Without the lock, which the woken threads need.
            ready.wake()
            switch turn {
            case .ended(let isDurable): return isDurable
            case .asking: continue
            case .asleep(let waiter): if waiter.sleep() == .isDurable { return true }
            }
        }
    }

    /// State of a thread that waits for a version.
    private enum Turn {
        case ended(isDurable: Bool)
        case asking
        case asleep(CommitWaiter)
    }

    /// Takes the next step of a thread that waits for a version.
    private func takeTurn(towards version: UInt64, _ held: inout Held) -> (Turn, ReadyWaiters) {
        held.state.endBatch(of: version)
        switch held.state.step(towards: version) {
        case .finish: return (.ended(isDurable: true), ReadyWaiters())
        case .giveUp: return (.ended(isDurable: false), ReadyWaiters())
        case .lead:
            lead(&held)
            let isDurable = held.state.durable >= version
            return (isDurable ? .ended(isDurable: true) : .asking, takeReadyWaiters(&held, after: .lead))
        case .sleep:
            mark(.followedLeader)
            #if Zoo
                if PlantedMistake.followerWithoutSync.isPlanted { return (.ended(isDurable: true), ReadyWaiters()) }
            #endif
            let waiter = CommitWaiter(for: version, scheduling.makeMonitor("commit"))
            held.state.add(waiter)
            return (.asleep(waiter), ReadyWaiters())
        }
    }

    /// Wakes the threads that wait, after a transition that may end their waiting.
    func wakeWaiters(_ held: inout Held, after transition: WakingTransition) {
        takeReadyWaiters(&held, after: transition).wake()
    }

    /// Wakes the threads that wait at the store's lock.
    /// - Returns: the threads that wait for a version and are ready. The caller wakes them.
    private func takeReadyWaiters(_ held: inout Held, after transition: WakingTransition) -> ReadyWaiters {
        #if Zoo
            if transition.isSilent { return ReadyWaiters() }
        #endif
        held.wakeAll()
        return held.state.takeReadyWaiters()
    }

    /// Writes the waiting records and syncs the log; leaves the lock for both.
    private func lead(_ held: inout Held) {
        let isKept = processes?.slots.hasOthers != true
        appendWaiting(&held, keeping: isKept)
        let last = held.state.queue.appended
        var isDone = !held.state.isPoisoned
        if isDone && syncsEach, let log = held.state.log {
            held.unlocked { do throws(StorageError) { try log.sync() } catch { isDone = false } }
        }
        if !isDone { fail(&held.state) }
        unprotect(held.state.endLead(through: last, isSynced: syncsEach, wasKept: isKept))
    }

    /// Writes the waiting records to the log without a sync, so that they survive this process. Leaves the lock
    /// meanwhile.
    /// - Parameter keeping: excludes other writers of the log until the caller's lead ends.
    func appendWaiting(_ held: inout Held, keeping: Bool = false) {
        while held.state.queue.isWriting { held.wait() }
        let writing = held.state.beginWriting()
        var isDone = true
        if let writing {
            let log = held.state.log
            isDone = held.unlocked {
                scheduling.yield(at: "lead")
                return write(writing, to: log)
            }
        }
        if !isDone { fail(&held.state) }
        held.state.endWriting(writing, isDone: isDone, keeping: keeping)
        if writing != nil && !keeping { wakeWaiters(&held, after: .write) }
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
        whileHeld { held in
            fail(&held.state)
            wakeWaiters(&held, after: .failure)
        }
    }

    /// As ``poison()``; the caller, which has the lock, wakes the threads that wait (``wakeWaiters(_:after:)``).
    func fail(_ state: inout StoreState) {
        state.fail()
        processes?.poison()
    }

    var isPoisoned: Bool { withState { $0.isPoisoned } }

    /// Whether the store is closed or poisoned for good.
    var isOver: Bool { withState { $0.isOver } }

    /// Whether this process may move pages that readers use.
    var mayMoveNodes: Bool { withState { $0.isUsable && $0.isOwner } }

    // MARK: Telling

    /// Calls the observers of visible versions, in order. If another thread delivers already, it delivers the notices
    /// of this one, too. No lock is held.
    func deliverNotices() {
        // Notices are dropped when their versions become visible before the first observer comes.
        if !wasObserved.load(ordering: .acquiring) { return }
        while true {
            let next = withState { $0.observers.beginTelling(visible: $0.visible.version) }
            guard let next else { return }
            for observer in next.observers { observer(next.notice) }
            withState { $0.observers.endTelling() }
        }
    }
}
