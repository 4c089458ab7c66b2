internal import StrataFiles

extension Store: PinKeeper {
    /// Admits other processes: the store is open, and its contents are durable.
    func share(_ processes: ProcessTable) throws(StorageError) {
        commits.withState { $0.visible.beginSharing() }
        try processes.admitOthers()
    }

    /// Ends all use of the store in this process. The last process to close it writes a checkpoint, so that the data
    /// file alone holds everything.
    ///
    /// Snapshots stay readable until they are released; until then this process keeps its slot in the process table.
    /// Waits for the open transaction, if there is one. A second call waits for the first one and does no more. In a
    /// process that was forked off since, the call has no effect.
    /// - Throws: what kept the checkpoint from being written. The log then stays and is replayed at the next open.
    ///   Without a log (``Durability/none``) the newest commits are in memory alone: if they are not lost yet, as on a
    ///   full disk, the store stays open, can be used, and can be closed again.
    package func close() throws(StorageError) { try close { () throws(FileError) in } }

    /// Whether the store is open. It is still open after a ``close()`` that threw and can be repeated.
    package var isOpen: Bool { commits.withState { !$0.isClosed } }

    /// - Parameters:
    ///   - mayStayOpen: false if the caller drops the store in any case, even with commits that are not on disk.
    ///   - last: runs when the file is complete and still locked; only in a store without a process table.
    func close(mayStayOpen: Bool = true, _ last: () throws(FileError) -> Void) throws(StorageError) {
        // A forked child must not close the parent's store.
        if isForked { return }
        try StoreClosing(of: self, mayStayOpen: mayStayOpen).run(last)
    }

    /// Replaces this store, which was opened without a process table, by the closed store at `other`, and closes this
    /// one.
    ///
    /// Does so by a rename and a sync of the directory while the old file is still locked. A change of the whole store
    /// (a migration of several steps, a repair) is made on a copy beside it; at any moment the path leads to the old
    /// contents or to the new ones.
    package func replace(by other: String) throws(StorageError) {
        try close { () throws(FileError) in
            try fileSystem.rename(other, to: path)
            try fileSystem.syncDirectory(of: path)
        }
    }

    /// Releases a pin. Releasing the last pin of a closed store closes the file.
    func unpin(_ version: UInt64) {
        if isForked { return }
        if commits.unpin(version) { releaseFile() }
    }

    /// Releases a pin that was taken without a lock. In a forked child its place in the process table is the parent's.
    @inline(__always)
    func unpin(_ pin: ReaderPin) {
        if isForked { return }
        if commits.readers.release(pin), commits.end(pin) { releaseFile() }
    }

    /// Closes the file, after it leaves the process table: a mapping keeps the file open after its descriptor is
    /// closed, and with it the locks.
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

/// One close of a store in this process. The last process that has the store open completes the data file; an owner
/// that leaves others behind hands ownership over.
struct StoreClosing {
    private let store: Store
    private let mayStayOpen: Bool
    private var commits: Commits { store.commits }
    private var checkpoints: Checkpoints { store.checkpoints }

    init(of store: Store, mayStayOpen: Bool) {
        self.store = store
        self.mayStayOpen = mayStayOpen
    }

    /// Waits for the write gate and closes the store.
    /// - Parameter last: as in ``Store/close(mayStayOpen:_:)``.
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

    /// Acquires the write gate when no thread with a commit under way needs it any more.
    /// - Returns: nil if the store was closed already.
    private func begin() -> WritePermit? {
        guard var permit = enter() else { return nil }
        while commits.withState({ $0.others.waiters > 0 }) {
            // Threads of this process wait until the owner, another process, publishes their commits. If the owner
            // dies, they need the gate to recover.
            permit.giveBack()
            commits.whileHeld { held in while held.state.others.waiters > 0 { held.wait() } }
            permit = store.gate.acquire()
        }
        return permit
    }

    /// Acquires the write gate and marks the store as closing; waits while another thread closes it.
    /// - Returns: nil if the store is closed.
    private func enter() -> WritePermit? {
        while true {
            let permit = store.gate.acquire()
            let found = commits.withState { state in
                let found = state.use
                if found == .open { state.beginClosing() }
                return found
            }
            if found == .open { return permit }
            permit.giveBack()
            if found == .closed { return nil }
            commits.whileHeld { held in while held.state.use == .closing { held.wait() } }
        }
    }

    /// Whether the store reopens after a failed close: closing the file would lose commits that exist in memory alone,
    /// and no commit's outcome is in doubt. The write gate is held.
    private func stayOpen(after error: StorageError) -> Bool {
        let (committed, isWriting) = commits.withState { ($0.committed.version, $0.isOwner && !$0.isPoisoned) }
        let isAllOnDisk = store.hasLog || committed == checkpoints.slot.checkpoint.rawValue
        let mayWrite = !store.options.readOnly && store.fileSystem.isPersistent
        guard error.mayBeTriedAgain, isWriting, !isAllOnDisk, mayWrite else { return false }
        if let processes = store.processes {
            // If other processes cannot be admitted again, the store is as good as closed.
            do throws(StorageError) { try processes.admitOthers() } catch { return false }
        }
        commits.whileHeld { held in
            held.state.reopen()
            held.wakeAll()
        }
        return true
    }

    /// Marks the store as closed, and closes the log; also the data file, if no version is pinned.
    private func end(hasFailed: Bool) {
        // After a failure a checkpoint or a commit leader may still use the files.
        checkpoints.writing.waitUntilDone()
        let isPinned = commits.whileHeld { held in
            while held.state.queue.isLeading { held.wait() }
            held.state.endClosing(hasFailed: hasFailed)
            commits.wakeWaiters(&held, after: .close)
            return held.state.visible.isPinned
        }
        checkpoints.log.close()
        if !isPinned { store.releaseFile() }
    }

    /// Completes the file if no other process has it open, else hands ownership over. The write gate is held.
    private func leave(_ processes: ProcessTable) throws(StorageError) {
        while true {
            let isPinned = commits.withState { $0.visible.isPinned }
            if try processes.becomeAlone() {
                try completeAlone(processes)
                guard isPinned else { return }
                // This process still reads pinned versions, so it lets other processes open the store.
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

    private var isOwner: Bool { commits.withState { $0.isOwner } }

    private func completeAlone(_ processes: ProcessTable) throws(StorageError) {
        if store.options.readOnly { return }
        if !isOwner {
            // No process has written since the first opener had the store alone, or the store is poisoned.
            if !processes.ownership.wasTaken || processes.isPoisoned { return }
            if try store.isStale { return }
            // The process that left last may still hold the table's lock, and its slot may still be taken: wait for the
            // lock, and clear the slot.
            try processes.slots.clearDead()
            try store.becomeOwner()
        }
        try complete()
    }

    private func complete() throws(StorageError) {
        if store.options.readOnly || !store.fileSystem.isPersistent { return }
        let hasCommitted = store.writer.hasCommitted
        if try store.isStale {
            // The path leads to another store by now, and the log beside it is that store's.
            let stale = checkpoints.leaveName(of: store.path)
            if hasCommitted { throw stale }
            return
        }
        let committed = commits.newest
        if !commits.waitUntilDurable(committed.version) { throw .poisoned }
        try checkpoints.waitUntilDone()
        // Both header slots name the same version and no log; the log is removed.
        if hasCommitted { try checkpoints.dropTail(committed) }
        try checkpoints.makeFinal(committed)
        if hasCommitted { try checkpoints.cutFile() }
    }
}
