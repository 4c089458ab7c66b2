internal import StrataFiles

// A checkpoint makes the data file alone sufficient for a version C, in this order:
// 1. All commits up to C are durable in the log's active half. C's free map is written, and the log continues in the
//    other half.
// 2. The pages of C and of the free map are written back chunk by chunk, and one sync makes all of them durable.
// 3. The header slot that is not in force is written with C and the start of replay, and synced.
// 4. Only then may the pages of the previous checkpoint and the old half of the log be used again (invariant 8 of
//    docs/file-format.md).

/// State of a store's two files: pages and header slots of the data file, and the log's active half. Writes pages for
/// commits, and makes checkpoints.
///
/// `Checkpointer` decides what a checkpoint writes, `CheckpointWriting` writes it; this type joins them with the
/// store's versions, free pages and log.
///
/// Concurrency: guarded by the write gate, which every caller holds. Later commits continue while a background thread
/// writes a checkpoint.
final class Checkpoints: PageWriting, Sendable {
    /// Size of the first writes to fresh parts of a file: larger ones make every later small write slower.
    private static let freshPiece = 16384

    private let path: String
    private let options: StoreOptions
    private let file: any File
    private let fileSystem: any FileSystem
    private let commits: Commits
    private let allocator: PageAllocator
    /// Guarded by the write gate.
    @exclusivity(unchecked) private(set) nonisolated(unsafe) var checkpointer: Checkpointer
    let writing: CheckpointWriting
    /// Guarded by the write gate.
    @exclusivity(unchecked) nonisolated(unsafe) var log: LogUse

    init(
        _ path: String, options: StoreOptions, file: any File, commits: Commits, checkpointer: Checkpointer
    ) {
        self.path = path
        self.options = options
        self.file = file
        fileSystem = options.fileSystem
        self.commits = commits
        allocator = commits.allocator
        self.checkpointer = checkpointer
        writing = CheckpointWriting(file, options.scheduling, commits)
        log = LogUse(isSealed: options.cipher != nil)
    }

    /// The slot in force, or the one that a running checkpoint writes.
    var slot: HeaderSlot { checkpointer.slot }

    /// Continues from a checkpoint that another process made.
    func resume(from choice: HeaderSlot.Choice, filePages: Int) {
        checkpointer.resume(from: choice.slot, index: choice.index, writtenEnd: filePages)
        log = LogUse(isSealed: options.cipher != nil)
    }

    // MARK: Pages

    /// Writes whole pages, unsynced, and counts them as dirty.
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

    /// Counts pages as dirty that a transaction wrote before its commit.
    func noteWrittenEarly(_ extents: [Extent]) {
        for extent in extents { checkpointer.noteWrittenEarly(extent.range) }
    }

    // MARK: Checkpoints

    /// Begins a checkpoint if enough pages are dirty. Under ``Durability/none`` only checkpoints make versions durable.
    func startIfDue() {
        guard fileSystem.isPersistent, checkpointer.dirtyBytes >= options.checkpointBytes / 2 else { return }
        writing.hurry()
        guard checkpointer.dirtyBytes >= options.checkpointBytes else { return }
        // Commits wait for the running checkpoint only after twice the bytes that should lie between two checkpoints.
        if checkpointer.dirtyBytes < 2 * options.checkpointBytes, writing.isInProgress { return }
        do throws(StorageError) {
            try start(commits.newest)
        } catch {
            // After `noSpace`, or without descriptors, a later commit tries again.
            if error.mayBeTriedAgain { return }
            commits.poison()
        }
    }

    /// Makes the newest version durable in the log, and begins a checkpoint of it.
    func startOfNewest() throws(StorageError) {
        let newest = commits.newest
        if newest.version == 0 { return }
        if !commits.waitUntilDurable(newest.version) { throw .poisoned }
        try start(newest)
    }

    /// Begins a checkpoint of this version in the background, after the running one has ended. The version is durable
    /// in the log, if there is one.
    func start(_ version: VersionState) throws(StorageError) {
        try waitUntilDone()
        let plan = try prepare(version)
        writing.start(plan) { [commits] in
            !commits.isPoisoned
        } ending: { [self] isDone, state in
            if isDone { allocator.unprotect(plan.previous) } else { commits.fail(&state) }
        }
    }

    /// Waits for the running checkpoint.
    func waitUntilDone() throws(StorageError) {
        writing.waitUntilDone()
        if commits.isPoisoned { throw .poisoned }
    }

    /// Writes a checkpoint on the caller's thread. No other is running.
    func complete(_ plan: CheckpointPlan) throws(StorageError) {
        guard writing.write(plan, paced: false, mayFinish: { !commits.isPoisoned }) else {
            commits.poison()
            throw .poisoned
        }
        allocator.unprotect(plan.previous)
    }

    /// Writes the free map of a version, has the log continue in a half that replay can start with, and decides the
    /// header slot. No checkpoint is running.
    ///
    /// After an error the slot in force is unchanged; an error of the log poisons the store.
    /// - Parameter isFinal: the slot is the first of the two clean ones; the log is not needed any more.
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

    /// Has the log continue in a half that replay can start with. An error poisons the store.
    private func goOn(after version: UInt64) throws(StorageError) -> (half: Int, reach: UInt64)? {
        do throws(StorageError) {
            return try log.goOn(after: version, releases: checkpointer.takesFreedSegment())
        } catch {
            commits.poison()
            throw error
        }
    }

    /// Prepares the checkpoint that commits a transaction too large for the log.
    ///
    /// After an error the transaction can be rolled back.
    func prepareOwn(_ nodes: TransactionNodes, _ version: VersionState) throws(StorageError) -> CheckpointPlan {
        if version.version > 1, !commits.waitUntilDurable(version.version - 1) { throw .poisoned }
        try waitUntilDone()
        allocator.settle(nodes)
        do throws(StorageError) { return try prepare(version) } catch {
            allocator.unsettle(nodes)
            throw error
        }
    }

    /// Commits a version by its checkpoint. The caller holds the write gate until this returns: a later, small
    /// transaction must not be acknowledged first.
    func commit(by plan: CheckpointPlan) throws(StorageError) {
        try complete(plan)
        // The version is in no log, so both slots are written before it is acknowledged.
        var slot = checkpointer.slot
        if log.file == nil { slot.makeClean() }
        try writeSlot(slot)
        commits.acknowledge(through: plan.version)
    }

    /// Syncs the directory once: the process that made the file, or renamed it to this path, may have died before its
    /// name was durable.
    private func secureName() throws(StorageError) {
        if checkpointer.isNameDurable { return }
        do throws(FileError) { try fileSystem.syncDirectory(of: path) } catch { throw StorageError(error) }
        checkpointer.noteNameDurable()
    }

    /// Writes a slot over the one that is not in force. No checkpoint is running.
    private func writeSlot(_ slot: HeaderSlot) throws(StorageError) {
        let (slot, index) = checkpointer.successor(slot)
        do throws(FileError) { try writing.write(slot, at: index) } catch {
            // Whether the slot is on the disk is unknown, and a failed sync is never repeated.
            commits.poison()
            throw StorageError(error)
        }
        checkpointer.adopt(slot)
    }

    // MARK: Without a log

    /// Syncs what a dead process wrote, before any page is written on top of it.
    ///
    /// The dead process's last header slot may be in the kernel's page cache alone: this process reads it there, but a
    /// loss of power would drop it, and the previous slot would be in force again. So before this sync the pages of the
    /// previous slot's version must not be overwritten, the file must not be truncated before their end, and no slot
    /// may be written that needs no replay. The caller has written nothing yet.
    func secureInheritance() throws(StorageError) {
        if options.readOnly { return }
        do throws(FileError) { try file.syncData() } catch {
            // The writes stay in doubt, and a failed sync is never repeated.
            commits.poison()
            throw StorageError(error)
        }
    }

    /// Makes a version the final checkpoint, named by two clean slots, and removes the log: the data file alone holds
    /// everything. No checkpoint is running.
    func makeFinal(_ version: VersionState) throws(StorageError) {
        let isCheckpointed = version.version == checkpointer.slot.checkpoint.rawValue
        if !isCheckpointed { try complete(prepare(version, isFinal: true)) }
        if !isCheckpointed || !checkpointer.slot.isClean { try settle(isHalfDone: !isCheckpointed) }
    }

    /// Writes and syncs two clean slots of the newest checkpoint, then removes the log. The slot in force is durable
    /// already.
    ///
    /// Both are written so that either of them is enough: if the newer one were lost, the older one would name a
    /// version older than one that readers have seen.
    /// - Parameter isHalfDone: this process has just written and synced one of the two slots.
    func settle(isHalfDone: Bool) throws(StorageError) {
        var slot = checkpointer.slot
        slot.makeClean()
        if !isHalfDone { try writeSlot(slot) }
        try writeSlot(slot)
        try LogFile.remove(fileSystem: fileSystem, path: Store.logPath(path))
    }

    // MARK: The log

    /// Creates the log and writes a slot that requires it, unless there is a log already.
    ///
    /// The first two commits after an open, or after this process took over writing, are checkpoints, and so are all
    /// commits while the disk has no space for a log.
    /// - Parameter count: ``WriterState/commits``.
    func makeLog(afterCommits count: Int) throws(StorageError) {
        guard log.isDue(afterCommits: count) else { return }
        // A running checkpoint must end first: the new slot overwrites the one that it relies on, and names pages that
        // it has not synced yet.
        try waitUntilDone()
        let salt = RandomID.make(fileSystem)
        let made: LogFile
        do throws(StorageError) {
            made = try LogFile.create(
                fileSystem: fileSystem, path: Store.logPath(path), beside: path, storeID: checkpointer.slot.storeID,
                salt: salt, halfBytes: plannedHalfBytes, baseVersion: checkpointer.slot.checkpoint,
                cipher: options.cipher, scheduling: options.scheduling)
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
        commits.withState { $0.begin(made) }
    }

    /// Called when the store's path leads to another file: if this process's log is a copy that took the log's name, it
    /// loses that name, which belongs to the other store.
    /// - Returns: the error for the caller to throw.
    func leaveName(of path: String) -> StorageError {
        log.file?.giveUpCopy()
        return .stale(path: path)
    }

    /// Size of the halves of a log that will be created, in bytes.
    var plannedHalfBytes: Int {
        options.logHalfBytes ?? LogFile.halfBytes(forDataBytes: allocator.usedPages * Format.pageSize)
    }

    /// Makes room for a record in the log. If the active half has none, begins a checkpoint, with which the log
    /// continues in the other half.
    func makeRoom(forRecord bytes: Int) throws(StorageError) {
        if log.file == nil { throw .poisoned }
        if log.hasRoom(for: bytes) { return }
        mark(.segmentFull)
        try startOfNewest()
    }

    /// Notes that a record was committed.
    ///
    /// When the active half is full, commits wait until the running checkpoint has freed the other one. So the
    /// checkpoint stops its pauses once the active half is half full.
    func noteRecord(_ bytes: Int) { if log.note(bytes) { writing.hurry() } }

    // MARK: Space

    /// Opens the last checkpoint's free map, unless it is open. Called before pages are allocated.
    func loadFreeMap() throws(StorageError) { try allocator.openMap(checkpointer.slot.freeMap) }

    /// Makes the newest committed version the checkpoint, so that the pages of the previous one are freed.
    /// - Returns: whether fewer pages are held now.
    func releaseHeldPages() throws(StorageError) -> Bool {
        if !fileSystem.isPersistent { return false }
        let before = allocator.counts.held
        let newest = commits.newest
        if !commits.waitUntilDurable(newest.version) { throw .poisoned }
        try waitUntilDone()
        if newest.version > checkpointer.slot.checkpoint.rawValue { try complete(prepare(newest)) }
        return allocator.counts.held < before
    }

    /// Frees the end of the file before a close, if that is worth further checkpoints: one of the newest version, so
    /// that no older version needs pages, then up to three that leave out the free pages at the end.
    func dropTail(_ version: VersionState) throws(StorageError) {
        let slack = max(512, allocator.usedPages / 8)
        if version.version != checkpointer.slot.checkpoint.rawValue {
            if allocator.tail(unreached: true) < slack { return }
            try complete(prepare(version))
        }
        for _ in 0..<3 where allocator.tail(unreached: false) >= slack { try complete(prepare(version)) }
    }

    /// Truncates the file after the last page of the last durable checkpoint and of all versions, if much is unused
    /// there. No checkpoint is running.
    /// - Parameters:
    ///   - slack: unused pages to leave; nil for what a checkpoint leaves to the next commits.
    ///   - most: pages to cut at most: truncation takes half a millisecond per MiB, and blocks readers, too.
    /// - Returns: the file's size in pages.
    @discardableResult
    func giveTailBack(slack: Int? = nil, atMost most: Int = 4096) throws(StorageError) -> Int {
        let pages = Int(checkpointer.slot.pageCount)
        let capacity = try allocator.cutFile(to: pages, slack: slack ?? max(512, pages / 8), atMost: most)
        checkpointer.noteCut(to: capacity)
        return capacity
    }

    /// Truncates the file to the end of the last checkpoint, at a close.
    func cutFile() throws(StorageError) { try allocator.cutFile(to: Int(checkpointer.slot.pageCount)) }
}
