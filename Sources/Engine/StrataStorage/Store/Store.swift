internal import StrataFiles

// Invariants (numbers of docs/file-format.md)
// 3. Versions become durable, acknowledged and visible in order; before that only the open transaction reads them.
// 6. After a failed write or sync no later version is ever reported durable by this store.
// 8. A half of the log is written over only after a later header is durable.
//
// Lock order: write gate, the lock of `commits`, the allocator's lock. Only the write gate is held across a sync;
// docs/storage.md says when.

/// An open store.
///
/// Readers pin a version by ``snapshot()`` and read it without locks. One transaction at a time changes the store.
/// Concurrency: every member may be called from any thread.
package final class Store: Sendable {
    package let path: String
    package let options: StoreOptions
    let file: any File
    let opened: OpenedPath
    /// The store cannot be written: it was opened read-only, or the disk had no space for recovery.
    package var isReadOnly: Bool { options.readOnly }
    /// The log that a process left behind was replayed in memory alone. Only in read-only stores.
    package let isReplayedInMemory: Bool
    let pages: PageMap
    let reader: PageReader
    let allocator: PageAllocator
    let fileSystem: any FileSystem
    /// The process table; nil while this process keeps the store for itself.
    var processes: ProcessTable? { commits.processes }
    /// Leads the syncs of commits made for other processes.
    let groupLeader: GroupLeader
    /// The store's state, and its lock.
    let commits: Commits
    let gate: WriteGate
    let checkpoints: Checkpoints
    let periodicSync: PeriodicSync
    let compaction: CompactionRun
    package let damage: DamageRegister
    /// Guarded by the write gate.
    @exclusivity(unchecked) nonisolated(unsafe) var writer = WriterState()

    init(
        path: String, options: StoreOptions, file: any File, identity: FileStatus, pages: PageMap,
        allocator: PageAllocator, state: StoreState, checkpointer: Checkpointer, processes: ProcessTable?,
        isReplayedInMemory: Bool = false
    ) {
        self.isReplayedInMemory = isReplayedInMemory
        self.path = path
        self.options = options
        self.file = file
        fileSystem = options.fileSystem
        opened = OpenedPath(path, identity, options.fileSystem)
        self.pages = pages
        self.allocator = allocator
        gate = WriteGate(options.scheduling)
        commits = Commits(state, processes: processes, pages: pages, allocator: allocator, options: options)
        groupLeader = GroupLeader(options.scheduling)
        reader = commits.reader
        checkpoints = Checkpoints(path, options: options, file: file, commits: commits, checkpointer: checkpointer)
        periodicSync = PeriodicSync(commits, options)
        compaction = CompactionRun(options)
        damage = DamageRegister(path: path, storeID: checkpointer.slot.storeID, options: options, processes: processes)
    }

    /// A running checkpoint keeps the process's locks, which other processes wait for: it must not pause.
    deinit { if !isForked { checkpoints.writing.hurry() } }

    /// Whether this process was forked off after the store was opened. The store's threads do not exist in the child,
    /// and its locks count for both: the child must not use it.
    var isForked: Bool { commits.origin.isForked }

    /// - Throws: `forked`.
    func checkOrigin() throws(StorageError) { if isForked { throw .forked } }

    /// Path of a store's log.
    package static func logPath(_ path: String) -> String { path + ".log" }

    var hasLog: Bool { fileSystem.isPersistent && options.durability != .none }

    // MARK: Reading

    /// Whether readers may pin a newer version than a snapshot's.
    /// - Complexity: O(1); without a lock if the store has a process table and the snapshot is of the newest version.
    package func hasNewer(than snapshot: Snapshot) -> Bool {
        commits.isNewest(snapshot.publication) ? false : newestVersion > snapshot.version
    }

    /// The newest version that readers may pin.
    package var newestVersion: TransactionID { commits.newestVersion }

    /// Versions that are kept: the newest one, and those pinned in this process or in another.
    /// - Complexity: O(pins).
    package var activeVersions: Int { commits.activeVersions }

    /// Calls `body` after each version has become visible, in order and without locks: on the thread that made the
    /// version visible, or on one that delivers earlier notices at that moment.
    package func addObserver(_ body: @escaping @Sendable (CommitNotice) -> Void) -> ObserverToken {
        if isForked { return ObserverToken {} }
        if let processes {
            processes.slots.watch()
            Attendant(store: self, processes: processes).start()
        }
        commits.wasObserved.store(true, ordering: .releasing)
        let id = commits.withState { $0.observers.add(body) }
        return ObserverToken { [weak commits] in
            guard let commits, !commits.origin.isForked else { return }
            commits.withState { $0.observers.remove(id) }
        }
    }

    // MARK: Writing

    /// Whether the path leads to another file than the open one by now, or to none.
    package var isStale: Bool {
        get throws(StorageError) {
            if isForked { return true }
            return try opened.isStale
        }
    }

    /// Refuses to write to a file that the next open would not find at the path. The write gate is held.
    ///
    /// Checked before commits that wait for the disk anyway, else before every 64th: it takes half a microsecond.
    func checkPath() throws(StorageError) {
        if options.durability == .none && writer.commits & 63 != 0 { return }
        if try isStale { throw checkpoints.leaveName(of: path) }
    }

    /// Waits for the write gate and starts a transaction on the newest committed version.
    /// - Throws: `closed`, `forked`, `readOnly`, `poisoned`, `damaged`, `stale`, `busy` (see ``StoreOptions``),
    ///   `corrupt` for an unreadable free map; beside others also as ``Succession/awaitTurn(until:acceptsGrant:)``.
    package func beginWrite() throws(StorageError) -> WriteTransaction {
        if options.readOnly { throw .readOnly(path: path) }
        try checkOrigin()
        try damage.checkWrites()
        let deadline = options.writeTimeout.map(options.scheduling.deadline(after:)) ?? .never
        guard let permit = gate.acquire(until: deadline) else { throw .busy(path: path) }
        var (base, isOwner) = try writableBase()
        try checkPath()
        try processes?.confirm()
        if !isOwner {
            if let processes, let guest = try Succession(store: self, processes: processes).guestTurn(until: deadline) {
                return try guest.begin(permit)
            }
            (base, isOwner) = try writableBase()
        }
        try FileEnd(self).check()
        try reader.confirm()
        return try makeTransaction(base, permit)
    }

    /// The newest committed version, and whether this process may write on top of it at once. An owner without an
    /// attendant tries to start one first.
    private func writableBase() throws(StorageError) -> (VersionState, isOwner: Bool) {
        try commits.withState { (state) throws(StorageError) in
            if state.isClosed { throw .closed }
            if state.isPoisoned { throw .poisoned }
            let answers = processes == nil || state.others.hasAttendant
            return (state.committed, state.isOwner && answers)
        }
    }

    /// - Parameter permit: passes to the transaction; nil if the caller keeps the write gate.
    func makeTransaction(
        _ base: VersionState, _ permit: consuming WritePermit?, isReplay: Bool = false
    ) throws(StorageError) -> WriteTransaction {
        try checkpoints.loadFreeMap()
        let workspace: WriterWorkspace
        if let kept = writer.workspace { workspace = kept } else { workspace = try makeWorkspace() }
        workspace.begin(base, recordLimit: hasLog && !isReplay ? recordLimit : 0)
        workspace.nodes.placesBelow = compaction.limit
        return WriteTransaction(store: self, base: base, workspace: workspace, permit, isReplay: isReplay)
    }

    func makeWorkspace() throws(StorageError) -> WriterWorkspace {
        let arena = try Arena(capacity: options.mapReserve)
        let nodes = TransactionNodes(
            reader: PageReader(pages, arena: arena.base), arena: arena, allocator: allocator, file: file,
            limits: options.limits)
        let workspace = WriterWorkspace(nodes)
        writer.workspace = workspace
        return workspace
    }

    /// Largest record that may go to the log, in bytes.
    private var recordLimit: Int {
        // The record is built in memory.
        let budget = max(options.limits.memoryBudget / 4, 1 << 16)
        if let log = checkpoints.log.file { return min(log.maxPayloadBytes, budget) }
        if !writer.wantsLog { return 0 }
        return min(LogFile.maxPayloadBytes(checkpoints.plannedHalfBytes, options.cipher), budget)
    }

    // MARK: Committing

    /// Commits a finished transaction, and ends it. In an open commit batch it keeps its permit.
    /// - Throws: `noSpace`: nothing was committed; `commitOutcomeUnknown`, `poisoned`.
    @discardableResult
    func commit(
        _ transaction: WriteTransaction, ending: CommitEnding = .durable
    ) throws(StorageError) -> PendingCommit {
        if isForked {
            transaction.rollback()
            throw .forked
        }
        if let guest = transaction.guest {
            let isTooLarge = transaction.workspace.recorder.isTooLarge
            if !isTooLarge { return PendingCommit(self, try guest.commit(transaction)) }
            do throws(StorageError) { try guest.claim(transaction, canRepeat: false) } catch {
                transaction.end(.undone)
                transaction.giveGateBack()
                throw error
            }
        }
        return try commitAsOwner(transaction, ending)
    }

    private func commitAsOwner(
        _ transaction: WriteTransaction, _ ending: CommitEnding
    ) throws(StorageError) -> PendingCommit {
        let state: VersionState
        let plan: CheckpointPlan?
        do throws(StorageError) {
            (state, plan) = try place(transaction)
        } catch {
            if case .noSpace = error { mark(.noSpaceAtCommit) }
            if case .file(let file) = error, file.mayHaveLostBytes { commits.poison() }
            transaction.end(.undone)
            transaction.giveGateBack()
            throw error
        }
        noteWritten(transaction)
        if let plan {
            try commit(transaction, state, plan)
        } else if !hasLog {
            commitWithoutLog(transaction, state)
        } else if options.durability == .periodic {
            try commitPeriodically(transaction, state)
        } else if let pinned = try commit(transaction, state, ending) {
            return PendingCommit(self, TransactionID(state.version), snapshot: pinned)
        }
        if ending != .handedIn { commits.deliverNotices() }
        return PendingCommit(self, TransactionID(state.version))
    }

    /// Commits a transaction that is too large for the log, by a checkpoint of its own.
    private func commit(
        _ transaction: WriteTransaction, _ state: VersionState, _ plan: CheckpointPlan
    ) throws(StorageError) {
        mark(.largeTransaction)
        append(transaction, state, isDurable: false)
        defer { transaction.giveGateBack() }
        do throws(StorageError) { try checkpoints.commit(by: plan) } catch {
            commits.poison()
            throw .commitOutcomeUnknown(TransactionID(state.version))
        }
        compaction.beginIfDue(self)
    }

    private func commitWithoutLog(_ transaction: WriteTransaction, _ state: VersionState) {
        append(transaction, state, isDurable: true)
        checkpoints.startIfDue()
        compaction.beginIfDue(self)
        transaction.giveGateBack()
    }

    /// Writes the record at once; syncs follow periodically.
    private func commitPeriodically(_ transaction: WriteTransaction, _ state: VersionState) throws(StorageError) {
        appendWithRecord(transaction, state, isHeldBack: false)
        compaction.beginIfDue(self)
        defer { transaction.giveGateBack() }
        try periodicSync.write(state.version, checkpoints.log.file)
    }

    /// Commits by the log, as the leader of a sync or as a follower.
    /// - Returns: the committed version, if the caller does not wait for it.
    private func commit(
        _ transaction: WriteTransaction, _ state: VersionState, _ ending: CommitEnding
    ) throws(StorageError) -> Snapshot? {
        appendWithRecord(transaction, state, isHeldBack: ending == .grouped)
        let pinned = ending == .pending || ending == .grouped ? transaction.resultPin.pin(state) : nil
        compaction.beginIfDue(self)
        // Too many versions are pinned: the commit batch ends here, and is waited for.
        if ending != .grouped || pinned == nil { transaction.giveGateBack() }
        if pinned != nil || ending == .handedIn { return pinned }
        if !commits.waitUntilDurable(state.version) { throw .commitOutcomeUnknown(TransactionID(state.version)) }
        return nil
    }

    /// Writes the pages of a transaction, unsynced.
    /// - Returns: the new version, and its checkpoint if the log cannot hold its record.
    private func place(_ transaction: WriteTransaction) throws(StorageError) -> (VersionState, CheckpointPlan?) {
        if hasLog { try checkPath() }
        try processes?.confirm()
        if hasLog && writer.wantsLog { try checkpoints.makeLog(afterCommits: writer.commits) }
        let bytes = transaction.workspace.recorder.byteCount
        let isLarge = hasLog && (transaction.workspace.recorder.isTooLarge || !checkpoints.log.fits(bytes))
        if hasLog && !isLarge { try checkpoints.makeRoom(forRecord: bytes) }
        if commits.isPoisoned { throw .poisoned }
        let made = try transaction.place()
        try reader.confirm()
        return (made, isLarge ? try checkpoints.prepareOwn(transaction.nodes, made) : nil)
    }

    /// Counts the transaction's pages as dirty for the next checkpoint.
    private func noteWritten(_ transaction: WriteTransaction) {
        writer.commits += 1
        checkpoints.noteWrittenEarly(transaction.nodes.placed)
    }

    /// Commits a version with a record for the log, and ends its transaction.
    private func appendWithRecord(_ transaction: WriteTransaction, _ state: VersionState, isHeldBack: Bool) {
        checkpoints.noteRecord(transaction.workspace.recorder.byteCount)
        let record = transaction.workspace.recorder.finish(lsn: state.version)
        append(transaction, state, isDurable: false, record: record, isHeldBack: isHeldBack)
    }

    /// Commits a version, and ends its transaction.
    private func append(
        _ transaction: WriteTransaction, _ state: VersionState, isDurable: Bool,
        record: UnsafeRawBufferPointer? = nil, isHeldBack: Bool = false
    ) {
        commits.append(transaction, state, isDurable: isDurable, record: record, isHeldBack: isHeldBack)
        transaction.end(.committed)
    }

    /// Begins the next transaction of a commit batch.
    /// - Returns: nil if the store is closed or poisoned.
    func continueBatch(_ permit: consuming WritePermit) throws(StorageError) -> WriteTransaction? {
        let base = commits.withState { $0.isUsable ? $0.committed : nil }
        guard let base else { return nil }
        return try makeTransaction(base, permit)
    }

    // MARK: Space

    package func space() throws(StorageError) -> SpaceStatistics {
        let (newest, log) = commits.withState { ($0.visible.version, $0.logBytes) }
        let counts = allocator.counts
        let size: Int64
        do { size = try file.size() } catch { throw StorageError(error) }
        return SpaceStatistics(
            fileBytes: Int(size), liveBytes: (counts.pages - counts.free - counts.held) * Format.pageSize,
            freeBytes: counts.free * Format.pageSize, heldBytes: counts.held * Format.pageSize, logBytes: log,
            oldestProtected: TransactionID(allocator.oldestProtected ?? newest), newest: TransactionID(newest))
    }
}
