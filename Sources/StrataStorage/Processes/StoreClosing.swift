internal import StrataFiles

extension Store {
    /// Lets other processes in: the store is open, and what it holds is durable.
    func share(_ processes: ProcessTable) throws(StorageError) {
        commits.monitor.withLock {
            commits.state.others.publication = processes.versions.publish(
                commits.state.visible.version, commits.state.visible.root, allocator.extent)
        }
        try processes.admitOthers()
    }

    /// Ends all use of the store; the last process that does so makes the data file alone hold everything.
    ///
    /// Snapshots stay readable until they are released; this process keeps its place as long. Waits for the open
    /// transaction, if there is one. Calling it twice is harmless, and so it is in a process that was forked off since;
    /// a second call returns when the first is done.
    /// - Throws: what kept the checkpoint from being written. The log then stays and is replayed at the next open.
    ///   Without a log (``Durability/none``) nothing but the open store has the newest commits: where nothing is lost
    ///   yet, as on a full disk, it stays open and can be used, and closed again.
    package func close() throws(StorageError) { try close { () throws(FileError) in } }

    /// Whether it was not closed: after a ``close()`` that threw, it can be used, and closed again.
    package var isOpen: Bool { commits.monitor.withLock { !commits.state.isClosed } }

    /// - Parameters:
    ///   - mayStayOpen: false for a store that nobody goes on with, whatever it loses.
    ///   - last: done when the file is complete and still locked.
    func close(mayStayOpen: Bool = true, _ last: () throws(FileError) -> Void) throws(StorageError) {
        // The parent's, which goes on with it.
        if isForked { return }
        try StoreClosing(of: self, mayStayOpen: mayStayOpen).run(last)
    }

    /// Puts the closed store at `other` in the place of this one, which was opened alone, and closes this one.
    ///
    /// By a rename and a sync of the directory, while the old file is still locked: a change of everything, a migration
    /// of several steps or a repair, is made on a copy beside the store, and at any moment the path leads to the old
    /// contents or to the new ones.
    package func replace(by other: String) throws(StorageError) {
        try close { () throws(FileError) in
            try fileSystem.rename(other, to: path)
            try fileSystem.syncDirectory(of: path)
        }
    }

    /// A pin is gone; the last one of a closed store lets the file go.
    func unpin(_ version: UInt64) {
        if isForked { return }
        if commits.unpin(version) { releaseFile() }
    }

    /// The map keeps the file open after its descriptor is closed, so locks do not go by themselves.
    fileprivate func releaseFile() {
        if let processes {
            do throws(StorageError) {
                if !processes.isEnded, try !processes.leave() { processes.remove() }
            } catch {
                processes.abandon()
            }
        }
        Self.release(file)
    }
}

/// The end of a store's use in this process: alone it makes the data file hold everything, beside others it lets
/// another one write.
struct StoreClosing {
    private let store: Store
    private let mayStayOpen: Bool
    private var commits: Commits { store.commits }
    private var checkpoints: Checkpoints { store.checkpoints }
    private var monitor: any Monitor { store.commits.monitor }

    init(of store: Store, mayStayOpen: Bool) {
        self.store = store
        self.mayStayOpen = mayStayOpen
    }

    /// Waits for the write gate.
    /// - Parameter last: done when the file is complete and still locked.
    func run(_ last: () throws(FileError) -> Void) throws(StorageError) {
        guard let permit = begin() else { return }
        var failure: StorageError?
        do throws(StorageError) {
            if let processes = store.processes {
                try leave(processes)
            } else {
                try complete()
                do throws(FileError) { try last() } catch { throw StorageError(error) }
            }
        } catch {
            if mayStayOpen && stayOpen(after: error) {
                permit.giveBack()
                commits.deliverNotices()
                throw error
            }
            failure = error
        }
        end(hasFailed: failure != nil)
        permit.giveBack()
        commits.deliverNotices()
        if let failure { throw failure }
    }

    /// The write gate, when nobody who has begun anything needs it any more.
    /// - Returns: nil when the store was closed already.
    private func begin() -> WritePermit? {
        guard var permit = enter() else { return nil }
        while monitor.withLock({ commits.state.others.waiters > 0 }) {
            // Commits of this process by another one. Should that one die, they need the gate.
            permit.giveBack()
            monitor.withLock { while commits.state.others.waiters > 0 { monitor.wait() } }
            permit = store.gate.acquire()
        }
        return permit
    }

    /// The write gate of a store that nobody else closes or has closed; whoever does is waited for. Nil when it is
    /// closed.
    private func enter() -> WritePermit? {
        while true {
            let permit = store.gate.acquire()
            let found = monitor.withLock {
                defer { if commits.state.use == .open { commits.state.use = .closing } }
                return commits.state.use
            }
            if found == .open { return permit }
            permit.giveBack()
            if found == .closed { return nil }
            monitor.withLock { while commits.state.use == .closing { monitor.wait() } }
        }
    }

    /// Whether a close that did not come to its end leaves the store as it was before: letting go of it would lose
    /// commits that nothing else has, and nothing is in doubt. The write gate is held.
    private func stayOpen(after error: StorageError) -> Bool {
        let (committed, isWriting) = monitor.withLock {
            (commits.state.committed.version, commits.state.isOwner && !commits.state.isPoisoned)
        }
        let isAllOnDisk = store.hasLog || committed == checkpoints.slot.checkpoint.rawValue
        let mayWrite = !store.options.readOnly && store.fileSystem.isPersistent
        guard error.mayBeTriedAgain, isWriting, !isAllOnDisk, mayWrite else { return false }
        if let processes = store.processes {
            // Without others let in again it is as good as closed.
            do throws(StorageError) { try processes.admitOthers() } catch { return false }
        }
        monitor.withLock {
            commits.state.use = .open
            monitor.wakeAll()
        }
        return true
    }

    private func end(hasFailed: Bool) {
        // A checkpoint or a leader that goes on after a failure still uses the files.
        checkpoints.writing.waitUntilDone()
        let isPinned = monitor.withLock {
            while commits.state.queue.isLeading { monitor.wait() }
            // Whoever still waits for a commit must not write to a log that is closed: its descriptor may be a number
            // of somebody else's file then.
            if hasFailed { commits.state.queue.fail() }
            commits.state.log = nil
            commits.state.use = .closed
            monitor.wakeAll()
            return !commits.state.pins.isEmpty
        }
        checkpoints.log.close()
        if !isPinned { store.releaseFile() }
    }

    /// Completes the file when no other process has it open, else lets another one write. The write gate is held.
    private func leave(_ processes: ProcessTable) throws(StorageError) {
        while true {
            let isPinned = monitor.withLock { !commits.state.pins.isEmpty }
            if try processes.becomeAlone() {
                try completeAlone(processes)
                guard isPinned else { return }
                // Others may come while this process still reads.
                try handOver(processes)
                return try processes.admitOthers()
            }
            try handOver(processes)
            if isPinned { return }
            if try processes.leave() { return }
        }
    }

    private func handOver(_ processes: ProcessTable) throws(StorageError) {
        if isOwner { try Succession(store: store, processes: processes).handOver() }
    }

    private var isOwner: Bool { monitor.withLock { commits.state.isOwner } }

    private func completeAlone(_ processes: ProcessTable) throws(StorageError) {
        if store.options.readOnly { return }
        if !isOwner {
            // Nothing was written since the first opener had it alone, or nobody may write any more.
            if !processes.ownership.wasTaken || processes.isPoisoned { return }
            if try store.isStale { return }
            // Whoever left last may have the table's lock for a moment more.
            try processes.slots.clearDead()
            try store.becomeOwner()
        }
        try complete()
    }

    private func complete() throws(StorageError) {
        if store.options.readOnly || !store.fileSystem.isPersistent { return }
        let hasCommitted = store.writer.hasCommitted
        if try store.isStale {
            // What stands at the path, and the log beside it, are another store's.
            let stale = checkpoints.leaveName(of: store.path)
            if hasCommitted { throw stale }
            return
        }
        let committed = commits.newest
        if !commits.waitUntilDurable(committed.version) { throw .poisoned }
        try checkpoints.waitUntilDone()
        // Both slots say the same version and no log; the log goes.
        if hasCommitted { try checkpoints.dropTail(committed) }
        try checkpoints.makeFinal(committed)
        if hasCommitted { try checkpoints.cutFile() }
    }
}
