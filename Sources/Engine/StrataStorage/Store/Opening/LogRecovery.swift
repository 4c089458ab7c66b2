internal import StrataFiles

// Recovery runs when a process opens a store alone, before any version is visible, and when a process becomes the owner
// while others read. It can crash at any point and run again: it writes only pages that the last durable checkpoint
// does not use, and the header slot that it did not start from.

/// Recovers a store from the log of a process that died, or from its unfinished close. The write gate is held.
struct LogRecovery {
    private let store: Store
    private var options: StoreOptions { store.options }
    private var fileSystem: any FileSystem { store.fileSystem }
    private var checkpoints: Checkpoints { store.checkpoints }
    private var allocator: PageAllocator { store.allocator }
    private var logPath: String { Store.logPath(store.path) }
    /// The header slot to start from.
    private var slot: HeaderSlot { checkpoints.slot }

    init(of store: Store) { self.store = store }

    /// Replays commits that are in the log and not in the data file when a store is opened, and completes an unfinished
    /// close.
    /// - Parameter isClean: both slots name the checkpoint and no log.
    func runAtOpen(isClean: Bool) throws(StorageError) {
        switch try step(isClean: isClean, isReadOnly: options.readOnly) {
        case .nothing: break
        case .replay:
            try checkpoints.secureInheritance()
            let newest = try run(on: store.commits.newest)
            if newest.version > store.commits.withState({ $0.visible.version }) { store.commits.show(newest) }
        case .settle:
            mark(.settledAtOpen)
            try checkpoints.secureInheritance()
            try checkpoints.settle(isHalfDone: false)
        }
    }

    /// Makes the newest version in the files durable, while other processes read.
    /// - Parameters:
    ///   - base: the last checkpoint.
    ///   - isClean: both slots name the checkpoint and no log.
    ///   - visible: the newest version that other processes have seen.
    /// - Returns: the newest version.
    func run(on base: VersionState, isClean: Bool, visible: UInt64) throws(StorageError) -> VersionState {
        switch try step(isClean: isClean, isReadOnly: false) {
        case .nothing: break
        case .replay:
            try checkpoints.secureInheritance()
            return try run(on: base, visible: visible)
        case .settle:
            try checkpoints.secureInheritance()
            try checkpoints.settle(isHalfDone: false)
        }
        return base
    }

    /// What recovery has to do. A log that no slot requires is examined first.
    /// - Throws: as ``refuseNewerLog()``.
    private func step(isClean: Bool, isReadOnly: Bool) throws(StorageError) -> RecoveryFacts.Answer {
        let looksForLog = fileSystem.isPersistent && !slot.logRequired
        let hasLog = looksForLog ? try hasLog : false
        if hasLog { try refuseNewerLog() }
        return RecoveryFacts(
            isLogRequired: slot.logRequired, isClean: isClean, hasLeftLog: hasLog, isReadOnly: isReadOnly,
            isPersistent: fileSystem.isPersistent
        ).answer
    }

    private var hasLog: Bool {
        get throws(StorageError) {
            do { return try fileSystem.status(logPath) != nil } catch { throw StorageError(error) }
        }
    }

    /// Examines a log that no slot requires. A crash may have left it before a close removed it, or before a slot
    /// required it. But if its base is newer than the checkpoint, a checkpoint was lost; if its base is the checkpoint
    /// and it holds commits, the slot that required it was lost.
    /// - Throws: `corrupt` in these two cases.
    private func refuseNewerLog() throws(StorageError) {
        var facts: LeftLogFacts
        do throws(StorageError) {
            guard let header = try LogFile.header(fileSystem: fileSystem, path: logPath) else { return }
            facts = LeftLogFacts(header, slot: slot)
            if facts.answer == .ignore { return }
            let log = try LogFile.open(
                fileSystem: fileSystem, path: logPath, storeID: header.storeID, salt: header.salt, readOnly: true,
                cipher: options.cipher)
            defer { log.close() }
            facts.contents = .opened
            if facts.answer == .replayOnTrial { facts.contents = try holdsCommits(log) ? .commits : .empty }
        } catch {
            // An unfinished log, or no log at all: no slot requires it.
            if error.isDamage { return }
            guard case .unsupportedFormat(_, let version) = error, error.isOlderFormat else { throw error }
            // A log of an older format cannot belong to this store, which has the present format.
            if options.readOnly { return }
            mark(.setLogAside)
            do throws(FileError) { try LogNames.setAside(logPath, as: "format-\(version)", fileSystem) } catch {
                throw StorageError(error)
            }
            return
        }
        if facts.answer == .ignore { return }
        mark(.olderThanLog)
        throw damagedSlot
    }

    /// Whether a replay from the checkpoint finds a commit, or finds that one is missing.
    ///
    /// A torn record that was never acknowledged does not count, whatever is left of its header: such a log is left if
    /// a recovery finds nothing to replay, writes its slots, and dies before it removes the log.
    private func holdsCommits(_ log: LogFile) throws(StorageError) -> Bool {
        do throws(StorageError) {
            let first = slot.checkpoint.rawValue + 1
            return try log.replay(fromHalf: 0, firstLSN: first) { (_, _, _) throws(StorageError) in }.batches > 0
        } catch {
            if error.isDamage { return true }
            throw error
        }
    }

    private var damagedSlot: StorageError {
        .corrupt(page: PageNumber(UInt32(checkpoints.checkpointer.slotIndex)), offset: 40, reason: .header)
    }

    /// Replays the log on top of the last checkpoint and makes the result durable. In a read-only store the result
    /// stays in memory.
    /// - Parameters:
    ///   - base: the last checkpoint.
    ///   - visible: the newest version that other processes have seen, if there are any.
    /// - Returns: the newest version.
    private func run(on base: VersionState, visible: UInt64? = nil) throws(StorageError) -> VersionState {
        let slot = slot
        let log = try LogFile.open(
            fileSystem: fileSystem, path: logPath, storeID: slot.storeID, salt: slot.salt, readOnly: options.readOnly,
            cipher: options.cipher)
        defer { log.close() }
        guard log.header.baseVersion <= slot.checkpoint else { throw damagedSlot }
        let transaction = try store.makeTransaction(base, nil, isReplay: true)
        let replay = ChangeReplay(in: transaction)
        let last: UInt64
        do throws(StorageError) {
            last = try log.replay(
                fromHalf: Int(slot.logHalf), firstLSN: slot.checkpoint.rawValue + 1, reach: slot.logReach,
                toleratesLoss: options.toleratesLogLoss
            ) { (payload, first, last) throws(StorageError) in
                try replay.apply(payload, firstLSN: first, lastLSN: last)
            }.lastLSN
            // Versions that other processes have seen must be recovered.
            if let visible, last < visible { throw StorageError.poisoned }
            try transaction.flushAll()
        } catch {
            transaction.rollback()
            // The record verifies, but cannot be applied to the checkpoint's version.
            if case .misuse = error { throw .logCorrupt(path: log.path, offset: 0) }
            throw error
        }
        var newest = base
        let isReplayed = last > slot.checkpoint.rawValue
        mark(isReplayed ? .replayed : .emptyLog)
        if isReplayed {
            newest = try finish(transaction, last, isShared: visible != nil)
        } else {
            transaction.rollback()
        }
        if !options.readOnly { try checkpoints.settle(isHalfDone: isReplayed) }
        return newest
    }

    private func finish(
        _ transaction: WriteTransaction, _ last: UInt64, isShared: Bool
    ) throws(StorageError) -> VersionState {
        transaction.version = last
        let version: VersionState
        do throws(StorageError) {
            version = try transaction.place()
            try store.reader.confirm()
        } catch {
            transaction.rollback()
            throw error
        }
        allocator.protect(last)
        allocator.settle(transaction.nodes)
        // Other processes may read the dead process's version of the same number, which reaches other pages, so the
        // pages of the checkpoint that it reaches are freed one version later.
        allocator.bury(transaction.nodes.dead, freed: isShared ? last + 1 : last)
        transaction.end(.committed)
        if options.readOnly {
            mark(.replayedInMemory)
            return version
        }
        try checkpoints.complete(checkpoints.prepare(version, isFinal: true))
        return version
    }
}
