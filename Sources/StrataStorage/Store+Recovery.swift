internal import StrataFiles

// Recovery runs alone, before any version is shown, and can crash at any point and run again: it writes only pages
// that the last durable checkpoint does not use, and the slot that it did not start from.

extension Store {
    /// Makes what a dead process wrote durable, before anything is built on it.
    ///
    /// Its last header slot may stand in the page cache alone: the next process reads it, and a loss of power takes it
    /// away. Until then the slot before is the one in force: the pages of its version must not be written over, the
    /// file not cut behind it, and no slot say that nothing is left to be replayed. The write gate is held, nothing was
    /// written yet.
    func secureInheritance() throws(StorageError) {
        if options.readOnly { return }
        do throws(FileError) { try file.syncData() } catch {
            // What it covered stays in doubt, and no sync is tried again.
            poison()
            throw StorageError(error)
        }
    }

    /// Replays the log on top of the last checkpoint and makes the result durable; in a read-only store, the result
    /// stays in memory. The write gate is held.
    /// - Parameters:
    ///   - base: the last checkpoint.
    ///   - visible: the newest version that other processes have seen, when there are any.
    /// - Returns: the newest version.
    func recover(_ base: VersionState, visible: UInt64? = nil) throws(StorageError) -> VersionState {
        let slot = writer.slot
        let log = try LogFile.open(
            fileSystem: fileSystem, path: Self.logPath(path), storeID: slot.storeID, salt: slot.salt,
            readOnly: options.readOnly, cipher: options.cipher)
        defer { log.close() }
        guard log.header.baseVersion <= slot.checkpoint else {
            throw .corrupt(page: PageNumber(UInt32(writer.slotIndex)), offset: 40, reason: .header)
        }
        let transaction = try makeTransaction(base, isReplay: true)
        let last: UInt64
        do throws(StorageError) {
            last = try log.replay(
                fromSegment: Int(slot.logSegment), firstLSN: slot.checkpoint.rawValue + 1,
                toleratesLoss: options.toleratesLogLoss
            ) { (payload, first, last) throws(StorageError) in
                var records = RecordSequence(payload, firstLSN: first, lastLSN: last)
                while let record = try records.next() { try transaction.replay(record) }
            }.lastLSN
            // What others have seen must come back.
            if let visible, last < visible { throw StorageError.poisoned }
            try transaction.flushAll()
        } catch {
            transaction.rollback()
            // A record that verifies and cannot be done contradicts the checkpoint.
            if case .misuse = error { throw .logCorrupt(path: log.path, offset: 0) }
            throw error
        }
        var newest = base
        let isReplayed = last > slot.checkpoint.rawValue
        mark(isReplayed ? .replayed : .emptyLog)
        if isReplayed {
            newest = try finishReplay(transaction, last, isShared: visible != nil)
        } else {
            transaction.rollback()
        }
        if !options.readOnly { try settle(isHalfDone: isReplayed) }
        return newest
    }

    private func finishReplay(
        _ transaction: WriteTransaction, _ last: UInt64, isShared: Bool
    ) throws(StorageError) -> VersionState {
        transaction.version = last
        let version: VersionState
        do throws(StorageError) {
            version = try transaction.place()
            try reader.confirm()
        } catch {
            transaction.rollback()
            throw error
        }
        allocator.allocator.protect(last)
        allocator.allocator.settle(transaction.nodes)
        // Others may read a version of the same number that a dead process made of other pages.
        allocator.allocator.bury(transaction.nodes.dead, freed: isShared ? last + 1 : last)
        transaction.nodes.discard(all: false)
        transaction.isEnded = true
        transaction.view.writer = nil
        transaction.nodes.arena.reset()
        if options.readOnly {
            mark(.replayedInMemory)
            return version
        }
        let plan = try prepareCheckpoint(version, isFinal: true)
        guard run(plan, paced: false) else { throw .poisoned }
        return version
    }

    /// Lets a recovered version be seen. It is protected for that already.
    func show(_ version: VersionState) {
        monitor.withLock {
            state.committed = version
            state.unpublished = [version]
            publish(through: version.version)
        }
    }

    /// Both slots say that the newest checkpoint is all there is, durably; then the log goes. The slot in force is
    /// durable already.
    ///
    /// Both, so that one of them alone says it too: were the newer one lost, the other would be older than what was
    /// shown since.
    /// - Parameter isHalfDone: this session has just written one of the two, and synced it.
    func settle(isHalfDone: Bool) throws(StorageError) {
        var slot = writer.slot
        slot.makeClean()
        if !isHalfDone { try writeSlot(slot) }
        try writeSlot(slot)
        try LogFile.remove(fileSystem: fileSystem, path: Self.logPath(path))
    }
}

extension WriteTransaction {
    /// Applies the changes of one commit.
    func replay(_ record: UnsafeRawBufferPointer) throws(StorageError) {
        var changes = try ChangeReader(record)
        let created = changes.lsn
        while let change = try changes.next() {
            switch change {
            case .insert(let table, let key):
                let position = try position(table)
                let columns = view.state.schema.tables[position].columns
                guard columns.map(\.id) == changes.columns else { throw Self.unexpected }
                try insert(position, key: key, created: created, changes.cells)
            case .set(let table, let key, let column, let cell):
                let position = try position(table)
                guard let index = view.state.schema.tables[position].position(of: column) else {
                    throw Self.unexpected
                }
                try set(position, key, index, cell)
            case .delete(let table, let key): try delete(try position(table), key)
            case .deleteAll(let table): try deleteAll(try position(table))
            case .schema(let bytes): try apply(schema: try SchemaCoding.decode(bytes))
            case .nextKey(let table, let key):
                view.state.tables[try position(table)].nextKey = key.rawValue
                if !isReplay { workspace.recorder.nextKey(table, key) }
            }
        }
    }

    private static var unexpected: StorageError {
        .corrupt(page: PageNumber(0), offset: 0, reason: .structure)
    }

    private func position(_ table: TableID) throws(StorageError) -> Int {
        guard let position = view.state.schema.position(of: table) else { throw Self.unexpected }
        return position
    }
}
