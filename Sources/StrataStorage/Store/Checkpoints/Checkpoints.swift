internal import StrataFiles

// A checkpoint makes the data file alone enough for a version C:
// 1. all commits up to C are durable in the log's old half; the log goes on in the other one;
// 2. C's free map is written beside its pages, in steps, then one sync makes all of it durable;
// 3. one header slot, never the one in force, says C and where replay starts; a second sync;
// 4. only then are C's predecessor's pages and the old half used again (invariant 8 of docs/file-format.md).

/// What a store's two files hold: pages and header slots of the data file, and which half of the log is in use. It
/// writes pages for commits, and makes checkpoints.
///
/// What a checkpoint writes is `Checkpointer`'s to know, and `CheckpointWriting` writes it; here both meet the store's
/// versions, its free pages and its log.
///
/// Concurrency: guarded by the write gate, which whoever calls has. A checkpoint goes on beside the commits that
/// follow.
final class Checkpoints: Sendable {
    /// Pieces in which fresh parts of a file are written first: larger ones make every later small write slower.
    private static let freshPiece = 16384

    private let path: String
    private let options: StoreOptions
    private let file: any File
    private let fileSystem: any FileSystem
    private let commits: Commits
    /// Guarded by its own lock.
    private nonisolated(unsafe) let allocator: PageAllocator
    /// Guarded by the write gate.
    @exclusivity(unchecked) private(set) nonisolated(unsafe) var checkpointer: Checkpointer
    let writing: CheckpointWriting
    /// Guarded by the write gate.
    @exclusivity(unchecked) nonisolated(unsafe) var log: LogUse

    init(
        _ path: String, _ options: StoreOptions, _ file: any File, _ commits: Commits, _ checkpointer: Checkpointer
    ) {
        self.path = path
        self.options = options
        self.file = file
        fileSystem = options.fileSystem
        self.commits = commits
        allocator = commits.allocator
        self.checkpointer = checkpointer
        writing = CheckpointWriting(file, options.scheduling, commits.monitor)
        log = LogUse(isSealed: options.cipher != nil)
    }

    /// The header slot in force, or the one that the checkpoint in progress is writing.
    var slot: HeaderSlot { checkpointer.slot }

    /// Goes on from a checkpoint that another process made.
    func resume(from choice: HeaderSlot.Choice, filePages: Int) {
        checkpointer.resume(from: choice.slot, index: choice.index, writtenEnd: filePages)
        log = LogUse(isSealed: options.cipher != nil)
    }

    // MARK: Pages

    /// Writes whole pages, unsynced.
    func writePages(_ bytes: UnsafeRawBufferPointer, at page: Int) throws(StorageError) {
        let end = page + bytes.count / Format.pageSize
        do throws(FileError) {
            let offset = Int64(page) * Int64(Format.pageSize)
            if !checkpointer.isFresh(before: end) {
                try file.write(bytes, at: offset)
            } else {
                var done = 0
                while done < bytes.count {
                    let count = min(Self.freshPiece, bytes.count - done)
                    try file.write(
                        UnsafeRawBufferPointer(rebasing: bytes[done..<(done + count)]), at: offset + Int64(done))
                    done += count
                }
            }
        } catch {
            throw StorageError(error)
        }
        checkpointer.noteWritten(page..<end)
    }

    /// Notes what a transaction wrote before it was committed.
    func noteWrittenEarly(_ extents: [Extent]) {
        for extent in extents { checkpointer.noteWrittenEarly(extent.range) }
    }

    // MARK: Checkpoints

    /// Under ``Durability/none`` nothing else makes versions durable.
    func startIfDue() {
        guard fileSystem.isPersistent, checkpointer.dirtyBytes >= options.checkpointBytes / 2 else { return }
        writing.hurry()
        guard checkpointer.dirtyBytes >= options.checkpointBytes else { return }
        // Commits wait for the checkpoint before only when they have written twice as much as should lie between two.
        if checkpointer.dirtyBytes < 2 * options.checkpointBytes, writing.isInProgress { return }
        do throws(StorageError) {
            try start(commits.newest)
        } catch {
            // On a full disk, and without descriptors, a later commit tries again.
            if error.mayBeTriedAgain { return }
            commits.poison()
        }
    }

    /// Makes the newest version C durable in the log, and begins a checkpoint of it.
    func startOfNewest() throws(StorageError) {
        let newest = commits.newest
        if newest.version == 0 { return }
        if !commits.waitUntilDurable(newest.version) { throw .poisoned }
        try start(newest)
    }

    /// Chooses C and lets the rest happen in the background. C is durable in the log, if there is one.
    func start(_ version: VersionState) throws(StorageError) {
        try waitUntilDone()
        let plan = try prepare(version)
        writing.start(plan) { [commits] in
            !commits.isPoisoned
        } ending: { [self] isDone in
            if isDone { allocator.unprotect(plan.previous) } else { commits.fail() }
        }
    }

    /// Waits for the checkpoint in progress.
    func waitUntilDone() throws(StorageError) {
        writing.waitUntilDone()
        if commits.isPoisoned { throw .poisoned }
    }

    /// A checkpoint that the caller waits for. No other is in progress.
    func complete(_ plan: CheckpointPlan) throws(StorageError) {
        guard writing.write(plan, paced: false, mayFinish: { !commits.isPoisoned }) else {
            commits.poison()
            throw .poisoned
        }
        allocator.unprotect(plan.previous)
    }

    /// Writes the free map of a version and decides what its header will say. No checkpoint is in progress.
    ///
    /// After an error nothing has changed.
    /// - Parameter isFinal: its slot is the first of the two clean ones; the log is not needed any more.
    func prepare(_ version: VersionState, isFinal: Bool = false) throws(StorageError) -> CheckpointPlan {
        try secureName()
        try giveTailBack()
        allocator.protect(version.version)
        do throws(StorageError) {
            try loadFreeMap()
            let (map, pageCount) = try allocator.writeMap(version.version, by: writePages)
            var continuation = Checkpointer.Continuation.withoutLog
            if isFinal {
                continuation = .clean
            } else if log.file != nil, let (half, reach) = try goOn(after: version.version) {
                continuation = .log(segment: half, reach: reach)
            }
            return checkpointer.plan(version, map: map, pageCount: pageCount, then: continuation)
        } catch {
            allocator.unprotect(version.version)
            throw error
        }
    }

    /// Lets commits go on in a half of the log that replay can start with.
    private func goOn(after version: UInt64) throws(StorageError) -> (half: Int, reach: UInt64)? {
        do throws(StorageError) {
            return try log.goOn(after: version, releases: checkpointer.takesFreedSegment())
        } catch {
            commits.poison()
            throw error
        }
    }

    /// Prepares the checkpoint by which a transaction becomes durable that is too large for the log.
    ///
    /// After an error nothing has changed, and the transaction can be rolled back.
    func prepareOwn(_ nodes: TransactionNodes, _ version: VersionState) throws(StorageError) -> CheckpointPlan {
        if version.version > 1, !commits.waitUntilDurable(version.version - 1) { throw .poisoned }
        try waitUntilDone()
        allocator.settle(nodes)
        do throws(StorageError) { return try prepare(version) } catch {
            allocator.unsettle(nodes)
            throw error
        }
    }

    /// Makes a version durable by its checkpoint. The caller keeps the write gate until then: a small transaction on
    /// top of it must not be acknowledged first.
    func commit(by plan: CheckpointPlan) throws(StorageError) {
        try complete(plan)
        // Nothing but the slot holds this version: both do, before it is acknowledged.
        var slot = checkpointer.slot
        if log.file == nil { slot.makeClean() }
        try writeSlot(slot)
        commits.acknowledge(through: plan.version)
    }

    /// Whoever made the file, or put it in the place of another one, may have died before its name was durable.
    private func secureName() throws(StorageError) {
        if checkpointer.isNameDurable { return }
        do throws(FileError) { try fileSystem.syncDirectory(of: path) } catch { throw StorageError(error) }
        checkpointer.noteNameDurable()
    }

    /// Writes a slot over the one that is not in force. No checkpoint is in progress.
    private func writeSlot(_ slot: HeaderSlot) throws(StorageError) {
        let (slot, index) = checkpointer.successor(slot)
        do throws(FileError) { try writing.write(slot, at: index) } catch {
            // It may be on the disk or not, and no sync is tried again.
            commits.poison()
            throw StorageError(error)
        }
        checkpointer.adopt(slot)
    }

    // MARK: Without a log

    /// Makes what a dead process wrote durable, before anything is built on it.
    ///
    /// Its last header slot may stand in the page cache alone: the next process reads it, and a loss of power takes it
    /// away. Until then the slot before is the one in force: the pages of its version must not be written over, the
    /// file not cut behind it, and no slot say that nothing is left to be replayed. Nothing was written yet.
    func secureInheritance() throws(StorageError) {
        if options.readOnly { return }
        do throws(FileError) { try file.syncData() } catch {
            // What it covered stays in doubt, and no sync is tried again.
            commits.poison()
            throw StorageError(error)
        }
    }

    /// Makes the files alone say all that is durable. No checkpoint is in progress.
    func makeFinal(_ version: VersionState) throws(StorageError) {
        let isCheckpointed = version.version == checkpointer.slot.checkpoint.rawValue
        if !isCheckpointed { try complete(prepare(version, isFinal: true)) }
        if !isCheckpointed || !checkpointer.slot.isClean { try settle(isHalfDone: !isCheckpointed) }
    }

    /// Both slots say that the newest checkpoint is all there is, durably; then the log goes. The slot in force is
    /// durable already.
    ///
    /// Both, so that one of them alone says it too: were the newer one lost, the other would be older than what was
    /// shown since.
    /// - Parameter isHalfDone: this session has just written one of the two, and synced it.
    func settle(isHalfDone: Bool) throws(StorageError) {
        var slot = checkpointer.slot
        slot.makeClean()
        if !isHalfDone { try writeSlot(slot) }
        try writeSlot(slot)
        try LogFile.remove(fileSystem: fileSystem, path: Store.logPath(path))
    }

    // MARK: The log

    /// Makes the log, and a header that requires it, unless it is there.
    ///
    /// The first two commits of a session are checkpoints; so are all while the disk has no space for a log.
    /// - Parameter count: the commits of this session.
    func makeLog(afterCommits count: Int) throws(StorageError) {
        guard log.isDue(afterCommits: count) else { return }
        // The log's slot goes over the one that an online compaction's checkpoint is still relying on, and says what
        // that one has not synced yet.
        try waitUntilDone()
        let salt = RandomID.make(fileSystem)
        let made: LogFile
        do throws(StorageError) {
            made = try LogFile.create(
                fileSystem: fileSystem, path: Store.logPath(path), beside: path, storeID: checkpointer.slot.storeID,
                salt: salt, halfBytes: plannedHalfBytes, baseVersion: checkpointer.slot.checkpoint,
                cipher: options.cipher)
        } catch {
            guard case .noSpace = error else { throw error }
            log.putOff(afterCommits: count)
            return
        }
        var slot = checkpointer.slot
        slot.logRequired = true
        slot.salt = salt
        slot.logHalf = 0
        slot.logReach = 0
        slot.flags = 0
        try writeSlot(slot)
        log.begin(made)
        commits.monitor.withLock {
            commits.state.log = made
            commits.state.logBytes = made.byteCount
        }
    }

    /// The store's name leads to another file: a log that this process wrote again must not stand beside that one.
    func leaveName(of path: String) -> StorageError {
        log.file?.giveUpCopy()
        return .stale(path: path)
    }

    /// Bytes of a half of the log that is yet to be made.
    var plannedHalfBytes: Int {
        options.logHalfBytes ?? LogFile.halfBytes(forDataBytes: allocator.usedPages * Format.pageSize)
    }

    /// Sees that a record finds room in the half that commits go to; starts a checkpoint when it does not.
    func makeRoom(forRecord bytes: Int) throws(StorageError) {
        if log.file == nil { throw .poisoned }
        if log.hasRoom(for: bytes) { return }
        mark(.segmentFull)
        try startOfNewest()
    }

    /// A record is committed.
    ///
    /// When the half is full, commits wait until a checkpoint has freed the other one: past its middle, the one that is
    /// in progress leaves them the disk no longer.
    func noteRecord(_ bytes: Int) { if log.note(bytes) { writing.hurry() } }

    // MARK: Space

    /// Reads the root of the last checkpoint's free map, before the first transaction.
    func loadFreeMap() throws(StorageError) { try allocator.openMap(checkpointer.slot.freeMap) }

    /// Makes the newest committed version the checkpoint, so that the one before lets its pages go.
    /// - Returns: whether anything came of it.
    func releaseHeldPages() throws(StorageError) -> Bool {
        if !fileSystem.isPersistent { return false }
        let before = allocator.counts.held
        let newest = commits.newest
        if !commits.waitUntilDurable(newest.version) { throw .poisoned }
        try waitUntilDone()
        if newest.version > checkpointer.slot.checkpoint.rawValue { try complete(prepare(newest)) }
        return allocator.counts.held < before
    }

    /// Lets the end of the file go before a close where that is worth further checkpoints: one until only the newest
    /// version counts, one or two that leave out what is free then.
    func dropTail(_ version: VersionState) throws(StorageError) {
        let slack = max(512, allocator.usedPages / 8)
        if version.version != checkpointer.slot.checkpoint.rawValue {
            if allocator.tail(unreached: true) < slack { return }
            try complete(prepare(version))
        }
        for _ in 0..<3 where allocator.tail(unreached: false) >= slack { try complete(prepare(version)) }
    }

    /// Gives space back behind the last durable checkpoint that no version reaches, where there is much of it. No
    /// checkpoint is in progress.
    /// - Parameters:
    ///   - slack: pages that are not worth it; nil for what a checkpoint leaves to the next commits.
    ///   - most: pages to cut now. A file system takes half a millisecond per MiB, and readers wait too.
    /// - Returns: the pages that the file has room for.
    @discardableResult
    func giveTailBack(slack: Int? = nil, atMost most: Int = 4096) throws(StorageError) -> Int {
        let pages = Int(checkpointer.slot.pageCount)
        let capacity = try allocator.cutFile(to: pages, slack: slack ?? max(512, pages / 8), atMost: most)
        checkpointer.noteCut(to: capacity)
        return capacity
    }

    /// Cuts the file where the last checkpoint ends: the store is closed.
    func cutFile() throws(StorageError) { try allocator.cutFile(to: Int(checkpointer.slot.pageCount)) }
}
