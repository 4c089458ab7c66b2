#if LMDB
    import CLMDB
    import Files
    import Harness
    import Measuring
    import PackedRows
    import Platform
    import RunRecords

    /// A thread's session on an environment. Each call is one transaction, unless documented otherwise.
    final class LMDBSession: TableSession {
        let path: String
        private let settings: LMDBSettings
        private(set) var environment: LMDBEnvironment
        private var isOpen = true
        private var catalogue: PackedCatalogue?
        let key = KeyBuffer()
        var pinned: [SnapshotToken: LMDBTransaction] = [:]
        var pinCount = 0
        /// Of `TransactionSession`.
        var running: LMDBTransaction?
        /// Of `KeyedRowSession`.
        var keyedRows: LMDBKeyedRows?

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
            for transaction in pinned.values { transaction.abort() }
            pinned = [:]
            running?.abort()
            running = nil
            keyedRows?.reader.abort()
            keyedRows = nil
            LMDBEnvironment.open.letGo(path) { $0.close() }
        }

        // MARK: Tables

        /// The table as the database has it.
        func table(_ name: String) throws(EngineError) -> PackedTable {
            let table = try entry(name)
            try environment.tables?.require(table.number, in: environment)
            return table
        }

        private func entry(_ name: String) throws(EngineError) -> PackedTable {
            if let catalogue { return try catalogue.table(name) }
            if let known = PackedCatalogue.known(name) { return known }
            let read = try environment.read { transaction throws(EngineError) in
                try PackedCatalogue.catalogueBytes { key throws(EngineError) in try transaction.get(key) }
            }
            guard let read else { throw EngineError(.untold, "there are no tables yet") }
            let catalogue = try PackedCatalogue(bytes: read)
            self.catalogue = catalogue
            return try catalogue.table(name)
        }

        func create(_ tables: TableSet) throws(EngineError) {
            let catalogue = try PackedCatalogue(tables)
            try environment.write { transaction throws(EngineError) in try Self.write(catalogue, transaction) }
            self.catalogue = catalogue
        }

        private static func write(
            _ catalogue: PackedCatalogue, _ transaction: LMDBTransaction
        ) throws(EngineError) {
            try transaction.create(catalogue.tables.map(\.number))
            try PackedCatalogue.withKey { key throws(EngineError) in
                try catalogue.withBytes { bytes throws(EngineError) in
                    try transaction.put(key, bytes, flags: MDB_NOOVERWRITE)
                }
            }
        }

        func load(_ tables: TableSet) throws(EngineError) {
            let catalogue = try PackedCatalogue(tables)
            let key = key
            try environment.write { transaction throws(EngineError) in
                try Self.write(catalogue, transaction)
                for (table, rows) in zip(catalogue.tables, tables.tables) {
                    try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                        for row in 0..<rows.rowCount {
                            key.set(table.number, packer.key(row) ?? Int64(row))
                            try transaction.put(key, packer.pack(row), flags: MDB_APPEND)
                        }
                    }
                }
            }
            self.catalogue = catalogue
        }

        func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
            let table = try table(rows.name)
            let environment = environment
            let key = key
            try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                func insert(_ row: Int) throws(EngineError) {
                    try environment.write { transaction throws(EngineError) in
                        let number: Int64
                        if let own = packer.key(row) {
                            number = own
                        } else {
                            number = try transaction.lastKey(table).map { $0 + 1 } ?? 0
                        }
                        key.set(table.number, number)
                        try transaction.put(key, packer.pack(row), flags: MDB_NOOVERWRITE)
                    }
                }
                for row in 0..<rows.rowCount {
                    if let latency {
                        try latency.time { () throws(EngineError) in try insert(row) }
                    } else {
                        try insert(row)
                    }
                }
            }
            return rows.rowCount
        }

        func insertAll(_ rows: Table) throws(EngineError) {
            let table = try table(rows.name)
            let (environment, key) = (environment, key)
            try RowPacker.with(rows, as: table) { packer throws(EngineError) in
                try environment.write { transaction throws(EngineError) in
                    let first = try transaction.lastKey(table).map { $0 + 1 } ?? 0
                    for row in 0..<rows.rowCount {
                        key.set(table.number, packer.key(row) ?? first + Int64(row))
                        try transaction.put(key, packer.pack(row), flags: MDB_NOOVERWRITE)
                    }
                }
            }
        }

        func rowCount(table: String) throws(EngineError) -> Int {
            let table = try self.table(table)
            var count = 0
            try environment.read { transaction throws(EngineError) in
                try transaction.scan(table) { (_, _) throws(EngineError) in
                    count += 1
                    return true
                }
            }
            return count
        }

        func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
            for wanted in schema.tables {
                let table = try table(wanted.name)
                var isWanted = true
                try environment.read { transaction throws(EngineError) in
                    try transaction.scan(table) { (key, value) throws(EngineError) in
                        let values = try table.values(key, value)
                        isWanted = sink.receive(table: table.name, row: Int(key), values: values)
                        return isWanted
                    }
                }
                if !isWanted { return }
            }
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
        func compact() throws(EngineError) {
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
            if let failure { throw failure }
            if !isRenamed { throw EngineError(.refused, "cannot rename \(copy)") }
        }
    }
#endif
