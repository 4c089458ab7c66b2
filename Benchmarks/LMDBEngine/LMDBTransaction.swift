#if LMDB
    import CLMDB
    import Harness
    import PackedRows

    /// A transaction, used by one thread at a time.
    ///
    /// The compiler specialises the loops of `KeyValueSession` for this type only if it comes to `LMDBSession.swift`
    /// before this file, which the order of their names ensures. Otherwise each row costs a call by the witness table:
    /// docs/decisions/0069-malloc.md.
    final class LMDBTransaction: KeyValueVersion, KeyValueTransaction, KeyValuePin {
        private var handle: OpaquePointer?
        private let database: MDB_dbi
        private let tables: LMDBTables?

        init(_ environment: LMDBEnvironment, flags: UInt32) throws(EngineError) {
            try environment.requireOpen()
            database = environment.database
            tables = environment.tables
            try LMDBEnvironment.check(mdb_txn_begin(environment.handle, nil, flags, &handle))
        }

        /// The handle is invalid afterwards, also after an error.
        func commit() throws(EngineError) {
            let status = mdb_txn_commit(handle)
            handle = nil
            try LMDBEnvironment.check(status)
        }

        /// For a read transaction: releases its version and takes the newest.
        @inline(__always)
        func takeNewest() throws(EngineError) {
            mdb_txn_reset(handle)
            try LMDBEnvironment.check(mdb_txn_renew(handle))
        }

        /// Does nothing after a commit.
        func abort() {
            if let handle { mdb_txn_abort(handle) }
            handle = nil
        }

        func release() { abort() }

        /// Runs the body with the key as its database needs it: as 8 bytes in native order if the library compares
        /// integers, else unchanged.
        @inline(__always)
        private func with<Output>(_ key: KeyBuffer, _ body: (MDB_dbi, inout MDB_val) -> Output) -> Output {
            guard let tables else {
                var value = MDB_val(mv_size: PackedKey.byteCount, mv_data: key.start)
                return body(database, &value)
            }
            var number = LMDBTables.key(key)
            return withUnsafeMutableBytes(of: &number) { bytes in
                var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
                return body(tables.database(of: key), &value)
            }
        }

        @inline(__always) @discardableResult
        func get(
            _ key: KeyBuffer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
        ) throws(EngineError) -> Bool {
            var value = MDB_val()
            return try found(with(key) { mdb_get(handle, $0, &$1, &value) }, &value, body)
        }

        @discardableResult
        func get(
            _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
        ) throws(EngineError) -> Bool {
            var key = MDB_val(key)
            var value = MDB_val()
            return try found(mdb_get(handle, database, &key, &value), &value, body)
        }

        @inline(__always)
        private func found(
            _ status: Int32, _ value: inout MDB_val, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
        ) throws(EngineError) -> Bool {
            if status == MDB_NOTFOUND { return false }
            try LMDBEnvironment.check(status)
            try body(UnsafeRawBufferPointer(value))
            return true
        }

        @inline(__always)
        func put(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
            try put(key, value, flags: 0)
        }

        @inline(__always)
        func append(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
            try put(key, value, flags: MDB_APPEND)
        }

        @inline(__always)
        func insert(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer, into table: PackedTable) throws(EngineError) {
            try put(key, value, flags: MDB_NOOVERWRITE)
        }

        @inline(__always)
        func insertNew(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
            try put(key, value, flags: MDB_NOOVERWRITE)
        }

        @inline(__always)
        private func put(_ key: KeyBuffer, _ value: UnsafeRawBufferPointer, flags: Int32) throws(EngineError) {
            var value = MDB_val(value)
            try LMDBEnvironment.check(with(key) { mdb_put(handle, $0, &$1, &value, UInt32(flags)) })
        }

        func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
            try put(key, value, flags: 0)
        }

        private func put(
            _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, flags: Int32
        ) throws(EngineError) {
            var (key, value) = (MDB_val(key), MDB_val(value))
            try LMDBEnvironment.check(mdb_put(handle, database, &key, &value, UInt32(flags)))
        }

        /// Creates the databases of the tables first, if each table has a database of its own. LMDB refuses a second
        /// catalogue.
        func create(_ catalogue: PackedCatalogue) throws(EngineError) {
            if let tables { try LMDBEnvironment.check(tables.create(catalogue.tables.map(\.number), handle)) }
            try PackedCatalogue.withKey { key throws(EngineError) in
                try catalogue.withBytes { bytes throws(EngineError) in
                    try put(key, bytes, flags: MDB_NOOVERWRITE)
                }
            }
        }

        @inline(__always)
        func delete(_ key: KeyBuffer) throws(EngineError) {
            let status = with(key) { mdb_del(handle, $0, &$1, nil) }
            if status != MDB_NOTFOUND { try LMDBEnvironment.check(status) }
        }

        /// For a read transaction: releases its version until `takeNewest`.
        @inline(__always)
        func rest() { mdb_txn_reset(handle) }

        @inline(__always)
        func scan(
            _ table: PackedTable, from lowest: Int64, before highest: Int64?,
            _ body: (Int64, UnsafeRawBufferPointer) throws(EngineError) -> Bool
        ) throws(EngineError) {
            let first = KeyBuffer()
            first.set(table.number, lowest)
            var cursor: OpaquePointer?
            try LMDBEnvironment.check(
                mdb_cursor_open(handle, tables?.database(of: first) ?? database, &cursor))
            defer { mdb_cursor_close(cursor) }
            var (key, value) = (MDB_val(), MDB_val())
            var status = with(first) { _, start in
                let status = mdb_cursor_get(cursor, &start, &value, MDB_SET_RANGE)
                key = start
                return status
            }
            while status == 0 {
                guard let number = number(key, of: table) else { break }
                if let highest, number >= highest { return }
                guard try body(number, UnsafeRawBufferPointer(value)) else { return }
                status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
            if status != MDB_NOTFOUND { try LMDBEnvironment.check(status) }
        }

        /// Checks a key only to find the end of the table.
        @inline(__always)
        func scanValues(
            _ table: PackedTable, _ body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
        ) throws(EngineError) {
            let first = KeyBuffer()
            first.set(table.number, .min)
            var cursor: OpaquePointer?
            try LMDBEnvironment.check(
                mdb_cursor_open(handle, tables?.database(of: first) ?? database, &cursor))
            defer { mdb_cursor_close(cursor) }
            // In a table's own database every key belongs to it.
            let number = tables == nil ? table.number : nil
            var (key, value) = (MDB_val(), MDB_val())
            var status = with(first) { _, start in
                let status = mdb_cursor_get(cursor, &start, &value, MDB_SET_RANGE)
                key = start
                return status
            }
            while status == 0, number == nil || key.mv_data.load(as: UInt8.self) == number {
                try body(UnsafeRawBufferPointer(value))
                status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
            if status != 0 && status != MDB_NOTFOUND { try LMDBEnvironment.check(status) }
        }

        /// nil where the key belongs to another table.
        @inline(__always)
        private func number(_ key: MDB_val, of table: PackedTable) -> Int64? {
            let bytes = UnsafeRawBufferPointer(key)
            return tables == nil ? PackedKey.read(bytes, of: table.number) : LMDBTables.number(bytes)
        }

        /// A cursor over a whole database, the unnamed one unless another is given. The caller closes it.
        func openCursor(_ other: MDB_dbi? = nil) throws(EngineError) -> OpaquePointer? {
            var cursor: OpaquePointer?
            try LMDBEnvironment.check(mdb_cursor_open(handle, other ?? database, &cursor))
            return cursor
        }

        /// Statistics of the databases: the unnamed one first, then those of tables.
        func stands() throws(EngineError) -> [(database: MDB_dbi, status: MDB_stat)] {
            var found: [(database: MDB_dbi, status: MDB_stat)] = []
            for place in [database] + (tables?.all ?? []) {
                var status = MDB_stat()
                try LMDBEnvironment.check(mdb_stat(handle, place, &status))
                found.append((place, status))
            }
            return found
        }

        func lastKey(_ table: PackedTable) throws(EngineError) -> Int64? {
            let after = KeyBuffer()
            // In a table's own database the last key; else the one before the next table's first key.
            after.set(tables == nil ? table.number + 1 : table.number, .min)
            var cursor: OpaquePointer?
            try LMDBEnvironment.check(
                mdb_cursor_open(handle, tables?.database(of: after) ?? database, &cursor))
            defer { mdb_cursor_close(cursor) }
            var (key, value) = (MDB_val(), MDB_val())
            var status: Int32 = MDB_NOTFOUND
            if tables == nil {
                status = with(after) { mdb_cursor_get(cursor, &$1, &value, MDB_SET_RANGE) }
            }
            status = mdb_cursor_get(cursor, &key, &value, status == MDB_NOTFOUND ? MDB_LAST : MDB_PREV)
            if status == MDB_NOTFOUND { return nil }
            try LMDBEnvironment.check(status)
            return number(key, of: table)
        }
    }
#endif
