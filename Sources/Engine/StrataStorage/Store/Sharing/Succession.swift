internal import StrataFiles

/// Takes ownership of writing for this process, and hands it over to another one. The caller holds the write gate.
struct Succession {
    let store: Store
    let processes: ProcessTable

    private var commits: Commits { store.commits }
    private var allocator: PageAllocator { store.allocator }

    // MARK: Becoming the owner

    /// Waits until this process may make a transaction.
    /// - Returns: the turn of a guest; nil when this process owns writing.
    /// - Throws: as ``awaitTurn(until:acceptsGrant:)``.
    func guestTurn(until deadline: Deadline) throws(StorageError) -> GuestTurn? {
        guard let grant = try awaitTurn(until: deadline, acceptsGrant: acceptsGrants) else { return nil }
        if acceptsGrants { return GuestTurn(store: store, processes: processes, grant: grant) }
        // A process of another durability class became the owner in between.
        processes.grants.giveBack(grant)
        _ = try awaitTurn(until: deadline, acceptsGrant: false)
        return nil
    }

    /// Whether this process may be a guest: the owner has its durability class, and the store is not encrypted, since
    /// the lock file would hold the guest's record in plain text.
    private var acceptsGrants: Bool {
        store.options.cipher == nil && processes.ownership.durability == store.options.durability.code
    }

    /// Waits until this process may make a transaction.
    /// - Parameter acceptsGrant: the caller can do with a grant, for one transaction.
    /// - Returns: nil if this process owns writing, else the grant.
    /// - Throws: `busy`, `silent`, `noSpace`, `poisoned`, `lockFile`; the errors of a recovery after an owner died.
    func awaitTurn(until deadline: Deadline, acceptsGrant: Bool) throws(StorageError) -> Grant? {
        Attendant(store: store, processes: processes).start()
        if commits.withState({ $0.isOwner }) { return nil }
        if processes.isPoisoned { throw .poisoned }
        let turn = try processes.ownership.awaitTurn(
            until: deadline, acceptsGrant: acceptsGrant, storePath: store.path)
        switch turn {
        case .grant(let grant): return grant
        case .ownership(let inheritance): try begin(inheritance)
        }
        return nil
    }

    /// Begins to own writing, once this process has the writer lock. After an error it releases ownership.
    private func begin(_ inheritance: Inheritance) throws(StorageError) {
        do throws(StorageError) {
            let newest = try processes.versions.newest()
            try commits.withState { (state) throws(StorageError) in
                try ForeignVersions(commits: commits, processes: processes).show(newest, in: &state)
            }
            switch inheritance {
            case .own where try isAsOpened(): becomeOwner()
            case .own, .none: try recover()
            case .block:
                if let block = try processes.ownership.readBlock() { try resume(from: block) } else { try recover() }
            }
        } catch {
            commits.withState { $0.leaveOwnership(isNewest: false) }
            try processes.ownership.release()
            throw error
        }
    }

    /// Whether the files are still as they were when this process opened them. The process table says so, but any
    /// process may have overwritten it, so this reads the files.
    private func isAsOpened() throws(StorageError) -> Bool {
        // A file that was truncated meanwhile gets an error of its own, not one about the rest of its header.
        let size: Int64
        do { size = try store.file.size() } catch { throw StorageError(error) }
        if size < Int64(store.pages.limit.pages.load(ordering: .acquiring)) * Int64(Format.pageSize) {
            throw FileEnd.cut(to: size)
        }
        let slot = try StartingSlot(store.file, store.path, store.options).choice.slot
        return slot.sequence == store.checkpoints.slot.sequence && !slot.logRequired
    }

    /// Makes this process the owner: from now on it allocates pages.
    /// - Parameter restart: restarts the allocator with the pinned versions protected, and with the visible one; nil if
    ///   the allocator's state is current.
    private func becomeOwner(restart: ((_ pinned: [UInt64], _ visible: UInt64) -> Void)? = nil) {
        commits.withState { state in
            let pinned = state.becomeOwner()
            if let restart {
                restart(pinned, state.visible.version)
            } else {
                for version in pinned { allocator.protect(version) }
            }
        }
        processes.ownership.durability = store.options.durability.code
    }

    /// Continues from a checkpoint that another process made.
    private func resume(from choice: HeaderSlot.Choice, filePages: Int) throws(StorageError) {
        store.pages.admit(filePages)
        let slot = choice.slot
        store.checkpoints.resume(from: choice, filePages: filePages)
        store.periodicSync.restart()
        store.compaction.forget()
        var next = WriterState()
        next.workspace = store.writer.workspace
        store.writer = next
        becomeOwner { [self] pinned, visible in
            // One protection as the visible version, one as the last checkpoint.
            allocator.restart(
                pageCount: Int(slot.pageCount), fileCapacity: filePages,
                protecting: pinned + [visible, slot.checkpoint.rawValue])
        }
        try store.checkpoints.loadFreeMap()
    }

    /// Continues from the previous owner's hand-over block.
    private func resume(from block: HandOver) throws(StorageError) {
        let start = try StartingSlot(store.file, store.path, store.options)
        let choice = start.choice
        let visible = commits.withState { $0.visible.version }
        guard choice.slot.sequence == block.sequence, !choice.slot.logRequired,
            choice.slot.checkpoint.rawValue == visible
        else { return try recover() }
        try resume(from: choice, filePages: Int(start.size) / Format.pageSize)
        try allocator.hold(block.held)
    }

    /// Replays the log while other processes read. The new version uses none of the pages of the previous owner's
    /// versions, which readers may have pinned: the changes are written again, to other pages.
    private func recover() throws(StorageError) {
        let start = try StartingSlot(store.file, store.path, store.options)
        let choice = start.choice
        let slot = choice.slot
        // The previous owner may have grown the file beyond any size that it published.
        let filePages = Int(start.size) / Format.pageSize
        store.pages.admit(filePages)
        let base = try StartingSlot.version(slot, store.reader)
        let visible = commits.withState { $0.visible.state }
        if !slot.logRequired && base.version < visible.version {
            // Versions that readers have seen are lost: the process that made them wrote no log, and died.
            commits.poison()
            throw .poisoned
        }
        try resume(from: choice, filePages: filePages)
        // Pages that the checkpoint does not reach may belong to a version of the previous owner that another process
        // has pinned, so they are held. Pages behind the end of all published and lent versions belong to none.
        let end = processes.versions.endOfContents.map { min($0, filePages) } ?? filePages
        try allocator.holdAll(upTo: max(end, Int(slot.pageCount)), freed: visible.version + 1)
        do throws(StorageError) {
            let newest = try LogRecovery(of: store).run(on: base, isClean: choice.isClean, visible: visible.version)
            // Noted before a later version is published: a process that waits for a version of the dead owner must not
            // take a later version for the one it waits for.
            processes.ownership.noteDeath(recovered: newest.version)
            show(newest, over: visible)
        } catch {
            // On a full disk no outcome is in doubt: the log has every commit, and the next writer recovers from it
            // again.
            if !error.mayBeTriedAgain { commits.poison() }
            throw error
        }
    }

    /// Makes the result of a recovery the visible version.
    private func show(_ newest: VersionState, over visible: VersionState) {
        if newest.root == visible.root { return }
        // Recovery has protected a version that it replayed, as the visible one. The checkpoint that was there before
        // has only the protection as the last checkpoint.
        if newest.version == store.checkpoints.slot.checkpoint.rawValue { allocator.protect(newest.version) }
        commits.show(newest)
    }

    // MARK: Handing over

    /// Hands ownership to the next process. No thread of this process writes meanwhile.
    /// - Parameter claimant: slot of a guest that has claimed ownership; nil for the process that asked first.
    /// - Throws: without a log, what kept the newest version from becoming the checkpoint. Only this process's memory
    ///   has that version, so this process stays the owner.
    func handOver(to claimant: Int? = nil) throws(StorageError) {
        let block = try makeBlock()
        store.checkpoints.writing.waitUntilDone()
        commits.whileHeld { held in
            while held.state.queue.isLeading { held.wait() }
            held.state.leaveOwnership(isNewest: true)
            commits.wakeWaiters(&held, after: .handOver)
        }
        store.checkpoints.log.close()
        // An error is dropped: without a block the next owner replays the log, as after the death of an owner.
        if let block { do throws(StorageError) { try processes.ownership.leaveBlock(block) } catch {} }
        try processes.ownership.release(to: claimant)
    }

    /// Makes the newest version the checkpoint.
    /// - Returns: the block for the next owner; nil if that one has to recover from the log, or from the state that a
    ///   failure left: slower, but correct.
    /// - Throws: as ``handOver(to:)``.
    private func makeBlock() throws(StorageError) -> HandOver? {
        let committed = commits.newest
        guard commits.waitUntilDurable(committed.version) else { return nil }
        do throws(StorageError) {
            try store.checkpoints.waitUntilDone()
            try store.checkpoints.makeFinal(committed)
        } catch {
            let isOnDisk = store.hasLog || committed.version <= store.checkpoints.slot.checkpoint.rawValue
            if !isOnDisk && !commits.isPoisoned { throw error }
            return nil
        }
        let held = allocator.held
        let slot = store.checkpoints.slot
        // A recovery may hold extents behind the checkpoint's end. The checkpoint's free map does not have them, so the
        // next owner could not hold them.
        guard held.allSatisfy({ UInt64($0.page) + UInt64($0.pages) <= slot.pageCount }) else { return nil }
        return HandOver(sequence: slot.sequence, held: held)
    }
}
