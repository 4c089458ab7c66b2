package import StrataFiles

extension Store {
    /// Opens a store, or makes one where there is no file.
    ///
    /// A log that a process left behind is replayed first, and a durable checkpoint ends that before anything is shown.
    /// - Throws: `notAStore` and `unsupportedFormat` for files of others, which stay as they are; `corrupt`,
    ///   `logMissing`, `logMismatch`, `logCorrupt` for damage, with the file left as it is; `inUse`, `file`, `noSpace`.
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
        return try openPlain(path: path, options: options)
    }

    /// Opens for writing, or, where there is no space to recover in, as it is and for reading only.
    /// - Parameter isAlone: nobody else may have the store open meanwhile, so nothing is shared.
    package static func openPlain(
        path: String, options: StoreOptions, isAlone: Bool = false
    ) throws(StorageError) -> Store {
        try StoreOpening(path, options, isAlone: isAlone).open()
    }

    /// Opens a store that nobody else has open, and keeps everybody else out.
    /// - Throws: `inUse` when somebody has it open, and as ``open(path:options:)``.
    package static func openAlone(path: String, options: StoreOptions) throws(StorageError) -> Store {
        try openPlain(path: path, options: options, isAlone: true)
    }

    /// Removes a store that nobody has open, and what stands beside it.
    ///
    /// What a dead process left is no obstacle.
    /// - Returns: whether there was a data file.
    /// - Throws: `inUse` while it is open anywhere; `file`.
    package static func removeFiles(path: String, options: StoreOptions = StoreOptions()) throws(StorageError) -> Bool {
        try StoreRemoval(path, options).run()
    }

    /// Gives the lock back and closes the file. The lock would go with the last descriptor by itself, but the map keeps
    /// the file open, and a process that another thread is just starting has copies of all descriptors for a moment.
    package static func release(_ file: any File) {
        do throws(FileError) { try file.unlock(byte: LockByte.open) } catch {}
        file.close()
    }

    /// One of the two header slots of a data file.
    package static func slot(_ file: any File, _ index: Int) throws(StorageError) -> HeaderSlot.Decoded {
        try StartingSlot.read(file, index)
    }
}

/// One opening of a store: from a path to a file that is locked, to the version in force, to a store that can be used.
struct StoreOpening {
    /// Of the file itself, where the store was asked for by a link: what stands beside a file stands beside that one,
    /// whoever opens it by whatever name, and a link that is changed meanwhile changes nothing.
    let path: String
    let options: StoreOptions
    /// Nobody else may have the store open meanwhile, so nothing is shared.
    let isAlone: Bool

    init(_ path: String, _ options: StoreOptions, isAlone: Bool = false) throws(StorageError) {
        self.path = try options.resolve(path)
        self.options = options
        self.isAlone = isAlone
    }

    /// Opens for writing, or, where there is no space to recover in, as it is and for reading only.
    func open() throws(StorageError) -> Store {
        do throws(StorageError) { return try openOnce() } catch {
            guard case .noSpace = error, !options.readOnly, !isAlone else { throw error }
            var reading = options
            reading.readOnly = true
            let store: Store
            do throws(StorageError) { store = try StoreOpening(path, reading).openOnce() } catch _ { throw error }
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
                // The last of the others may be on its way out: it left its place, and its table, as this one came.
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

    /// Puts a new store in the place of a file without a byte, as `mkstemp` makes one. With a log beside it, it was a
    /// store, and was cut.
    /// - Parameter file: this process has it alone.
    /// - Returns: whether it did; the file is given back then.
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

    /// Opens a store that this process has for itself, or that others only read.
    private func open(_ file: any File, _ access: DataFileClaim.Access) throws(StorageError) -> Store {
        if access == .alone && !options.readOnly {
            // What a compaction wrote whose process died: nobody else can be at it while this one has the store alone.
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
                // Refuses everything; the file goes with the opener.
                store.commits.monitor.withLock { store.commits.state.use = .closing }
                throw error
            }
        } catch {
            processes?.remove()
            Store.release(file)
            throw error
        }
    }

    /// The store with the version that its file alone says; a log is not looked at yet.
    private func make(_ file: any File, _ processes: ProcessTable?) throws(StorageError) -> (Store, isClean: Bool) {
        let start = try StartingSlot(file, path, options)
        let slot = start.choice.slot
        let reserve = mapReserve(start.size)
        let replaysInMemory = options.readOnly && slot.logRequired
        var file = file
        if replaysInMemory {
            do { file = try ShadowFile(over: file, reserve: reserve) } catch { throw StorageError(error) }
        }
        let pages = try PageMap(file, reserve: reserve, options.fileSystem, .ofTrees, NodeSeed(slot.storeID))
        let allocator = PageAllocator(
            lock: options.scheduling.makeMonitor("pages"), map: pages, file: file, growth: options.growth,
            pageCount: Int(slot.pageCount), fileCapacity: Int(start.size) / Format.pageSize)
        let version = try StartingSlot.version(slot, PageReader(pages))
        let checkpointer = Checkpointer(slot: slot, index: start.choice.index, writtenEnd: Int(slot.pageCount))
        // One protection for being visible, one for being the last checkpoint.
        allocator.protect(version.version)
        allocator.protect(version.version)
        let store = Store(
            path: path, options: options, file: file, identity: start.status, pages: pages, allocator: allocator,
            state: StoreState(version, isShared: processes != nil), checkpointer: checkpointer, processes: processes,
            isReplayedInMemory: replaysInMemory)
        return (store, start.choice.isClean)
    }

    /// Opens a store that other processes have open.
    private func openBeside(_ file: any File) throws(StorageError) -> Store {
        var processes: ProcessTable?
        do throws(StorageError) {
            // Tells a wrong key; without one, whether the file is encrypted.
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
                file, reserve: mapReserve(size), options.fileSystem, .ofTrees, NodeSeed(storeID))
            let allocator = PageAllocator(
                lock: options.scheduling.makeMonitor("pages"), map: pages, file: file, growth: options.growth,
                pageCount: Format.firstDataPage, fileCapacity: Int(size) / Format.pageSize)
            // What a writer knows is handed over before this process writes.
            let store = Store(
                path: path, options: options, file: file, identity: status, pages: pages, allocator: allocator,
                state: StoreState(.empty, isShared: true),
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

    /// Whose file it is, which another process may be writing slots of.
    private func storeID(of file: any File) throws(StorageError) -> RandomID {
        var looks = 0
        while true {
            let slots = (try StartingSlot.read(file, 0), try StartingSlot.read(file, 1))
            // One that is just being written over may be half of each for a moment. Their ids are the same.
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

    /// Bytes of address space for the map of a file of so many bytes.
    private func mapReserve(_ size: Int64) -> Int { max(options.mapReserve, Int(min(size, 1 << 44)) * 4) }
}
