internal import StrataFiles

extension Store {
    /// Pieces in which fresh parts of a file are written first: larger ones make every later small write slower.
    private static let freshPiece = 16384

    /// Writes whole pages, unsynced. The write gate is held.
    func writePages(_ bytes: UnsafeRawBufferPointer, at page: Int) throws(StorageError) {
        let end = page + bytes.count / Format.pageSize
        do throws(FileError) {
            let offset = Int64(page) * Int64(Format.pageSize)
            if end <= writer.writtenPages {
                try file.write(bytes, at: offset)
            } else {
                var done = 0
                while done < bytes.count {
                    let count = min(Self.freshPiece, bytes.count - done)
                    try file.write(
                        UnsafeRawBufferPointer(rebasing: bytes[done..<(done + count)]), at: offset + Int64(done))
                    done += count
                }
            }
        } catch {
            throw StorageError(error)
        }
        writer.writtenPages = max(writer.writtenPages, end)
        noteDirty(page, end)
        writer.dirtyBytes += bytes.count
    }

    func noteDirty(_ low: Int, _ high: Int) {
        writer.dirtyLow = min(writer.dirtyLow, low)
        writer.dirtyHigh = max(writer.dirtyHigh, high)
    }

    /// Makes a finished transaction a version. Gives the write gate back, but in a group that goes on, and where the
    /// turn is lent.
    /// - Throws: `noSpace` when nothing has happened; `commitOutcomeUnknown`, `poisoned`. The gate is given back then.
    @discardableResult
    func commit(
        _ transaction: WriteTransaction, ending: CommitEnding = .durable
    ) throws(StorageError) -> PendingCommit {
        if let grant = transaction.grant {
            let isTooLarge = transaction.workspace.recorder.isTooLarge
            if !isTooLarge { return PendingCommit(self, try commitAsGuest(transaction, grant)) }
            do throws(StorageError) { try claim(transaction, grant, canRepeat: false) } catch {
                giveUp(transaction)
                throw error
            }
        }
        return try commitAsOwner(transaction, ending)
    }

    private func commitAsOwner(
        _ transaction: WriteTransaction, _ ending: CommitEnding
    ) throws(StorageError) -> PendingCommit {
        let version = transaction.version
        let keepsGate = ending == .handedIn
        let state: VersionState
        var plan: CheckpointPlan?
        do throws(StorageError) {
            (state, plan) = try place(transaction)
        } catch {
            // No version reaches what was written.
            if case .noSpace = error { mark(.noSpaceAtCommit) }
            if case .file = error { poison() }
            giveUp(transaction, keepsGate: keepsGate)
            throw error
        }
        noteWritten(transaction)
        if !hasLog { return commitWithoutLog(transaction, state, keepsGate: keepsGate) }
        var pinned: Snapshot?
        var isGroupOpen = false
        if let plan {
            mark(.largeTransaction)
            adopt(transaction, state, isDurable: false)
            do throws(StorageError) { try commitByCheckpoint(plan) } catch {
                poison()
                if !keepsGate { gate.release() }
                throw .commitOutcomeUnknown(TransactionID(version))
            }
            compactIfDue()
        } else {
            writer.segmentUsed += groupBytes(transaction.workspace.recorder.byteCount)
            let returnsEarly = options.durability == .full && (ending == .pending || ending == .grouped)
            isGroupOpen = returnsEarly && ending == .grouped
            adopt(
                transaction, state, isDurable: false,
                record: transaction.workspace.recorder.finish(lsn: version), isHeldBack: isGroupOpen)
            if returnsEarly { pinned = pin(state) }
            isGroupOpen = isGroupOpen && pinned != nil
            compactIfDue()
        }
        if options.durability == .periodic && plan == nil {
            defer { if !keepsGate { gate.release() } }
            try flushPeriodically(version)
        } else if !keepsGate {
            if !isGroupOpen { gate.release() }
            if pinned != nil {
                return PendingCommit(self, TransactionID(version), snapshot: pinned, isGateHeld: isGroupOpen)
            }
            if !waitUntilDurable(version) { throw .commitOutcomeUnknown(TransactionID(version)) }
        }
        if !keepsGate { deliverNotices() }
        return PendingCommit(self, TransactionID(version))
    }

    /// Writes the pages of a transaction, unsynced.
    /// - Returns: the version to be, and the checkpoint that it has to be when the log cannot hold its record.
    private func place(_ transaction: WriteTransaction) throws(StorageError) -> (VersionState, CheckpointPlan?) {
        if hasLog { try checkPath() }
        try table?.confirm()
        if hasLog && writer.wantsLog { try ensureLog() }
        let bytes = transaction.workspace.recorder.byteCount
        let isLarge = hasLog && (transaction.workspace.recorder.isTooLarge || !fitsLog(bytes))
        if hasLog && !isLarge { try makeRoom(bytes) }
        if monitor.withLock({ state.isPoisoned }) { throw .poisoned }
        let made = try transaction.place()
        try reader.confirm()
        return (made, isLarge ? try prepareOwnCheckpoint(transaction, made) : nil)
    }

    /// Counts what the transaction has written, for the next checkpoint.
    private func noteWritten(_ transaction: WriteTransaction) {
        writer.commits += 1
        for extent in transaction.nodes.placed {
            noteDirty(Int(extent.page), Int(extent.page + extent.pages))
            writer.dirtyBytes += Int(extent.pages) * Format.pageSize
        }
    }

    private func commitWithoutLog(
        _ transaction: WriteTransaction, _ state: VersionState, keepsGate: Bool
    ) -> PendingCommit {
        adopt(transaction, state, isDurable: true)
        checkpointIfDue()
        compactIfDue()
        if !keepsGate {
            gate.release()
            deliverNotices()
        }
        return PendingCommit(self, TransactionID(transaction.version))
    }

    /// - Parameter keepsGate: the write gate is not this transaction's own.
    func giveUp(_ transaction: WriteTransaction, keepsGate: Bool = false) {
        transaction.isEnded = true
        transaction.view.writer = nil
        allocator.allocator.giveBack(transaction.nodes.landed)
        transaction.nodes.discard(all: true)
        transaction.nodes.arena.reset()
        if !keepsGate { gate.release() }
    }

    /// Lets a version follow the last committed one, and ends its transaction.
    private func adopt(
        _ transaction: WriteTransaction, _ state: VersionState, isDurable: Bool,
        record: UnsafeRawBufferPointer? = nil, isHeldBack: Bool = false
    ) {
        let allocator = allocator.allocator
        allocator.settle(transaction.nodes, protecting: state.version)
        var gone: [UInt64] = []
        monitor.withLock {
            self.state.committed = state
            self.state.unpublished.append(state)
            // Whoever observes only after the version was published has no need to hear of it.
            if !isDurable || !self.state.observers.isEmpty {
                self.state.notices.append(
                    CommitNotice(
                        version: TransactionID(state.version), changes: transaction.changes.result,
                        schemaChanged: transaction.schemaChanged))
            }
            if let record {
                if isHeldBack {
                    self.state.held.append(contentsOf: record)
                    if self.state.heldFirst == 0 { self.state.heldFirst = state.version }
                    self.state.heldLast = state.version
                } else {
                    self.state.releaseHeld()
                    if self.state.pending.isEmpty { self.state.pendingFirst = state.version }
                    self.state.pending.append(contentsOf: record)
                    self.state.pendingLast = state.version
                }
            }
            if isDurable { gone = advance(through: state.version) }
        }
        allocator.bury(
            transaction.nodes.dead, freed: state.version, abandoned: transaction.nodes.abandoned, unprotecting: gone)
        transaction.nodes.discard(all: false)
        transaction.isEnded = true
        transaction.view.writer = nil
        transaction.nodes.arena.reset()
    }

    /// Versions up to `version` are durable: the newest of them is what readers pin from now on. `monitor` is held.
    func publish(through version: UInt64) {
        for version in advance(through: version) { allocator.allocator.unprotect(version) }
    }

    /// As ``publish(through:)``.
    /// - Returns: versions that the caller has to take one protection from.
    private func advance(through version: UInt64) -> [UInt64] {
        state.durable = max(state.durable, version)
        var count = 0
        while count < state.unpublished.count, state.unpublished[count].version <= version { count += 1 }
        if count == 0 { return [] }
        var gone = [state.visible.version]
        state.visible = state.unpublished[count - 1]
        // Whoever pins a version that was the newest until now is seen before its pages go.
        if let table { announce(table) }
        for index in 0..<(count - 1) { gone.append(state.unpublished[index].version) }
        state.unpublished.removeFirst(count)
        if state.observers.isEmpty && !state.notices.isEmpty {
            state.notices.removeAll { $0.version.rawValue <= version }
        }
        return gone
    }

    // MARK: Group commit

    /// Waits until a version is durable, leading the sync when nobody does.
    /// - Returns: false when it may not be.
    func waitUntilDurable(_ version: UInt64) -> Bool {
        monitor.lock()
        // Whoever waits for a group ends it.
        if state.heldFirst != 0 && version >= state.heldFirst { state.releaseHeld() }
        while true {
            if state.durable >= version {
                monitor.unlock()
                return true
            }
            if state.isPoisoned {
                monitor.unlock()
                return false
            }
            if !state.isOwner || version > state.committed.version {
                // Its work went with the place that this process had, or with the process it was based on.
                monitor.unlock()
                return false
            }
            if !state.isLeading && (!state.pending.isEmpty || state.appended > state.durable) {
                state.isLeading = true
                lead()
                state.isLeading = false
                monitor.wakeAll()
            } else {
                mark(.followedLeader)
                monitor.wait()
            }
        }
    }

    /// Writes what waits, and syncs what was written. `monitor` is held before and after, not meanwhile.
    private func lead() {
        let isKept = table?.hasOthers != true
        appendPending(keeping: isKept)
        let last = state.appended
        let log = state.log
        if state.isPoisoned { return }
        monitor.unlock()
        var isDone = true
        if options.durability == .full, let log {
            do throws(StorageError) { try log.sync() } catch { isDone = false }
        }
        monitor.lock()
        if isKept { state.isAppending = false }
        if isDone {
            if options.durability == .full { state.synced = max(state.synced, last) }
            publish(through: last)
        } else {
            state.isPoisoned = true
        }
    }

    /// Writes the records that wait to the log, unsynced: they outlive this process then. `monitor` is held before and
    /// after, not meanwhile.
    /// - Parameter keeping: nobody else may write to the log until the caller says so.
    func appendPending(keeping: Bool = false) {
        while state.isAppending { monitor.wait() }
        let payload = state.pending
        state.pending = []
        state.isAppending = true
        defer { if !keeping || state.isPoisoned { state.isAppending = false } }
        if payload.isEmpty { return }
        let first = state.pendingFirst
        let last = state.pendingLast
        let synced = state.synced
        let log = state.log
        monitor.unlock()
        options.scheduling.yield(at: "lead")
        var isDone = false
        payload.withUnsafeBytes { bytes in
            do throws(StorageError) {
                guard let log else { return }
                try log.append(payload: bytes, firstLSN: first, lastLSN: last, durableTo: synced)
                isDone = true
            } catch {
                isDone = false
            }
        }
        monitor.lock()
        if isDone { state.appended = last } else { state.isPoisoned = true }
        if !keeping { monitor.wakeAll() }
    }

    /// Writes the record at once and syncs every now and then. The write gate is held.
    private func flushPeriodically(_ version: UInt64) throws(StorageError) {
        let bytes = monitor.withLock { state.pending.count }
        if !waitUntilDurable(version) { throw .commitOutcomeUnknown(TransactionID(version)) }
        writer.unsyncedLogBytes += bytes
        promiseSync()
        guard writer.unsyncedLogBytes >= options.periodicBytes, let log = writer.log else { return }
        writer.unsyncedLogBytes = 0
        do throws(StorageError) { try log.sync() } catch {
            poison()
            throw .commitOutcomeUnknown(TransactionID(version))
        }
        monitor.withLock { state.synced = max(state.synced, version) }
    }

    func poison() {
        mark(.poisoned)
        monitor.withLock {
            state.isPoisoned = true
            monitor.wakeAll()
        }
    }

    /// Hands notices of visible versions to the observers, in order. Whoever comes while another thread delivers
    /// leaves its notice to that one.
    func deliverNotices() {
        while true {
            let work = monitor.withLock { () -> (CommitNotice, [@Sendable (CommitNotice) -> Void])? in
                guard !state.isDelivering, let first = state.notices.first,
                    first.version.rawValue <= state.visible.version
                else { return nil }
                state.isDelivering = true
                state.notices.removeFirst()
                return (first, state.observers.sorted { $0.key < $1.key }.map(\.value))
            }
            guard let (notice, observers) = work else { return }
            for observer in observers { observer(notice) }
            monitor.withLock { state.isDelivering = false }
        }
    }

    // MARK: The log

    /// Makes the log before the session's third commit, and a header that requires it. The write gate is held.
    ///
    /// The first two are checkpoints; so are all while the disk has no space for a log.
    private func ensureLog() throws(StorageError) {
        if writer.log != nil || writer.commits < writer.nextLogAttempt { return }
        let salt = RandomID.make(fileSystem)
        let log: LogFile
        do throws(StorageError) {
            log = try LogFile.create(
                fileSystem: fileSystem, path: Self.logPath(path), storeID: writer.slot.storeID, salt: salt,
                segmentBytes: plannedSegmentBytes, baseVersion: writer.slot.checkpoint, cipher: options.cipher)
        } catch {
            guard case .noSpace = error else { throw error }
            writer.nextLogAttempt = writer.commits + 16
            return
        }
        var slot = writer.slot
        slot.logRequired = true
        slot.salt = salt
        slot.logSegment = 0
        slot.flags = 0
        try writeSlot(slot)
        writer.log = log
        writer.segmentUsed = 0
        monitor.withLock {
            state.log = log
            state.logBytes = log.byteCount
        }
    }

    /// Bytes of the log that a record takes when it is a group of its own, which is the most it can take.
    private func groupBytes(_ record: Int) -> Int {
        LogFormat.stride(payloadBytes: record + (options.cipher == nil ? 0 : Seal.size))
    }

    private func fitsLog(_ bytes: Int) -> Bool {
        guard let log = writer.log else { return false }
        return bytes <= log.maxPayloadBytes
    }

    /// Sees that a record finds room in the active segment; starts a checkpoint when it does not. The gate is held.
    private func makeRoom(_ bytes: Int) throws(StorageError) {
        guard let log = writer.log else { throw .poisoned }
        let needed = groupBytes(bytes)
        if writer.segmentUsed + needed > log.header.segmentBytes {
            mark(.segmentFull)
            let newest = monitor.withLock { state.committed }
            if !waitUntilDurable(newest.version) { throw .poisoned }
            try startCheckpoint(newest)
        }
    }
}
