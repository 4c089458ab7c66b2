#if LMDB
    import CLMDB
    import Files
    import Harness
    import Measuring
    import PackedRows
    import Platform
    import RunRecords

    /// A thread's session on an environment.
    final class LMDBSession: TableSession, QuerySession, SnapshotSession, UpdateSession, DeletionSession,
        KeyedRowSession, TransactionSession
    {
        let path: String
        private let settings: LMDBSettings
        private(set) var environment: LMDBEnvironment
        private var isOpen = true
        let key = KeyBuffer()
        var catalogue: PackedCatalogue?
        var pinned = PinnedVersions<LMDBTransaction>()
        var running: LMDBTransaction?
        var keyedRows: PackedKeyedRows?
        /// The read transaction of all requests. The session resets it between requests, as LMDB advises: a new one
        /// would allocate memory and a slot of LMDB's reader table.
        private var reader: LMDBTransaction?

        init(path: String, settings: LMDBSettings) throws(EngineError) {
            self.path = path
            self.settings = settings
            environment = try LMDBEnvironment.open.store(path) { () throws(EngineError) in
                try LMDBEnvironment(path: path, settings: settings)
            }
        }

        /// All pages except those that the environment counts as free.
        func sizes() throws(EngineError) -> SizePoint {
            let stands = try environment.read { transaction throws(EngineError) in try transaction.stands() }
            let live = stands.reduce(0) { sum, stand in
                let status = stand.status
                let pages = status.ms_branch_pages + status.ms_leaf_pages + status.ms_overflow_pages
                return sum + pages * Int(status.ms_psize)
            }
            do {
                let file = try FileTree.size(path)
                return SizePoint(fileBytes: file, liveBytes: live, freeBytes: max(0, file - live), logBytes: 0)
            } catch {
                throw EngineError(.refused, "\(error)")
            }
        }

        func close() throws(EngineError) {
            guard isOpen else { return }
            isOpen = false
            pinned.releaseAll()
            running?.abort()
            running = nil
            keyedRows = nil
            reader?.abort()
            reader = nil
            LMDBEnvironment.open.letGo(path) { $0.close() }
        }

        func prepareRows(_ rows: KeyedRows) throws(EngineError) {
            let prepared = try PackedKeyedRows(rows, try table(rows.table))
            try beginReader()
            keyedRows = prepared
        }

        private func beginReader() throws(EngineError) {
            let begun = try LMDBTransaction(environment, flags: UInt32(MDB_RDONLY))
            begun.rest()
            reader?.abort()
            reader = begun
        }

        func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
            let points = try PackedPoints(reads, try table(reads.table))
            let buffer = key
            let isEach = reads.snapshot == .each
            return try environment.read { transaction throws(EngineError) in
                try points.each(latency) { (key, digest) throws(EngineError) in
                    if isEach { try transaction.takeNewest() }
                    try points.read(key, from: transaction, buffer, to: &digest)
                }
            }
        }
    }

    extension LMDBSession: KeyValueTransactionSession {
        func table(_ name: String) throws(EngineError) -> PackedTable {
            let table = try storedTable(name)
            try environment.tables?.require(table.number, in: environment)
            return table
        }

        @inline(__always)
        func read<Output>(
            _ reading: KeyValueReading, _ body: (LMDBTransaction) throws(EngineError) -> Output
        ) throws(EngineError) -> Output {
            switch reading {
            case .request, .requestOfRange:
                guard let reader else { throw KeyedRows.notPrepared }
                try reader.takeNewest()
                defer { reader.rest() }
                return try body(reader)
            case .batch, .once: return try environment.read(body)
            }
        }

        @inline(__always)
        func write(_ body: (LMDBTransaction) throws(EngineError) -> Void) throws(EngineError) {
            try environment.write(body)
        }

        /// Begins a read transaction: with MDB_NOTLS a thread may begin several.
        func newestVersion() throws(EngineError) -> LMDBTransaction {
            try LMDBTransaction(environment, flags: UInt32(MDB_RDONLY))
        }

        /// Calls `mdb_txn_begin`, with MDB_RDONLY for reads.
        func transaction(_ access: TransactionAccess) throws(EngineError) -> LMDBTransaction {
            try LMDBTransaction(environment, flags: access == .reading ? UInt32(MDB_RDONLY) : 0)
        }
    }

    extension LMDBSession: SettingsSession {
        func observedSettings() throws(EngineError) -> [EngineSetting] {
            var (flags, readers): (UInt32, UInt32) = (0, 0)
            var (status, info) = (MDB_stat(), MDB_envinfo())
            try environment.requireOpen()
            try LMDBEnvironment.check(mdb_env_get_flags(environment.handle, &flags))
            try LMDBEnvironment.check(mdb_env_get_maxreaders(environment.handle, &readers))
            try LMDBEnvironment.check(mdb_env_stat(environment.handle, &status))
            try LMDBEnvironment.check(mdb_env_info(environment.handle, &info))
            return [
                EngineSetting("flags", LMDBSettings.text(ofFlags: flags)),
                EngineSetting("mapsize", "\(info.me_mapsize)"), EngineSetting("maxreaders", "\(readers)"),
                EngineSetting("pagesize", "\(status.ms_psize)"),
            ]
        }
    }

    extension LMDBSession: CompactionSession {
        /// Replaces the file by a copy without free pages. Other processes must not have it open.
        ///
        /// Throws: `refused` while another session has the environment open, and while this one has a pinned version or
        /// a transaction, whose memory LMDB frees with the environment.
        func compact() throws(EngineError) {
            guard pinned.isEmpty, running == nil else {
                throw EngineError(.refused, "the session has a pinned version or a transaction")
            }
            let copy = LMDBEnvironment.compactionCopy(path)
            let settings = settings
            let path = path
            try environment.requireOpen()
            var failure: EngineError?
            var isRenamed = false
            // Meanwhile no other session can open the environment: its commits after the copy would be lost.
            let reopened = try LMDBEnvironment.open.reopen(path) { old throws(EngineError) in
                do throws(EngineError) {
                    // `mdb_env_copy2` does not overwrite a file, and a killed compaction leaves one.
                    unlink(copy)
                    try LMDBEnvironment.check(mdb_env_copy2(old.handle, copy, UInt32(MDB_CP_COMPACT)))
                    do { try FileTree.sync(copy) } catch { throw EngineError(.refused, "\(error)") }
                } catch {
                    // The session keeps its file until the copy is complete.
                    unlink(copy)
                    failure = error
                    return old
                }
                // A transaction must end before its environment.
                reader?.abort()
                reader = nil
                old.close()
                isRenamed = rename(copy, path) == 0
                if isRenamed {
                    // From now on commits are only in the file with the new name.
                    do { try FileTree.syncDirectory(of: path) } catch { throw EngineError(.refused, "\(error)") }
                }
                // If the copy could not be renamed, this opens the old file, which is intact.
                return try LMDBEnvironment(path: path, settings: settings)
            }
            guard let reopened else { throw EngineError(.refused, "the environment is in use by another session") }
            environment = reopened
            if failure == nil && !isRenamed { failure = EngineError(.refused, "cannot rename \(copy)") }
            if keyedRows != nil && reader == nil {
                do throws(EngineError) { try beginReader() } catch { failure = failure ?? error }
            }
            if let failure { throw failure }
        }
    }
#endif
