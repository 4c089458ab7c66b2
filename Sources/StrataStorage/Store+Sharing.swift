internal import StrataFiles

// Opening and closing beside other processes. All that have a store open hold the shared lock on `LockByte.open`; who
// gets the exclusive one is alone: the first opener, who recovers and makes the process table, and the last one to
// close, who writes the checkpoint and takes log and table away.

/// How this process has a data file.
enum FileAccess {
    /// With all others kept out, until they are admitted.
    case alone
    /// With others that read only, and nobody who writes.
    case readOnly
    /// With others that have a process table.
    case besideOthers
}

extension Store {
    /// Opens the file and takes a lock on it; tries again when the path was replaced in between, and while another
    /// process opens, recovers or closes it.
    static func openLocked(
        _ path: String, _ options: StoreOptions, isAlone: Bool = false
    ) throws(StorageError) -> (any File, FileAccess) {
        let fileSystem = options.fileSystem
        let isShared = fileSystem.isShared && !isAlone
        var unattached = 0
        let attempts = isShared ? max(1, options.openTimeout / 1000) : 1
        do throws(FileError) {
            for _ in 0..<(attempts + 100) {
                let file = options.dataFile(try fileSystem.open(path, options.readOnly ? .read : .write))
                let access = try access(file, options, isShared: isShared)
                if access != nil, try !leads(path, to: file, fileSystem) {
                    release(file)
                    continue
                }
                switch access {
                case .alone: return (file, .alone)
                case .readOnly where options.readOnly: return (file, .readOnly)
                case .besideOthers:
                    if !options.readOnly { return (file, .besideOthers) }
                    release(file)
                    if let writable = try writableBeside(path, options) { return (writable, .besideOthers) }
                    throw FileError(.lock, path: path, errno: 0)
                case .readOnly: unattached += 1
                case nil: break
                }
                release(file)
                // Those who only read never go on by themselves; an opener that is trying too does.
                if !isShared || unattached > 100 { break }
                options.scheduling.pause(microseconds: 1000)
            }
            throw FileError(.lock, path: path, errno: 0)
        } catch {
            if error.operation == .lock && error.errno == 0 { throw .inUse(path: path) }
            throw StorageError(error)
        }
    }

    /// Takes the lock that is to be had; nil when somebody keeps all others out.
    private static func access(
        _ file: any File, _ options: StoreOptions, isShared: Bool
    ) throws(FileError) -> FileAccess? {
        if !options.readOnly, try file.tryLock(byte: LockByte.open, exclusive: true) { return .alone }
        guard options.readOnly || isShared, try file.tryLock(byte: LockByte.open, exclusive: false) else { return nil }
        if options.fileSystem.isShared, try file.isLocked(byte: LockByte.attached) {
            return isShared ? .besideOthers : nil
        }
        return .readOnly
    }

    private static func leads(
        _ path: String, to file: any File, _ fileSystem: any FileSystem
    ) throws(FileError) -> Bool {
        let mine = try file.status()
        guard let there = try fileSystem.status(path) else { return false }
        return there.device == mine.device && there.inode == mine.inode
    }

    /// The file opened so that it can be locked like a writer's, for reading beside writers.
    private static func writableBeside(
        _ path: String, _ options: StoreOptions
    ) throws(FileError) -> (any File)? {
        let file: any File
        do throws(FileError) { file = options.dataFile(try options.fileSystem.open(path, .write)) } catch { return nil }
        if try file.tryLock(byte: LockByte.open, exclusive: false), try file.isLocked(byte: LockByte.attached),
            try leads(path, to: file, options.fileSystem)
        {
            return file
        }
        release(file)
        return nil
    }

    /// Opens a store that other processes have open.
    static func openBeside(
        _ file: any File, _ path: String, _ options: StoreOptions
    ) throws(StorageError) -> Store {
        var table: ProcessTable?
        do throws(StorageError) {
            // Tells a wrong key; without one, whether the file is encrypted.
            for index in 0...1 { _ = try slot(file, index) }
            let made = try ProcessTable.attach(file, options, path: path)
            table = made
            let information: FileStatus
            let size: Int64
            do throws(FileError) {
                information = try file.status()
                size = try file.size()
            } catch {
                throw StorageError(error)
            }
            let reserve = max(options.mapReserve, Int(min(size, 1 << 44)) * 4)
            let pages = try PageMap(file, reserve: reserve, options.fileSystem)
            let allocator = PageAllocator(
                lock: options.scheduling.makeMonitor("pages"), map: pages, file: file, growth: options.growth,
                pageCount: Format.firstDataPage, fileCapacity: Int(size) / Format.pageSize)
            // What a writer knows is handed over before this process writes.
            let store = Store(
                path: path, options: options, file: file, identity: information, pages: pages, allocator: allocator,
                state: StoreState(.empty, made),
                writer: WriterState(slot: HeaderSlot(storeID: RandomID(0, 0)), slotIndex: 0, writtenPages: 0),
                table: made)
            _ = try store.snapshot()
            return store
        } catch {
            table?.abandon()
            release(file)
            throw error
        }
    }

    /// Lets other processes in: the store is open, and what it holds is durable.
    func share(_ table: ProcessTable) throws(StorageError) {
        monitor.withLock {
            table.publish(state.visible.version, state.visible.root, pages: allocator.allocator.fileCapacity)
            state.publication = table.publication
        }
        try table.admitOthers()
    }

    // MARK: Closing

    /// Ends all use of the store; the last process that does so makes the data file alone hold everything.
    ///
    /// Snapshots stay readable until they are released; this process keeps its place as long. Waits for the open
    /// transaction, if there is one. Calling it twice is harmless.
    /// - Throws: what kept the checkpoint from being written; the log then stays and is replayed at the next open.
    package func close() throws(StorageError) { try close { () throws(FileError) in } }

    /// - Parameter last: done when the file is complete and still locked.
    func close(_ last: () throws(FileError) -> Void) throws(StorageError) {
        gate.acquire()
        let wasClosed = monitor.withLock {
            defer { state.isClosed = true }
            return state.isClosed
        }
        while monitor.withLock({ state.waiters > 0 }) {
            // Commits of this process by another one. Should that one die, they need the gate.
            gate.release()
            monitor.withLock { while state.waiters > 0 { monitor.wait() } }
            gate.acquire()
        }
        if wasClosed {
            gate.release()
            return
        }
        var failure: StorageError?
        do throws(StorageError) {
            if let table {
                try leave(table)
            } else {
                try complete()
                do throws(FileError) { try last() } catch { throw StorageError(error) }
            }
        } catch {
            failure = error
        }
        let isPinned = monitor.withLock {
            // A checkpoint or a leader that goes on after a failure still uses the files.
            while state.isCheckpointing || state.isLeading { monitor.wait() }
            state.isReleasable = true
            return state.pins > 0
        }
        writer.log?.close()
        if !isPinned { releaseFile() }
        gate.release()
        deliverNotices()
        if let failure { throw failure }
    }

    /// Completes the file when no other process has it open, else lets another one write. The write gate is held.
    private func leave(_ table: ProcessTable) throws(StorageError) {
        while true {
            let isPinned = monitor.withLock { state.pins > 0 }
            if try table.becomeAlone() {
                try completeAlone(table)
                guard isPinned else { return }
                // Others may come while this process still reads.
                if monitor.withLock({ state.isOwner }) { try handOver(table) }
                return try table.admitOthers()
            }
            if monitor.withLock({ state.isOwner }) { try handOver(table) }
            if isPinned { return }
            if try table.leave() { return }
        }
    }

    private func completeAlone(_ table: ProcessTable) throws(StorageError) {
        if options.readOnly { return }
        if !monitor.withLock({ state.isOwner }) {
            // Nothing was written since the first opener had it alone, or nobody may write any more.
            if !table.wasOwned || table.isPoisoned { return }
            if try isStale { return }
            try table.clearDead()
            try ensureOwner()
        }
        try complete()
    }

    private func complete() throws(StorageError) {
        if options.readOnly || !fileSystem.isPersistent { return }
        if try isStale {
            // What stands at the path, and the log beside it, are another store's.
            if writer.hasCommitted { throw .stale(path: path) }
            return
        }
        let committed = monitor.withLock { state.committed }
        if !waitUntilDurable(committed.version) { throw .poisoned }
        try waitForCheckpoint()
        try finish(committed)
    }

    /// A pin is gone; the last one of a closed store lets the file go.
    func unpin(_ version: UInt64) {
        let isLast = monitor.withLock {
            state.pins -= 1
            let left = (state.pinned[version]?.count ?? 1) - 1
            if left > 0 {
                state.pinned[version]?.count = left
            } else if let pinned = state.pinned.removeValue(forKey: version) {
                if let place = pinned.place { table?.unpin(place) }
                if state.isOwner { allocator.allocator.unprotect(version) }
            }
            return state.isReleasable && state.pins == 0
        }
        if isLast { releaseFile() }
    }

    /// The map keeps the file open after its descriptor is closed, so locks do not go by themselves.
    private func releaseFile() {
        if let table {
            do throws(StorageError) {
                if !table.isEnded, try !table.leave() { table.remove() }
            } catch {
                table.abandon()
            }
        }
        Self.release(file)
    }

    /// Both slots say the same version and no log; the log goes.
    private func finish(_ version: VersionState) throws(StorageError) {
        if writer.hasCommitted { try dropTail(version) }
        try checkpointWithoutLog(version)
        if writer.hasCommitted { try allocator.allocator.cutFile(to: Int(writer.slot.pageCount)) }
    }

    /// Makes the files alone say all that is durable. No checkpoint is in progress, the write gate is held.
    func checkpointWithoutLog(_ version: VersionState) throws(StorageError) {
        let isCheckpointed = version.version == writer.slot.checkpoint.rawValue
        if !isCheckpointed {
            let plan = try prepareCheckpoint(version, isFinal: true)
            guard run(plan, paced: false) else {
                poison()
                throw .poisoned
            }
        }
        if !isCheckpointed || !writer.slot.isClean { try settle(isHalfDone: !isCheckpointed) }
    }
}
