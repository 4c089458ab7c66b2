package import StrataFiles

extension Store {
    /// Opens a store, or makes one if there is no file.
    ///
    /// Replays the log of a process that died; the result is a durable checkpoint before any version is visible.
    /// - Throws: `notAStore` and `unsupportedFormat` for other files, which are not changed; `corrupt`, `logMissing`,
    ///   `logMismatch`, `logCorrupt` for damage, with the file left as it is; `inUse`, `file`, `noSpace`.
    /// - Complexity: a few reads, whatever the size; plus the replay.
    package static func open(
        path: String, options: StoreOptions = StoreOptions()
    ) throws(StorageError) -> Store {
        let path = try options.resolve(path)
        var policy = options.compactOnLaunch
        if case .onLaunch(let asked) = options.compaction { policy = asked }
        if let policy, !options.readOnly {
            try OfflineCompaction(path, options).run(ifWantedBy: policy)
        }
        return try StoreOpening(resolved: path, options).open()
    }

    /// Opens a store without the compaction at launch that the options may ask for. If the disk has no space for
    /// recovery, the store is read-only, and its log is replayed in memory.
    /// - Parameter isAlone: keeps all other processes out; then `noSpace` is thrown instead.
    package static func openPlain(
        path: String, options: StoreOptions, isAlone: Bool = false
    ) throws(StorageError) -> Store {
        try StoreOpening(path, options, isAlone: isAlone).open()
    }

    /// Opens a store that is not open anywhere, and keeps all other processes out.
    /// - Throws: `inUse` if another process has it open; as ``open(path:options:)``.
    package static func openAlone(path: String, options: StoreOptions) throws(StorageError) -> Store {
        try openPlain(path: path, options: options, isAlone: true)
    }

    /// The data file that this store opened. The path may lead to another one by now.
    package var openedFile: FileStatus { opened.identity }

    /// Removes a store that is not open anywhere, and the files beside it.
    ///
    /// Locks and files of a dead process do not prevent it.
    /// - Returns: whether there was a data file.
    /// - Throws: `inUse` while the store is open in a process; `file`.
    package static func removeFiles(path: String, options: StoreOptions = StoreOptions()) throws(StorageError) -> Bool {
        try StoreRemoval(path, options).run()
    }

    /// Releases the lock and closes the file. A close alone may not release the lock: the mapping keeps the file open,
    /// and a process that another thread is just starting briefly holds copies of all descriptors.
    package static func release(_ file: any File) {
        do throws(FileError) { try file.unlock(byte: LockByte.open) } catch {}
        file.close()
    }

    /// One of the two header slots of a data file.
    package static func slot(_ file: any File, _ index: Int) throws(StorageError) -> HeaderSlot.Decoded {
        try StartingSlot.read(file, index)
    }
}

/// Opens a store: from a path to a locked file, to the version in force, to a usable store.
struct StoreOpening {
    /// The path after all symbolic links were followed. So log, lock file and others are beside the data file, whatever
    /// link the caller opens it by, and a link that changes later has no effect.
    let path: String
    let options: StoreOptions
    /// Keeps all other processes out.
    let isAlone: Bool

    init(_ path: String, _ options: StoreOptions, isAlone: Bool = false) throws(StorageError) {
        self.init(resolved: try options.resolve(path), options, isAlone: isAlone)
    }

    /// - Parameter path: resolved already.
    init(resolved path: String, _ options: StoreOptions, isAlone: Bool = false) {
        self.path = path
        self.options = options
        self.isAlone = isAlone
    }

    /// As ``Store/openPlain(path:options:isAlone:)``.
    func open() throws(StorageError) -> Store {
        do throws(StorageError) { return try openOnce() } catch {
            guard case .noSpace = error, !options.readOnly, !isAlone else { throw error }
            var reading = options
            reading.readOnly = true
            let store: Store
            do throws(StorageError) { store = try StoreOpening(resolved: path, reading).openOnce() } catch _ {
                throw error
            }
            if store.isReplayedInMemory {
                mark(.noSpaceToRecover)
                return store
            }
            try store.close()
            throw error
        }
    }

    private func openOnce() throws(StorageError) -> Store {
        do throws(FileError) {
            if try options.fileSystem.status(path) == nil && !options.readOnly {
                try StoreCreation(path, options).run()
            }
        } catch {
            throw error.isKeptOut ? .inUse(path: path) : StorageError(error)
        }
        let claim = DataFileClaim(path, options, isAlone: isAlone)
        var (file, access) = try claim.take()
        let startedEmpty = access == .alone ? try startOver(file) : false
        if startedEmpty { (file, access) = try claim.take() }
        var refusals = 0
        while access == .besideOthers {
            do throws(StorageError) { return try openBeside(file) } catch {
                // The last other process may be closing: it left the table or removed it after this one saw its lock.
                guard case .lockFile = error, refusals < 100 else { throw error }
                refusals += 1
                options.scheduling.pause(microseconds: 1000)
            }
            (file, access) = try claim.take()
        }
        let store = try open(file, access)
        if startedEmpty { store.damage.noteEmptyStart() }
        return store
    }

    /// Replaces an empty file, such as `mkstemp` makes, by a new store. An empty file with a log beside it is left
    /// alone: it was a store, and was truncated.
    /// - Parameter file: open in this process alone.
    /// - Returns: whether the file was replaced; it is released then.
    private func startOver(_ file: any File) throws(StorageError) -> Bool {
        do throws(FileError) {
            guard !options.readOnly, try file.size() == 0, try file.status().isRegularFile,
                try options.fileSystem.status(Store.logPath(path)) == nil
            else { return false }
            defer { Store.release(file) }
            try StoreCreation(path, options, replacesEmptyFile: true).run()
            return true
        } catch {
            throw error.isKeptOut ? .inUse(path: path) : StorageError(error)
        }
    }

    /// Opens a store alone, or beside readers only.
    private func open(_ file: any File, _ access: DataFileClaim.Access) throws(StorageError) -> Store {
        if access == .alone && !options.readOnly {
            // Removes partial files of processes that died. No other process can be writing them while this one has the
            // store alone.
            StoreCopy.removeUnfinished(OfflineCompaction.unfinishedPath(path), options.fileSystem)
            StoreCopy.removeUnfinished(LogNames.unfinishedPath(Store.logPath(path)), options.fileSystem)
            UnfinishedStore.removeAbandoned(of: path, options.fileSystem)
        }
        var processes: ProcessTable?
        do throws(StorageError) {
            if access == .alone && options.fileSystem.isShared && !isAlone {
                processes = try ProcessTable.makeIfThereIsRoom(file, options, path: path)
            }
            let (store, isClean) = try make(file, processes)
            do throws(StorageError) {
                try store.gate.whileHeld { (_) throws(StorageError) in
                    try LogRecovery(of: store).runAtOpen(isClean: isClean)
                }
                if let processes { try store.share(processes) }
                store.compaction.beginAtOpen(store)
                return store
            } catch {
                // Marked as closing, so that all use is refused. The file is closed below.
                store.commits.withState { $0.beginClosing() }
                throw error
            }
        } catch {
            processes?.remove()
            Store.release(file)
            throw error
        }
    }

    /// The store at its last checkpoint; the log is not examined yet.
    private func make(_ file: any File, _ processes: ProcessTable?) throws(StorageError) -> (Store, isClean: Bool) {
        let start = try StartingSlot(file, path, options)
        let slot = start.choice.slot
        let reserve = mapReserve(start.size)
        let replaysInMemory = options.readOnly && slot.logRequired
        var file = file
        if replaysInMemory {
            do { file = try ShadowFile(over: file, reserve: reserve) } catch { throw StorageError(error) }
        }
        let pages = try PageMap(
            file, reserve: reserve, fileSystem: options.fileSystem, checks: .ofTrees, seed: NodeSeed(slot.storeID))
        let allocator = PageAllocator(
            lock: options.scheduling.makeMonitor("pages"), map: pages, file: file, growth: options.growth,
            pageCount: Int(slot.pageCount), fileCapacity: Int(start.size) / Format.pageSize)
        let version = try StartingSlot.version(slot, PageReader(pages))
        let checkpointer = Checkpointer(slot: slot, index: start.choice.index, writtenEnd: Int(slot.pageCount))
        // One protection as the visible version, one as the last checkpoint.
        allocator.protect(version.version)
        allocator.protect(version.version)
        let visible = VisibleVersion(
            version, processes: processes, allocator: allocator, scheduling: options.scheduling)
        let store = Store(
            path: path, options: options, file: file, identity: start.status, pages: pages, allocator: allocator,
            state: StoreState(visible), checkpointer: checkpointer, processes: processes,
            isReplayedInMemory: replaysInMemory)
        return (store, start.choice.isClean)
    }

    /// Opens a store that other processes have open.
    private func openBeside(_ file: any File) throws(StorageError) -> Store {
        var processes: ProcessTable?
        do throws(StorageError) {
            // Reads the slots first: a wrong or missing key is reported here.
            let storeID = try storeID(of: file)
            let made = try ProcessTable.attach(file, options, path: path)
            processes = made
            let status: FileStatus
            let size: Int64
            do throws(FileError) {
                status = try file.status()
                size = try file.size()
            } catch {
                throw StorageError(error)
            }
            let pages = try PageMap(
                file, reserve: mapReserve(size), fileSystem: options.fileSystem, checks: .ofTrees,
                seed: NodeSeed(storeID))
            let allocator = PageAllocator(
                lock: options.scheduling.makeMonitor("pages"), map: pages, file: file, growth: options.growth,
                pageCount: Format.firstDataPage, fileCapacity: Int(size) / Format.pageSize)
            // The store shows no version until its first snapshot, below. Before this process writes, it takes over the
            // owner's state.
            let visible = VisibleVersion(
                .empty, processes: made, allocator: allocator, scheduling: options.scheduling)
            let store = Store(
                path: path, options: options, file: file, identity: status, pages: pages, allocator: allocator,
                state: StoreState(visible),
                checkpointer: Checkpointer(slot: HeaderSlot(storeID: storeID), index: 0, writtenEnd: 0),
                processes: made)
            _ = try store.snapshot()
            return store
        } catch {
            processes?.abandon()
            Store.release(file)
            throw error
        }
    }

    /// The store's id; another process may be writing a slot meanwhile.
    private func storeID(of file: any File) throws(StorageError) -> RandomID {
        var looks = 0
        while true {
            let slots = (try StartingSlot.read(file, 0), try StartingSlot.read(file, 1))
            // A slot that is being overwritten may be torn for a moment. Both slots have the same id.
            for case .valid(let slot) in [slots.0, slots.1] { return slot.storeID }
            looks += 1
            if looks < 100 {
                options.scheduling.pause(microseconds: 100)
            } else if let choice = try HeaderSlot.choose(slots.0, slots.1, path: path) {
                return choice.slot.storeID
            } else {
                throw .notAStore(path: path)
            }
        }
    }

    /// Address space to reserve for the mapping of a file of this size.
    private func mapReserve(_ size: Int64) -> Int { max(options.mapReserve, Int(min(size, 1 << 44)) * 4) }
}
