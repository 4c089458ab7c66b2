internal import StrataFiles

// A transaction in a process that does not own writing. It is made here, in memory, and committed by the owner: only
// what was done is handed over, as a record. A transaction that has to write pages before its commit (long values, more
// than fits memory, a record above the limit) takes ownership instead, in the middle.

extension Store {
    /// Bytes of a record that another process commits.
    static let guestRecordBytes = 256 << 10

    /// Whether this process may work under another one's turn. A record would stand unsealed beside an encrypted store.
    var acceptsGrants: Bool {
        guard let table, options.cipher == nil else { return false }
        return table.memory.load32(ProcessTable.Layout.durabilityOffset) == options.durability.code
    }

    /// Starts a transaction under another process's turn. The write gate is held.
    func makeGuest(_ grant: Grant) throws(StorageError) -> WriteTransaction {
        guard let table else { throw .closed }
        do throws(StorageError) {
            pages.admit(grant.base.pages)
            var base = VersionState.empty
            if !grant.base.root.isNull {
                base = try RootNode.read(grant.base.root, reader, known: monitor.withLock { state.visible })
            }
            try reader.confirm()
            guard base.version == grant.base.version else {
                throw StorageError.corrupt(page: PageNumber(grant.base.root.page), offset: 24, reason: .structure)
            }
            let workspace: WriterWorkspace
            if let kept = writer.workspace { workspace = kept } else { workspace = try makeWorkspace() }
            workspace.begin(base, recordLimit: Self.guestRecordBytes)
            let transaction = WriteTransaction(store: self, base: base, workspace: workspace)
            transaction.grant = grant
            workspace.nodes.beforeFirstPage = { [unowned transaction] () throws(StorageError) in
                try transaction.store.claim(transaction, grant, canRepeat: false)
            }
            return transaction
        } catch {
            table.giveUp(grant)
            throw error
        }
    }

    /// Makes the process of a running transaction the owner of writing.
    /// - Parameter canRepeat: no operation is under way, and the record holds all that was done.
    /// - Throws: `commitOutcomeUnknown` when the owner died, and what the transaction is based on did not come back.
    func claim(_ transaction: WriteTransaction, _ grant: Grant, canRepeat: Bool) throws(StorageError) {
        guard let table else { throw .closed }
        mark(.guestClaimed)
        transaction.grant = nil
        transaction.nodes.beforeFirstPage = nil
        table.claim(grant)
        // A recovery on the way must not meet the nodes and the record of the open transaction.
        writer.workspace = nil
        defer { writer.workspace = transaction.workspace }
        try ensureOwner()
        let committed = monitor.withLock { state.committed }
        let isSame = committed.version == grant.base.version
        if isSame, committed.root == grant.base.root { return try loadFreeMap() }
        // The owner died meanwhile.
        guard canRepeat, isSame, isOnlyDeath(since: grant, table, recovered: committed.version) else {
            throw .commitOutcomeUnknown(TransactionID(transaction.version))
        }
        mark(.guestOutlivedOwner)
        let bytes = transaction.workspace.recorder.finish(lsn: transaction.version)
        let record = [UInt8](bytes)
        transaction.rebase(committed)
        try loadFreeMap()
        try transaction.repeatChanges(record)
    }

    /// Whether the owner died, this process came after it, and nothing was committed since but what the log held.
    private func isOnlyDeath(since grant: Grant, _ table: ProcessTable, recovered version: UInt64) -> Bool {
        table.deaths == grant.deaths + 1 && table.recovered(grant.deaths) == version
    }

    /// Hands a finished transaction to the owner, and waits until it is durable. Gives the write gate back.
    func commitAsGuest(_ transaction: WriteTransaction, _ grant: Grant) throws(StorageError) -> TransactionID {
        guard let table else { throw .closed }
        let version = TransactionID(transaction.version)
        noteOwn(transaction)
        // Before the record is handed in: whoever publishes its version wakes those that wait, and the answer none.
        changeWaiters(table, by: 1)
        let failure = handInAndWait(transaction, grant, table)
        changeWaiters(table, by: -1)
        if let failure {
            monitor.withLock { state.guestNotices[version.rawValue] = nil }
            throw failure
        }
        refreshForObservers()
        deliverNotices()
        return version
    }

    /// - Returns: why the transaction is not committed.
    private func handInAndWait(_ transaction: WriteTransaction, _ grant: Grant, _ table: ProcessTable) -> StorageError?
    {
        let version = transaction.version
        let outcome = handIn(transaction, grant, table)
        var failure: StorageError?
        switch outcome {
        case .refused(let error): failure = error
        case .ownerGone:
            mark(.guestOutlivedOwner)
            do throws(StorageError) { try commitAgain(transaction, grant) } catch { failure = error }
        case .applied: break
        }
        end(transaction)
        gate.release()
        if failure == nil, case .applied = outcome, !waitUntilPublished(version, grant) {
            failure = .commitOutcomeUnknown(TransactionID(version))
        }
        return failure
    }

    private func handIn(
        _ transaction: WriteTransaction, _ grant: Grant, _ table: ProcessTable
    ) -> ProcessTable.Outcome {
        do throws(StorageError) {
            let record = transaction.workspace.recorder.finish(lsn: transaction.version)
            try table.submit(grant, record, isInHurry: gate.hasWaiters)
        } catch {
            table.giveUp(grant)
            return .refused(error)
        }
        do throws(StorageError) { return try table.awaitOutcome(grant) } catch {
            // The table is of no use any more.
            return .refused(.commitOutcomeUnknown(TransactionID(transaction.version)))
        }
    }

    /// The owner died with a record of this process. The write gate is held.
    private func commitAgain(_ transaction: WriteTransaction, _ grant: Grant) throws(StorageError) {
        let version = transaction.version
        let record = transaction.workspace.recorder.finish(lsn: version)
        let copy = [UInt8](record)
        end(transaction)
        guard let table else { throw .closed }
        do throws(StorageError) { try ensureOwner() } catch { throw .commitOutcomeUnknown(TransactionID(version)) }
        guard let recovered = table.recovered(grant.deaths) else { throw .commitOutcomeUnknown(TransactionID(version)) }
        // Only this process could make that version: it was in the log.
        if recovered >= version { return }
        let committed = monitor.withLock { state.committed }
        guard committed.version == grant.base.version, isOnlyDeath(since: grant, table, recovered: committed.version)
        else { throw .commitOutcomeUnknown(TransactionID(version)) }
        try apply(copy, committed)
        if !waitUntilDurable(version) { throw .commitOutcomeUnknown(TransactionID(version)) }
    }

    /// Gives a transaction up. Gives the write gate back.
    /// - Returns: whether its base is durable.
    func giveUp(_ transaction: WriteTransaction, _ grant: Grant) -> Bool {
        transaction.nodes.beforeFirstPage = nil
        table?.giveUp(grant)
        gate.release()
        return waitUntilPublished(grant.base.version, grant)
    }

    private func end(_ transaction: WriteTransaction) {
        if transaction.isEnded { return }
        transaction.isEnded = true
        transaction.view.writer = nil
        transaction.nodes.beforeFirstPage = nil
        transaction.nodes.arena.reset()
    }

    /// Keeps what a transaction changed for the observers: nobody else can tell them.
    private func noteOwn(_ transaction: WriteTransaction) {
        monitor.withLock {
            if state.observers.isEmpty { return }
            state.guestNotices[transaction.version] = CommitNotice(
                version: TransactionID(transaction.version), changes: transaction.changes.result,
                schemaChanged: transaction.schemaChanged)
        }
    }

    private func refreshForObservers() {
        if monitor.withLock({ state.observers.isEmpty || state.isOwner }) { return }
        // A damaged version is reported to whoever reads it.
        do throws(StorageError) { _ = try snapshot() } catch {}
    }

    /// Waits until the owner has made a version durable and visible.
    /// - Parameter recovers: comes after an owner that died. The write gate is not held then.
    /// - Returns: false when it may not be, or is lost with its owner.
    func waitUntilPublished(_ version: UInt64, _ grant: Grant, recovers: Bool = true) -> Bool {
        guard let table else { return false }
        changeWaiters(table, by: 1)
        defer { changeWaiters(table, by: -1) }
        var nextLook = options.scheduling.deadline(after: ProcessTable.step)
        while true {
            let value = table.guestBell
            let newest = table.newest.version
            table.memory.fence()
            if table.deaths != grant.deaths { return table.recovered(grant.deaths).map { $0 >= version } ?? false }
            if newest >= version { return true }
            if table.isPoisoned || table.isEnded { return false }
            table.waitAsGuest(value)
            if !table.isTimeToLook(&nextLook, rang: table.guestBell != value) { continue }
            do throws(StorageError) {
                guard try table.isGone(grant), table.newest.version < version else { continue }
                if !recovers { return false }
                gate.acquire()
                defer { gate.release() }
                try ensureOwner()
            } catch {
                return false
            }
        }
    }

    private func changeWaiters(_ table: ProcessTable, by count: Int) {
        monitor.withLock {
            state.waiters += count
            table.setWaiters(state.waiters)
            if state.waiters == 0 { monitor.wakeAll() }
        }
    }
}

extension WriteTransaction {
    /// Takes ownership before an operation that this process may not do without.
    func prepareAsGuest(_ cells: UnsafeBufferPointer<Cell>) throws(StorageError) {
        var bytes = 0
        var isLong = false
        for cell in cells where cell.kind == .bytes {
            bytes += cell.count
            if cell.count > nodes.limits.inlineBytes { isLong = true }
        }
        try prepareAsGuest(cells: cells.count, bytes: bytes, isLong: isLong)
    }

    func prepareAsGuest(_ cell: Cell) throws(StorageError) {
        let bytes = cell.kind == .bytes ? cell.count : 0
        try prepareAsGuest(cells: 1, bytes: bytes, isLong: bytes > nodes.limits.inlineBytes)
    }

    private func prepareAsGuest(cells: Int, bytes: Int, isLong: Bool) throws(StorageError) {
        guard let grant else { return }
        let used = workspace.recorder.byteCount
        let isTooLarge = workspace.recorder.isTooLarge
        // Cells without bytes, and their columns, take less than 32.
        if !isLong, used + bytes + 32 * (cells + 1) <= Store.guestRecordBytes { return }
        do throws(StorageError) { try store.claim(self, grant, canRepeat: !isTooLarge) } catch { throw noted(error) }
    }

    /// Does what a record says, as if it were done here.
    func repeatChanges(_ record: [UInt8]) throws(StorageError) {
        var failure: StorageError?
        record.withUnsafeBytes { bytes in
            do throws(StorageError) {
                var records = RecordSequence(bytes, firstLSN: version, lastLSN: version)
                while let record = try records.next() { try replay(record) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
