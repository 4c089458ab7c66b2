internal import StrataFiles

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
        do throws(StorageError) {
            return try openCompacted(path, options)
        } catch {
            guard error.isDamage, options.onDamage != .fail, !options.readOnly else { throw error }
            try mend(path: path, options: options, because: error)
        }
        return try openPlain(path: path, options: options)
    }

    private static func openCompacted(_ path: String, _ options: StoreOptions) throws(StorageError) -> Store {
        var policy = options.compactOnLaunch
        if case .onLaunch(let asked) = options.compaction { policy = asked }
        if let policy, !options.readOnly {
            try compactIfWanted(path, options, policy)
        }
        return try openPlain(path: path, options: options)
    }

    /// Opens for writing, or, where there is no space to recover in, as it is and for reading only.
    /// - Parameter isAlone: nobody else may have the store open meanwhile, so nothing is shared.
    static func openPlain(
        path: String, options: StoreOptions, isAlone: Bool = false
    ) throws(StorageError) -> Store {
        do throws(StorageError) { return try openOnce(path: path, options: options, isAlone: isAlone) } catch {
            guard case .noSpace = error, !options.readOnly, !isAlone else { throw error }
            var reading = options
            reading.readOnly = true
            let store: Store
            do throws(StorageError) {
                store = try openOnce(path: path, options: reading, isAlone: false)
            } catch _ { throw error }
            if store.isReplayedInMemory {
                mark(.noSpaceToRecover)
                return store
            }
            try store.close()
            throw error
        }
    }

    private static func openOnce(
        path: String, options: StoreOptions, isAlone: Bool
    ) throws(StorageError) -> Store {
        let fileSystem = options.fileSystem
        do throws(FileError) {
            if try fileSystem.status(path) == nil && !options.readOnly { try create(path, options) }
        } catch {
            throw StorageError(error)
        }
        var (file, access) = try openLocked(path, options, isAlone: isAlone)
        var refusals = 0
        while access == .besideOthers {
            do throws(StorageError) { return try openBeside(file, path, options) } catch {
                // The last of the others may be on its way out: it left its place, and its table, as this one came.
                guard case .lockFile = error, refusals < 100 else { throw error }
                refusals += 1
                options.scheduling.pause(microseconds: 1000)
            }
            (file, access) = try openLocked(path, options, isAlone: isAlone)
        }
        var table: ProcessTable?
        do throws(StorageError) {
            if access == .alone && fileSystem.isShared && !isAlone {
                table = try ProcessTable.make(file, options, path: path)
            }
            let (store, isClean) = try open(file, path, options, table)
            do throws(StorageError) {
                try store.start(isClean: isClean)
                if let table { try store.share(table) }
                store.compactAfterOpen()
                return store
            } catch {
                store.monitor.withLock { store.state.isClosed = true }
                throw error
            }
        } catch {
            table?.remove()
            release(file)
            throw error
        }
    }

    /// Gives the lock back and closes the file. The lock would go with the last descriptor by itself, but the map keeps
    /// the file open, and a process that another thread is just starting has copies of all descriptors for a moment.
    static func release(_ file: any File) {
        do throws(FileError) { try file.unlock(byte: LockByte.open) } catch {}
        file.close()
    }

    private static func open(
        _ file: any File, _ path: String, _ options: StoreOptions, _ table: ProcessTable?
    ) throws(StorageError) -> (Store, isClean: Bool) {
        let (choice, information, size) = try startingSlot(file, path, options)
        let slot = choice.slot
        let reserve = max(options.mapReserve, Int(min(size, 1 << 44)) * 4)
        let replaysInMemory = options.readOnly && slot.logRequired
        var file = file
        if replaysInMemory {
            do { file = try ShadowFile(over: file, reserve: reserve) } catch { throw StorageError(error) }
        }
        let pages = try PageMap(file, reserve: reserve, options.fileSystem)
        let lock = options.scheduling.makeMonitor("pages")
        let allocator = PageAllocator(
            lock: lock, map: pages, file: file, growth: options.growth, pageCount: Int(slot.pageCount),
            fileCapacity: Int(size) / Format.pageSize)
        let reader = PageReader(pages)
        let version = try checkpoint(slot, reader)
        let writer = WriterState(slot: slot, slotIndex: choice.index, writtenPages: Int(slot.pageCount))
        // One protection for being visible, one for being the last checkpoint.
        allocator.protect(version.version)
        allocator.protect(version.version)
        let store = Store(
            path: path, options: options, file: file, identity: information, pages: pages, allocator: allocator,
            state: StoreState(version, table), writer: writer, table: table, isReplayedInMemory: replaysInMemory)
        return (store, choice.isClean)
    }

    /// The slot in force, with a log that it may have lost, and the file's status and size.
    static func startingSlot(
        _ file: any File, _ path: String, _ options: StoreOptions
    ) throws(StorageError) -> (HeaderSlot.Choice, FileStatus, size: Int64) {
        let size: Int64
        let information: FileStatus
        do throws(FileError) {
            size = try file.size()
            information = try file.status()
        } catch {
            throw StorageError(error)
        }
        guard information.isRegularFile, size >= Int64(Format.firstDataPage * Format.pageSize) else {
            if information.isRegularFile, size >= Int64(Format.slotSize), case .valid = try slot(file, 0) {
                throw .corrupt(page: PageNumber(1), offset: 0, reason: .fileTooShort)
            }
            throw .notAStore(path: path)
        }
        guard var choice = try HeaderSlot.choose(try slot(file, 0), try slot(file, 1), path: path) else {
            throw .notAStore(path: path)
        }
        guard choice.slot.pageCount <= UInt64(size) / UInt64(Format.pageSize), choice.slot.pageCount >= 2 else {
            throw .corrupt(
                page: PageNumber(UInt32(clamping: size / Int64(Format.pageSize))), offset: 0, reason: .fileTooShort)
        }
        if !choice.slot.logRequired, choice.isOtherLost { try adoptLostLog(&choice.slot, path, options) }
        return (choice, information, size)
    }

    /// The version that a slot leads to.
    static func checkpoint(_ slot: HeaderSlot, _ reader: PageReader) throws(StorageError) -> VersionState {
        if slot.root.isNull { return .empty }
        let version = try RootNode.read(slot.root, reader)
        guard version.version == slot.checkpoint.rawValue else {
            throw .corrupt(page: PageNumber(slot.root.page), offset: 24, reason: .structure)
        }
        return version
    }

    static func slot(_ file: any File, _ index: Int) throws(StorageError) -> HeaderSlot.Decoded {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Format.slotSize, alignment: 8)
        defer { buffer.deallocate() }
        do throws(FileError) {
            let count = try file.read(into: buffer, at: Int64(index * Format.pageSize))
            if count < Format.slotSize { return .foreign }
        } catch {
            throw StorageError(error)
        }
        return HeaderSlot.decode(UnsafeRawBufferPointer(buffer))
    }

    /// The other slot is unreadable: it may have been the newer one that required a log.
    private static func adoptLostLog(
        _ slot: inout HeaderSlot, _ path: String, _ options: StoreOptions
    ) throws(StorageError) {
        guard let header = try LogFile.header(fileSystem: options.fileSystem, path: logPath(path)),
            header.storeID == slot.storeID
        else { return }
        if header.baseVersion > slot.checkpoint {
            throw .corrupt(page: PageNumber(0), offset: 0, reason: .header)
        }
        if header.baseVersion == slot.checkpoint {
            mark(.lostSlot)
            slot.logRequired = true
            slot.salt = header.salt
            slot.logSegment = 0
        }
    }

    /// Replays a log that was left behind, and finishes a close that was not.
    private func start(isClean: Bool) throws(StorageError) {
        if writer.slot.logRequired {
            gate.acquire()
            defer { gate.release() }
            try secureInheritance()
            let newest = try recover(state.committed)
            if newest.version > state.visible.version { show(newest) }
        } else if fileSystem.isPersistent {
            let hasLog: Bool
            do { hasLog = try fileSystem.status(Self.logPath(path)) != nil } catch { throw StorageError(error) }
            if hasLog { try refuseNewerLog() }
            if (!isClean || hasLog) && !options.readOnly {
                mark(.settledAtOpen)
                try secureInheritance()
                try settle(isHalfDone: false)
            }
        }
    }

    /// A log that no slot requires is left from before a close, or was made and not used. One with a newer base says
    /// that a checkpoint was lost; one with the same base and commits, that the slot was that requires it.
    func refuseNewerLog() throws(StorageError) {
        let slot = writer.slot
        let last: TransactionID
        do throws(StorageError) {
            guard let header = try LogFile.header(fileSystem: fileSystem, path: Self.logPath(path)),
                header.storeID == slot.storeID, header.baseVersion >= slot.checkpoint
            else { return }
            let log = try LogFile.open(
                fileSystem: fileSystem, path: Self.logPath(path), storeID: header.storeID, salt: header.salt,
                readOnly: true, cipher: options.cipher)
            defer { log.close() }
            last = max(header.baseVersion, try log.lastVersion())
        } catch {
            // Half made, or no log at all: no slot requires it.
            if error.isDamage { return }
            throw error
        }
        if last == slot.checkpoint { return }
        mark(.olderThanLog)
        throw .corrupt(page: PageNumber(UInt32(writer.slotIndex)), offset: 40, reason: .header)
    }
}
