#if LMDB
    import CLMDB
    import Harness
    import PackedRows
    import Platform

    /// An open environment with its one database.
    ///
    /// `@unchecked Sendable`: the library lets every thread use an environment, and its own lock orders the writers.
    final class LMDBEnvironment: @unchecked Sendable {
        static let open = OpenStores<LMDBEnvironment>()

        let handle: OpaquePointer
        let database: MDB_dbi
        /// The databases of tables, where keys are integers.
        let tables: LMDBTables?
        /// Set by ``close()``, which is called only while a single session has the environment: no lock is needed.
        private var isClosed = false

        /// The path of a compaction's copy, which stays after a kill.
        static func compactionCopy(_ path: String) -> String { path + "-compact" }

        init(path: String, settings: LMDBSettings) throws(EngineError) {
            var raw: OpaquePointer?
            try Self.check(mdb_env_create(&raw))
            guard let raw else { throw EngineError(.refused, "LMDB gave no environment") }
            do throws(EngineError) {
                try Self.check(mdb_env_set_mapsize(raw, LMDBSettings.mapBytes))
                try Self.check(mdb_env_set_maxreaders(raw, LMDBSettings.readers))
                if settings.hasIntegerKeys { try Self.check(mdb_env_set_maxdbs(raw, LMDBTables.most)) }
                try Self.check(mdb_env_open(raw, path, settings.flags, 0o644))
                var transaction: OpaquePointer?
                try Self.check(mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &transaction))
                var database: MDB_dbi = 0
                let tables = settings.hasIntegerKeys ? LMDBTables() : nil
                var status = mdb_dbi_open(transaction, nil, 0, &database)
                if status == 0, let tables { status = tables.openAll(transaction) }
                // A handle stays valid only if the transaction that opened it is committed.
                if status == 0 { try Self.check(mdb_txn_commit(transaction)) } else { mdb_txn_abort(transaction) }
                try Self.check(status)
                self.database = database
                self.tables = tables
            } catch {
                mdb_env_close(raw)
                throw error
            }
            handle = raw
        }

        func close() {
            isClosed = true
            mdb_env_close(handle)
        }

        /// Throws if a compaction closed the environment and could not open it again: its handle is invalid then.
        func requireOpen() throws(EngineError) {
            if isClosed { throw EngineError(.refused, "the environment could not be opened again") }
        }

        static func check(_ status: Int32) throws(EngineError) {
            if status != 0 { throw error(status) }
        }

        static func error(_ status: Int32) -> EngineError {
            let kind: EngineError.Kind =
                switch status {
                case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_VERSION_MISMATCH, MDB_PANIC: .damaged
                case ENOSPC, MDB_MAP_FULL: .outOfSpace
                default: .refused
                }
            return EngineError(kind, "LMDB error \(status): \(String(cString: mdb_strerror(status)))")
        }

        /// Runs the body in a write transaction, and aborts it when the body throws.
        func write<Output>(_ body: (LMDBTransaction) throws(EngineError) -> Output) throws(EngineError) -> Output {
            let transaction = try LMDBTransaction(self, flags: 0)
            do throws(EngineError) {
                let output = try body(transaction)
                try transaction.commit()
                return output
            } catch {
                transaction.abort()
                throw error
            }
        }

        /// Runs the body on the newest version.
        func read<Output>(_ body: (LMDBTransaction) throws(EngineError) -> Output) throws(EngineError) -> Output {
            let transaction = try LMDBTransaction(self, flags: UInt32(MDB_RDONLY))
            defer { transaction.abort() }
            return try body(transaction)
        }
    }

    extension MDB_val {
        @inline(__always)
        init(_ bytes: UnsafeRawBufferPointer) {
            self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        }
    }

    extension UnsafeRawBufferPointer {
        @inline(__always)
        init(_ value: MDB_val) {
            self.init(start: value.mv_data, count: value.mv_size)
        }
    }
#endif
