#if LMDB
    import CLMDB
    import Harness

    extension LMDBEngine: CheckingEngine {
        /// It has no check of its own. What `mdb_stat` and `mdb_dump` do together stands for one: the number of entries
        /// that the tree counts has to come when all of them are read, in ascending order.
        package func check(_ location: DatabaseLocation) throws(EngineError) {
            let environment = try LMDBEnvironment(
                path: location.mainFile, settings: LMDBSettings(durability: .full, tuning: tuning))
            defer { environment.close() }
            var status = MDB_stat()
            try LMDBEnvironment.check(mdb_env_stat(environment.handle, &status))
            let counted = status.ms_entries
            let read = try environment.read { transaction throws(EngineError) in try transaction.readAllEntries() }
            if read != counted {
                throw EngineError(.damaged, "the tree counts \(counted) entries, and \(read) came")
            }
        }
    }

    extension LMDBTransaction {
        /// Goes through every entry and touches each value from end to end.
        /// Throws: of kind `damaged` where a key does not follow the one before it.
        func readAllEntries() throws(EngineError) -> Int {
            let cursor = try openCursor()
            defer { mdb_cursor_close(cursor) }
            var key = MDB_val()
            var value = MDB_val()
            var count = 0
            var touched: UInt64 = 0
            var last: [UInt8] = []
            var status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
            while status == 0 {
                let bytes = UnsafeRawBufferPointer(key)
                let follows = count == 0 || last.lexicographicallyPrecedes(bytes)
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
    }
#endif
