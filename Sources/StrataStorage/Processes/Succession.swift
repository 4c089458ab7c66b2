internal import StrataFiles

/// How writing passes from one process to the next. The write gate is held throughout.
struct Succession {
    let store: Store
    let processes: ProcessTable

    private var monitor: any Monitor { store.commits.monitor }
    private var commits: Commits { store.commits }
    private var allocator: PageAllocator { store.allocator }

    // MARK: Becoming the owner

    /// Waits until this process may make a transaction.
    /// - Returns: nil when it owns writing.
    /// - Throws: as ``awaitTurn(until:acceptsGrant:)``.
    func guestTurn(until deadline: Deadline) throws(StorageError) -> GuestTurn? {
        guard let grant = try awaitTurn(until: deadline, acceptsGrant: acceptsGrants) else { return nil }
        if acceptsGrants { return GuestTurn(store: store, processes: processes, grant: grant) }
        // Another owner, of another durability, came in between.
        processes.grants.giveBack(grant)
        _ = try awaitTurn(until: deadline, acceptsGrant: false)
        return nil
    }

    /// Whether this process may work under another one's turn. A record would stand unsealed beside an encrypted store.
    private var acceptsGrants: Bool {
        store.options.cipher == nil && processes.ownership.durability == store.options.durability.code
    }

    /// Waits until this process may make a transaction.
    /// - Parameter acceptsGrant: the turn of another process will do.
    /// - Returns: nil when this process owns writing, else what the owner lent it.
    /// - Throws: `busy`, `poisoned`, `lockFile`; what recovery throws after another writer died.
    func awaitTurn(until deadline: Deadline, acceptsGrant: Bool) throws(StorageError) -> Grant? {
        Attendant(store: store, processes: processes).start()
        if monitor.withLock({ commits.state.isOwner }) { return nil }
        if processes.isPoisoned { throw .poisoned }
        let turn = try processes.ownership.awaitTurn(
            until: deadline, acceptsGrant: acceptsGrant, storePath: store.path)
        switch turn {
        case .grant(let grant): return grant
        case .ownership(let inheritance): try begin(inheritance)
        }
        return nil
    }

    private func begin(_ inheritance: Inheritance) throws(StorageError) {
        do throws(StorageError) {
            let newest = try processes.versions.newest()
            try monitor.withLock { () throws(StorageError) in
                try ForeignVersions(commits: commits, processes: processes).show(newest)
            }
            switch inheritance {
            case .own where try isAsOpened(): becomeOwner()
            case .own, .none: try recover()
            case .block:
                if let block = try processes.ownership.readBlock() { try resume(from: block) } else { try recover() }
            }
        } catch {
            monitor.withLock {
                commits.state.pins.endOwnership(processes.pins.pin)
                commits.state.role = .beside
            }
            try processes.ownership.release()
            throw error
        }
    }

    /// Whether the files still are what this process has opened: what the table says of that is not enough.
    private func isAsOpened() throws(StorageError) -> Bool {
        // A file that was cut meanwhile is told as such, not by what is left of its header.
        let size: Int64
        do { size = try store.file.size() } catch { throw StorageError(error) }
        if size < Int64(store.pages.limit.pages.load(ordering: .acquiring)) * Int64(Format.pageSize) {
            throw store.cutWhileOpen(to: size)
        }
        let slot = try StartingSlot(store.file, store.path, store.options).choice.slot
        return slot.sequence == store.checkpoints.slot.sequence && !slot.logRequired
    }

    /// Pages are given out by this process from now on.
    /// - Parameter restart: of the allocator, with what is protected; nil when it knows everything already.
    private func becomeOwner(restart: ((_ protecting: [UInt64]) -> Void)? = nil) {
        monitor.withLock {
            processes.fence()
            let versions = commits.state.pins.becomeOwner(foreign: processes.pins.foreign)
            if let restart {
                restart(versions)
            } else {
                for version in versions { allocator.protect(version) }
            }
            commits.state.log = nil
            commits.state.logBytes = 0
            commits.state.queue.restart(at: commits.state.visible)
            commits.state.role = .owner
        }
        processes.ownership.durability = store.options.durability.code
    }

    /// Goes on from a checkpoint that this process did not make.
    private func resume(from choice: HeaderSlot.Choice, filePages: Int) throws(StorageError) {
        store.pages.admit(filePages)
        let slot = choice.slot
        store.checkpoints.resume(from: choice, filePages: filePages)
        store.periodicSync.restart()
        store.compaction.forget()
        var next = WriterState()
        next.workspace = store.writer.workspace
        store.writer = next
        becomeOwner { [self] versions in
            // One protection for being visible, one for being the last checkpoint.
            allocator.restart(
                pageCount: Int(slot.pageCount), fileCapacity: filePages,
                protecting: versions + [commits.state.visible.version, slot.checkpoint.rawValue])
        }
        try store.checkpoints.loadFreeMap()
    }

    /// Goes on from what the owner before left.
    private func resume(from block: HandOver) throws(StorageError) {
        let start = try StartingSlot(store.file, store.path, store.options)
        let choice = start.choice
        let visible = monitor.withLock { commits.state.visible.version }
        guard choice.slot.sequence == block.sequence, !choice.slot.logRequired,
            choice.slot.checkpoint.rawValue == visible
        else { return try recover() }
        try resume(from: choice, filePages: Int(start.size) / Format.pageSize)
        try allocator.hold(block.held)
    }

    /// Replays the log while other processes read: what the dead writer made is thrown away, and written again where
    /// nobody can be reading.
    private func recover() throws(StorageError) {
        let start = try StartingSlot(store.file, store.path, store.options)
        let choice = start.choice
        let slot = choice.slot
        // The dead writer may have made the file longer than it ever said.
        let filePages = Int(start.size) / Format.pageSize
        store.pages.admit(filePages)
        let base = try StartingSlot.version(slot, store.reader)
        let visible = monitor.withLock { commits.state.visible }
        if !slot.logRequired && base.version < visible.version {
            // What others have seen is gone with the process that made it: it wrote without a log.
            commits.poison()
            throw .poisoned
        }
        try resume(from: choice, filePages: filePages)
        // Pages that the checkpoint does not reach may be read by a process that has pinned one of the dead writer's
        // versions. What the dead writer had reserved behind them belongs to no version.
        let end = processes.versions.endOfContents.map { min($0, filePages) } ?? filePages
        try allocator.holdAll(upTo: max(end, Int(slot.pageCount)), freed: visible.version + 1)
        do throws(StorageError) {
            let newest = try LogRecovery(of: store).run(on: base, isClean: choice.isClean, visible: visible.version)
            // Before any later version is shown: whoever waits for one of the dead writer's must not mistake it.
            processes.ownership.noteDeath(recovered: newest.version)
            show(newest, over: visible)
        } catch {
            // On a full disk nothing is in doubt: the log has everything, and whoever writes next begins from it again.
            if !error.mayBeTriedAgain { commits.poison() }
            throw error
        }
    }

    private func show(_ newest: VersionState, over visible: VersionState) {
        if newest.root == visible.root {
            monitor.withLock { commits.state.queue.restart(at: visible) }
            return
        }
        // A replayed version has this protection already, a checkpoint only the one of being the last.
        if newest.version == store.checkpoints.slot.checkpoint.rawValue { allocator.protect(newest.version) }
        commits.show(newest)
    }

    // MARK: Giving writing on

    /// Lets the next process write; nobody in this process does.
    /// - Parameter claimant: a process that has a grant, and needs writing for itself.
    /// - Throws: what kept the newest version from becoming the checkpoint, where nothing else has it: without a log
    ///   this process goes on owning writing then.
    func handOver(to claimant: Int? = nil) throws(StorageError) {
        let block = try makeBlock()
        store.checkpoints.writing.waitUntilDone()
        monitor.withLock {
            while commits.state.queue.isLeading { monitor.wait() }
            commits.state.pins.endOwnership(processes.pins.pin)
            commits.state.role = .beside
            commits.state.log = nil
            commits.state.others.publication = processes.versions.publication
        }
        store.checkpoints.log.close()
        // Without a block the next owner goes by the log, as after a death.
        if let block { do throws(StorageError) { try processes.ownership.leaveBlock(block) } catch {} }
        try processes.ownership.release(to: claimant)
    }

    /// Makes the newest version the checkpoint.
    /// - Returns: nil where the next owner has to go by the log, or by what the failure left: slower, and as right.
    private func makeBlock() throws(StorageError) -> HandOver? {
        let committed = monitor.withLock { commits.state.committed }
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
        // What a recovery keeps behind the checkpoint's end is not the checkpoint's map's.
        guard held.allSatisfy({ UInt64($0.page) + UInt64($0.pages) <= slot.pageCount }) else { return nil }
        return HandOver(sequence: slot.sequence, held: held)
    }
}
