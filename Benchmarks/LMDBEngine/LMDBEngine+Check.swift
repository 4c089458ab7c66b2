#if LMDB
    import CLMDB
    import Harness

    extension LMDBEngine: CheckingEngine {
        /// LMDB has no check of its own. This does what `mdb_stat` and `mdb_dump` do together: reads all entries, which
        /// must ascend and be as many as the tree's counters say.
        package func check(_ location: DatabaseLocation) throws(EngineError) {
            let environment = try LMDBEnvironment(
                path: location.mainFile, settings: LMDBSettings(durability: .full, tuning: tuning))
            defer { environment.close() }
            try environment.read { transaction throws(EngineError) in
                for (database, status) in try transaction.stands() {
                    let hasNumbers = database != environment.database
                    let read = try transaction.readAllEntries(database, hasNumbers: hasNumbers)
                    if read != status.ms_entries {
                        throw EngineError(
                            .damaged, "the tree states \(status.ms_entries) entries, a scan found \(read)")
                    }
                }
            }
        }
    }

    extension LMDBTransaction {
        /// Iterates over every entry of a database and reads each value completely.
        ///
        /// - Parameter hasNumbers: whether its keys are ordered as numbers, not by bytes.
        /// Throws: of kind `damaged` where a key does not follow the one before it.
        func readAllEntries(_ database: MDB_dbi, hasNumbers: Bool) throws(EngineError) -> Int {
            let cursor = try openCursor(database)
            defer { mdb_cursor_close(cursor) }
            var key = MDB_val()
            var value = MDB_val()
            var count = 0
            var touched: UInt64 = 0
            var last: [UInt8] = []
            var status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
            while status == 0 {
                let bytes = UnsafeRawBufferPointer(key)
                let follows = count == 0 || Self.precedes(last, bytes, hasNumbers)
                guard follows else { throw EngineError(.damaged, "entry \(count) does not follow the one before it") }
                last.replaceSubrange(0..., with: bytes)
                for byte in UnsafeRawBufferPointer(value) { touched = touched &* 31 &+ UInt64(byte) }
                count += 1
                status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            }
            if status != MDB_NOTFOUND { try LMDBEnvironment.check(status) }
            withExtendedLifetime(touched) {}
            return count
        }

        private static func precedes(_ last: [UInt8], _ next: UnsafeRawBufferPointer, _ hasNumbers: Bool) -> Bool {
            guard hasNumbers else { return last.lexicographicallyPrecedes(next) }
            guard let a = last.withUnsafeBytes(LMDBTables.number), let b = LMDBTables.number(next) else { return false }
            return a < b
        }
    }
#endif
