internal import StrataFiles

extension Store {
    /// The byte of the data file whose lock means: this process has the store open. Far behind any contents.
    static let openByte: Int64 = 1 << 62

    /// Opens a store, or makes one where there is no file.
    ///
    /// A log that a process left behind is replayed first, and a durable checkpoint ends that before anything is shown.
    /// - Throws: `notAStore` and `unsupportedFormat` for files of others, which stay as they are; `corrupt`,
    ///   `logMissing`, `logMismatch`, `logCorrupt` for damage, with the file left as it is; `inUse`, `file`, `noSpace`.
    /// - Complexity: a few reads, whatever the size; plus the replay.
    package static func open(
        path: String, options: StoreOptions = StoreOptions()
    ) throws(StorageError) -> Store {
        if let policy = options.compactOnLaunch, !options.readOnly {
            try compactIfWanted(path, options, policy)
        }
        return try openPlain(path: path, options: options)
    }

    static func openPlain(path: String, options: StoreOptions) throws(StorageError) -> Store {
        let fileSystem = options.fileSystem
        do throws(FileError) {
            if try fileSystem.status(path) == nil && !options.readOnly { try create(path, options) }
        } catch {
            throw StorageError(error)
        }
        let file = try openLocked(path, options)
        do throws(StorageError) {
            let (store, isClean) = try open(file, path, options)
            do throws(StorageError) {
                try store.start(isClean: isClean)
                return store
            } catch {
                store.monitor.withLock { store.state.isClosed = true }
                store.releaseLock()
                throw error
            }
        } catch {
            release(file)
            throw error
        }
    }

    /// Gives the lock back and closes the file. The lock would go with the last descriptor by itself, but a process that
    /// another thread is just starting has copies of all descriptors for a moment.
    static func release(_ file: any File) {
        do throws(FileError) { try file.unlock(byte: openByte) } catch {}
        file.close()
    }

    /// Opens the file and takes the lock on it; tries again when the path was replaced in between.
    static func openLocked(_ path: String, _ options: StoreOptions) throws(StorageError) -> any File {
        let fileSystem = options.fileSystem
        do throws(FileError) {
            for _ in 0..<100 {
                let file = options.dataFile(try fileSystem.open(path, options.readOnly ? .read : .write))
                guard try file.tryLock(byte: openByte, exclusive: !options.readOnly) else {
                    file.close()
                    throw FileError(.lock, path: path, errno: 0)
                }
                let mine = try file.status()
                if let there = try fileSystem.status(path), there.device == mine.device, there.inode == mine.inode {
                    return file
                }
                file.close()
            }
            throw FileError(.lock, path: path, errno: 0)
        } catch {
            if error.operation == .lock && error.errno == 0 { throw .inUse(path: path) }
            throw StorageError(error)
        }
    }

    private static func open(
        _ file: any File, _ path: String, _ options: StoreOptions
    ) throws(StorageError) -> (Store, isClean: Bool) {
        let size: Int64
        let information: FileStatus
        do throws(FileError) {
            size = try file.size()
            information = try file.status()
        } catch {
            throw StorageError(error)
        }
        guard information.isRegularFile, size >= Int64(Format.firstDataPage * Format.pageSize) else {
            if size > 0, size >= Int64(Format.slotSize), case .valid = try slot(file, 0) {
                throw .corrupt(page: PageNumber(1), offset: 0, reason: .fileTooShort)
            }
            throw .notAStore(path: path)
        }
        guard let choice = try HeaderSlot.choose(try slot(file, 0), try slot(file, 1), path: path) else {
            throw .notAStore(path: path)
        }
        var slot = choice.slot
        guard slot.pageCount <= UInt64(size) / UInt64(Format.pageSize), slot.pageCount >= 2 else {
            throw .corrupt(
                page: PageNumber(UInt32(clamping: size / Int64(Format.pageSize))), offset: 0, reason: .fileTooShort)
        }
        if !slot.logRequired, choice.isOtherLost { try adoptLostLog(&slot, path, options) }
        let reserve = max(options.mapReserve, Int(size) * 4)
        let pages = try PageMap(file, reserve: reserve)
        let lock = options.scheduling.makeMonitor("pages")
        let allocator = PageAllocator(
            lock: lock, map: pages, file: file, growth: options.growth, pageCount: Int(slot.pageCount),
            fileCapacity: Int(size) / Format.pageSize)
        let reader = PageReader(pages)
        var version = VersionState.empty
        if !slot.root.isNull {
            version = try RootNode.read(slot.root, reader)
            guard version.version == slot.checkpoint.rawValue else {
                throw .corrupt(page: PageNumber(slot.root.page), offset: 24, reason: .structure)
            }
        }
        let writer = WriterState(slot: slot, slotIndex: choice.index, writtenPages: Int(slot.pageCount))
        // One protection for being visible, one for being the last checkpoint.
        allocator.protect(version.version)
        allocator.protect(version.version)
        let store = Store(
            path: path, options: options, file: file, identity: information, pages: pages, allocator: allocator,
            state: StoreState(version), writer: writer)
        return (store, choice.isClean)
    }

    private static func slot(_ file: any File, _ index: Int) throws(StorageError) -> HeaderSlot.Decoded {
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
            slot.logRequired = true
            slot.salt = header.salt
            slot.logSegment = 0
        }
    }

    /// Replays a log that was left behind, and finishes a close that was not.
    private func start(isClean: Bool) throws(StorageError) {
        if writer.slot.logRequired {
            if options.readOnly { throw .readOnly(path: path) }
            try recover()
        } else if !options.readOnly && fileSystem.isPersistent {
            let hasLog: Bool
            do { hasLog = try fileSystem.status(Self.logPath(path)) != nil } catch { throw StorageError(error) }
            if !isClean || hasLog { try settle(isHalfDone: false) }
        }
    }

    /// Ends all use of the store, with a checkpoint, so that the data file alone holds everything.
    ///
    /// Snapshots stay readable until they are released; the file stays locked as long, because pages that they need
    /// look free to the next opener. Waits for the open transaction, if there is one. Calling it twice is harmless.
    /// - Throws: what kept the checkpoint from being written; the log then stays and is replayed at the next open.
    package func close() throws(StorageError) { try close { () throws(FileError) in } }

    /// - Parameter last: done when the file is complete and still locked.
    func close(_ last: () throws(FileError) -> Void) throws(StorageError) {
        gate.acquire()
        if monitor.withLock({ state.isClosed }) {
            gate.release()
            return
        }
        var failure: StorageError?
        do throws(StorageError) {
            try complete()
            do throws(FileError) { try last() } catch { throw StorageError(error) }
        } catch {
            failure = error
        }
        let isPinned = monitor.withLock {
            // A checkpoint or a leader that goes on after a failure still uses the files.
            while state.isCheckpointing || state.isLeading { monitor.wait() }
            state.isClosed = true
            return state.pins > 0
        }
        writer.log?.close()
        if !isPinned { releaseFile() }
        gate.release()
        deliverNotices()
        if let failure { throw failure }
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
        allocator.allocator.unprotect(version)
        let isLast = monitor.withLock {
            state.pins -= 1
            return state.isClosed && state.pins == 0
        }
        if isLast { releaseFile() }
    }

    /// The map keeps the file open after its descriptor is closed, so the lock does not go by itself.
    private func releaseFile() {
        releaseLock()
        file.close()
    }

    private func releaseLock() {
        do throws(FileError) { try file.unlock(byte: Self.openByte) } catch { return }
    }

    /// Both slots say the same version and no log; the log goes.
    private func finish(_ version: VersionState) throws(StorageError) {
        if writer.hasCommitted { try dropTail(version) }
        let isCheckpointed = version.version == writer.slot.checkpoint.rawValue
        if !isCheckpointed {
            let plan = try prepareCheckpoint(version, isFinal: true)
            guard run(plan, paced: false) else {
                poison()
                throw .poisoned
            }
        }
        if !isCheckpointed || !writer.slot.isClean { try settle(isHalfDone: !isCheckpointed) }
        if writer.hasCommitted { try allocator.allocator.cutFile(to: Int(writer.slot.pageCount)) }
    }
}
