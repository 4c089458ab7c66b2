internal import StrataFiles

// Invariants (numbers of docs/file-format.md)
// 3. Versions become durable, acknowledged and visible in order; outside the open transaction nobody sees one earlier.
// 6. After a failed write or sync no later version is ever reported durable by this store.
// 8. A log segment is written over only after a later header is durable.
//
// Lock order: write gate, `monitor`, the allocator's lock. No lock is held across a sync but the write gate, and that
// only where a commit is a checkpoint of its own.

/// An open store.
///
/// Readers pin a version by ``snapshot()`` and read it without locks; one transaction at a time changes the store.
/// Concurrency: every member may be called from any thread.
package final class Store: Sendable {
    package let path: String
    package let options: StoreOptions
    let file: any File
    /// What the path led to when the file was opened.
    let identity: FileStatus
    /// Nothing can be written: it was opened so, or there was no space to recover in.
    package var isReadOnly: Bool { options.readOnly }
    /// A log that a process left behind was replayed in memory, and neither file was changed. True of read-only stores
    /// alone.
    package let isReplayedInMemory: Bool
    let pages: PageMap
    let reader: PageReader
    let allocator: PageAllocatorBox
    let gate: WriteGate
    let monitor: any Monitor
    let fileSystem: any FileSystem
    /// The other processes that have the store open; nil while this one keeps it for itself.
    let table: ProcessTable?
    /// Leads the syncs of what this process commits for others.
    let groupLeader: GroupLeader
    /// Guarded by `monitor`.
    @exclusivity(unchecked) nonisolated(unsafe) var state: StoreState
    /// Guarded by the write gate.
    @exclusivity(unchecked) nonisolated(unsafe) var writer: WriterState

    /// Lets the allocator, which its own lock guards, stand in a Sendable class.
    struct PageAllocatorBox: Sendable {
        nonisolated(unsafe) let allocator: PageAllocator
    }

    init(
        path: String, options: StoreOptions, file: any File, identity: FileStatus, pages: PageMap,
        allocator: PageAllocator, state: StoreState, writer: WriterState, table: ProcessTable?,
        isReplayedInMemory: Bool = false
    ) {
        self.isReplayedInMemory = isReplayedInMemory
        self.path = path
        self.options = options
        self.file = file
        self.identity = identity
        self.pages = pages
        fileSystem = options.fileSystem
        reader = PageReader(pages)
        self.allocator = PageAllocatorBox(allocator: allocator)
        gate = WriteGate(options.scheduling)
        monitor = options.scheduling.makeMonitor("store")
        self.table = table
        groupLeader = GroupLeader(options.scheduling)
        self.state = state
        self.writer = writer
    }

    /// Let go of without being closed: as if the process had died.
    deinit { table?.abandon() }

    /// Where the log of a store stands.
    package static func logPath(_ path: String) -> String { path + ".log" }

    var hasLog: Bool { fileSystem.isPersistent && options.durability != .none }

    // MARK: Reading

    /// Pins the newest visible version.
    /// - Throws: `closed`; `corrupt` with `fileTooShort` when the file was cut since it was opened.
    package func snapshot() throws(StorageError) -> Snapshot {
        let snapshot = try monitor.withLock { () throws(StorageError) -> Snapshot in
            if state.isClosed { throw .closed }
            if let table, !state.isOwner { try pinNewest(table) }
            let version = state.visible
            if state.pinned[version.version] == nil {
                if table != nil && state.pinned.count >= ProcessTable.Layout.pinsPerSlot { throw .limit(.pins) }
                allocator.allocator.protect(version.version)
                state.pinned[version.version] = StoreState.Pinned()
            }
            state.pinned[version.version]?.count += 1
            state.pins += 1
            return Snapshot(self, version)
        }
        // The pin keeps the file open.
        try checkSize()
        return snapshot
    }

    /// Whether the file is as long as its pages need: where it was cut within a page, what is missing reads as zeros
    /// without a signal.
    private func checkSize() throws(StorageError) {
        // Beside another process that has written, the limit here may be older than the end that it gave back.
        if let table, table.wasOwned, !monitor.withLock({ state.isOwner }) { return }
        try checkOwnSize()
    }

    /// As ``checkSize()``, for the owner of writing.
    func checkOwnSize() throws(StorageError) {
        guard fileSystem.isPersistent else { return }
        while true {
            let ownerships = table?.ownerships
            let expected = pages.limit.pages.load(ordering: .acquiring)
            let size: Int64
            do { size = try file.size() } catch { throw StorageError(error) }
            if size >= Int64(expected) * Int64(Format.pageSize) { return }
            // The tail is given back after the limit was lowered.
            if pages.limit.pages.load(ordering: .acquiring) < expected { continue }
            if let table {
                // Writing may have gone to a process that gave a tail back; the limit follows when it comes here again.
                if table.wasOwned, !monitor.withLock({ state.isOwner }) { return }
                if table.ownerships != ownerships { continue }
            }
            mark(.cutWhileOpen)
            throw .corrupt(
                page: PageNumber(UInt32(clamping: size / Int64(Format.pageSize))),
                offset: Int(size % Int64(Format.pageSize)), reason: .fileTooShort)
        }
    }

    /// The newest version that readers may pin.
    package var newestVersion: TransactionID {
        monitor.withLock {
            if let table, !state.isOwner { return TransactionID(table.newest.version) }
            return TransactionID(state.visible.version)
        }
    }

    /// Calls `body` after each version became visible, in order, on the thread that published it, without locks held.
    package func addObserver(_ body: @escaping @Sendable (CommitNotice) -> Void) -> ObserverToken {
        if let table {
            table.watch()
            startAttendant(table)
        }
        let id = monitor.withLock { () -> Int in
            state.lastObserver += 1
            state.observers[state.lastObserver] = body
            return state.lastObserver
        }
        return ObserverToken { [weak self] in
            guard let self else { return }
            self.monitor.withLock { self.state.observers[id] = nil }
        }
    }

    // MARK: Writing

    /// Waits for the write lock and starts a transaction on the newest committed version.
    /// - Throws: `closed`, `readOnly`, `poisoned`; `busy` after ``StoreOptions/writeTimeout``; `stale` when the file
    ///   was replaced or removed; `corrupt` when the free map cannot be read.
    package func beginWrite() throws(StorageError) -> WriteTransaction {
        if options.readOnly { throw .readOnly(path: path) }
        let deadline = options.writeTimeout.map(options.scheduling.deadline(after:)) ?? .never
        if !gate.acquire(until: deadline) { throw .busy(path: path) }
        do throws(StorageError) {
            var (base, isOwner) = try writableBase()
            try checkPath()
            try table?.confirm()
            if !isOwner {
                if let grant = try ensureTurn(until: deadline, acceptsGrant: acceptsGrants) {
                    if acceptsGrants { return try makeGuest(grant) }
                    // Another owner, of another durability, came in between.
                    table?.giveUp(grant)
                    try ensureOwner(until: deadline)
                }
                (base, isOwner) = try writableBase()
            }
            try checkOwnSize()
            try reader.confirm()
            return try makeTransaction(base)
        } catch {
            gate.release()
            throw error
        }
    }

    /// The newest committed version, and whether this process may write on top of it at once.
    private func writableBase() throws(StorageError) -> (VersionState, isOwner: Bool) {
        monitor.lock()
        defer { monitor.unlock() }
        if state.isClosed { throw .closed }
        if state.isPoisoned { throw .poisoned }
        return (state.committed, state.isOwner)
    }

    /// The write gate is held.
    func makeTransaction(_ base: VersionState, isReplay: Bool = false) throws(StorageError) -> WriteTransaction {
        try loadFreeMap()
        let workspace: WriterWorkspace
        if let kept = writer.workspace { workspace = kept } else { workspace = try makeWorkspace() }
        workspace.begin(base, recordLimit: hasLog && !isReplay ? recordLimit : 0)
        workspace.nodes.placesBelow = writer.compaction?.limit
        return WriteTransaction(store: self, base: base, workspace: workspace, isReplay: isReplay)
    }

    func makeWorkspace() throws(StorageError) -> WriterWorkspace {
        let arena = try Arena(capacity: options.mapReserve)
        let nodes = TransactionNodes(
            reader: PageReader(pages, arena: arena.base), arena: arena, allocator: allocator.allocator, file: file,
            limits: options.limits)
        let workspace = WriterWorkspace(nodes)
        writer.workspace = workspace
        return workspace
    }

    /// Largest record that may go to the log.
    private var recordLimit: Int {
        // The record is held in memory.
        let budget = max(options.limits.memoryBudget / 4, 1 << 16)
        if let log = writer.log { return min(log.maxPayloadBytes, budget) }
        return writer.wantsLog ? min(LogFile.maxPayloadBytes(plannedSegmentBytes, options.cipher), budget) : 0
    }

    /// A transaction was given up: its pages return at once. The caller has seen its base, which must not vanish any
    /// more, so this waits until it is durable.
    /// - Returns: false when it may not be.
    func rolledBack(_ transaction: WriteTransaction) -> Bool {
        if !transaction.nodes.placed.isEmpty { mark(.rolledBackPlaced) }
        transaction.nodes.discard(all: true)
        transaction.nodes.arena.reset()
        if transaction.isReplay { return true }
        if let grant = transaction.grant { return giveUp(transaction, grant) }
        gate.release()
        return waitUntilDurable(transaction.base.version)
    }

    // MARK: Space

    package func space() throws(StorageError) -> SpaceStatistics {
        let (newest, log) = monitor.withLock { (state.visible.version, state.logBytes) }
        let allocator = allocator.allocator
        let counts = allocator.counts
        let size: Int64
        do { size = try file.size() } catch { throw StorageError(error) }
        return SpaceStatistics(
            fileBytes: Int(size), liveBytes: (counts.pages - counts.free - counts.held) * Format.pageSize,
            freeBytes: counts.free * Format.pageSize, heldBytes: counts.held * Format.pageSize, logBytes: log,
            oldestProtected: TransactionID(allocator.oldestProtected ?? newest), newest: TransactionID(newest))
    }
}

/// What a store's lock guards.
struct StoreState {
    var visible: VersionState
    var committed: VersionState
    /// The last version that may be acknowledged: durable, or written where the store's durability asks no more.
    var durable: UInt64
    /// The last version that a sync of the log, or a checkpoint, covered: what the log may claim.
    var synced: UInt64
    var isClosed = false
    /// The last pin of a closed store lets the file go.
    var isReleasable = false
    var isPoisoned = false { didSet { if isPoisoned { table?.poison() } } }
    /// Records that wait for a sync, one behind the other.
    var pending: [UInt8] = []
    var pendingFirst: UInt64 = 0
    var pendingLast: UInt64 = 0
    /// Records of a group of commits that goes on, so that no leader writes some of them without the others.
    var held: [UInt8] = []
    /// 0 when there are none.
    var heldFirst: UInt64 = 0
    var heldLast: UInt64 = 0
    /// Versions committed and not visible yet, in order.
    var unpublished: [VersionState] = []
    var isLeading = false
    /// The last version whose record was written to the log.
    var appended: UInt64 = 0
    /// One thread at a time writes to the log.
    var isAppending = false
    var notices: [CommitNotice] = []
    var isDelivering = false
    var observers: [Int: @Sendable (CommitNotice) -> Void] = [:]
    var lastObserver = 0
    var isCheckpointing = false
    /// Steps of an online compaction follow one another.
    var isCompacting = false
    /// A sync of the log was promised for the end of the interval.
    var isSyncPromised = false
    /// Pinned versions, each as often as it is pinned.
    var pins = 0
    /// How often each version is pinned.
    var pinned = VersionMap<Pinned>()
    /// The writer's log, for whoever leads a group.
    var log: LogFile?
    var logBytes = 0

    // With other processes
    let table: ProcessTable?
    /// Whether this process gives out pages and makes versions. Changes with the write gate held too.
    var isOwner: Bool
    /// Which publication `visible` is.
    var publication: UInt64 = 0
    /// Versions that are protected because others have pinned them.
    var foreign: Set<UInt64> = []
    var announcements = 0
    /// Threads of this process whose transactions wait for another one's sync.
    var waiters = 0
    /// Of this process's own transactions that another one committed: what ``follow(_:)`` tells the observers.
    var guestNotices: [UInt64: CommitNotice] = [:]
    var hasAttendant = false

    struct Pinned {
        var count = 0
        /// Where the other processes see it.
        var place: Int?
    }

    init(_ version: VersionState, _ table: ProcessTable?) {
        self.table = table
        isOwner = table == nil
        visible = version
        committed = version
        durable = version.version
        synced = version.version
    }
}

/// What the write gate guards.
struct WriterState {
    var slot: HeaderSlot
    var slotIndex: Int
    /// Kept from transaction to transaction.
    var workspace: WriterWorkspace?
    var log: LogFile?
    /// Bytes of the active segment that records will take at most.
    var segmentUsed = 0
    /// Pages written since the last checkpoint: first and one past the last.
    var dirtyLow = Int.max
    var dirtyHigh = 0
    var dirtyBytes = 0
    /// Pages below were written at least once.
    var writtenPages: Int
    var unsyncedLogBytes = 0
    /// The online compaction in progress.
    var compaction: CompactionPass?
    /// The commit from which on the next online compaction may begin.
    var nextCompaction = 0
    /// Versions that this session has made.
    var commits = 0
    var hasCommitted: Bool { commits > 0 }
    /// The log is made before the commit after so many: a session that sets up its schema and loads its data once
    /// needs none.
    var wantsLog: Bool { commits >= 2 }
    /// The disk had no space for the log; the commit to try again at.
    var nextLogAttempt = 0
    /// A checkpoint of this process synced the directory.
    var isNameDurable = false
    /// A checkpoint finished: the inactive segment may be written over.
    var canReleaseSegment = false
    /// Whom the turn was lent last, how often in a row, and ``commits`` after it.
    var lent = (slot: -1, times: 0, commits: 0)
}

/// A pinned version. The pin goes with the object and its view, whichever lives longer.
package final class Snapshot: Sendable {
    package let view: ReadView

    init(_ store: Store, _ version: VersionState) {
        view = ReadView(version, store.reader, pin: Pin(store, version.version))
    }

    package var version: TransactionID { view.version }
}

/// Keeps the pages of a version from being used again.
final class Pin: Sendable {
    private let store: Store
    private let version: UInt64

    /// The version is protected already, once for this object.
    init(_ store: Store, _ version: UInt64) {
        self.store = store
        self.version = version
    }

    deinit { store.unpin(version) }
}

/// Ends an observation when cancelled or released.
package final class ObserverToken: Sendable {
    private let end: @Sendable () -> Void
    private let cancelled = ClosedFlag()

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { cancel() }

    package func cancel() { if cancelled.set() { end() } }
}
