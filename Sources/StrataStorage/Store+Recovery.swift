internal import StrataFiles

// Recovery runs alone, before any version is shown, and can crash at any point and run again: it writes only pages
// that the last durable checkpoint does not use, and the slot that it did not start from.

extension Store {
    /// Replays the log on top of the last checkpoint and makes the result durable.
    func recover() throws(StorageError) {
        let slot = writer.slot
        let log = try LogFile.open(
            fileSystem: fileSystem, path: Self.logPath(path), storeID: slot.storeID, salt: slot.salt,
            cipher: options.cipher)
        defer { log.close() }
        guard log.header.baseVersion <= slot.checkpoint else {
            throw .corrupt(page: PageNumber(UInt32(writer.slotIndex)), offset: 40, reason: .header)
        }
        gate.acquire()
        let transaction: WriteTransaction
        do throws(StorageError) {
            transaction = try makeTransaction(state.committed, isReplay: true)
        } catch {
            gate.release()
            throw error
        }
        let last: UInt64
        do throws(StorageError) {
            last = try log.replay(
                fromSegment: Int(slot.logSegment), firstLSN: slot.checkpoint.rawValue + 1
            ) { (payload, first, last) throws(StorageError) in
                var records = RecordSequence(payload, firstLSN: first, lastLSN: last)
                while let record = try records.next() { try transaction.replay(record) }
            }.lastLSN
            try transaction.flushAll()
        } catch {
            transaction.rollback()
            throw error
        }
        let isReplayed = last > slot.checkpoint.rawValue
        if isReplayed { try finishReplay(transaction, last) } else { transaction.rollback() }
        try settle(isHalfDone: isReplayed)
    }

    private func finishReplay(_ transaction: WriteTransaction, _ last: UInt64) throws(StorageError) {
        transaction.version = last
        let version: VersionState
        do throws(StorageError) { version = try transaction.place() } catch {
            transaction.rollback()
            throw error
        }
        allocator.allocator.protect(last)
        allocator.allocator.settle(transaction.nodes)
        allocator.allocator.bury(transaction.nodes.dead, freed: last)
        allocator.allocator.giveBack(transaction.nodes.abandoned)
        monitor.withLock {
            state.committed = version
            state.unpublished = [version]
            publish(through: last)
        }
        transaction.isEnded = true
        transaction.view.writer = nil
        transaction.nodes.arena.reset()
        defer { gate.release() }
        let plan = try prepareCheckpoint(version, isFinal: true)
        guard run(plan, paced: false) else { throw .poisoned }
    }

    /// Both slots say that the newest checkpoint is all there is, durably; then the log goes.
    ///
    /// Both, because what a dead process left in the page cache may not be durable: were one of them lost, the other
    /// would be older than what was shown since.
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
            case .nextKey(let table, let key): view.state.tables[try position(table)].nextKey = key.rawValue
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
