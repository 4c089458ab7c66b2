#if RocksDB
    import Harness
    import PackedRows
    import RunRecords

    /// A change reads the row first, since a value is written as a whole. Writers take turns for that, as for a batch
    /// of updates.
    extension RocksDBSession: KeyedRowSession {
        func prepareRows(_ rows: KeyedRows) throws(EngineError) {
            keyedRows = try PackedKeyedRows(rows, try table(rows.table))
        }

        private func prepared() throws(EngineError) -> PackedKeyedRows {
            guard let keyedRows else { throw KeyedRows.notPrepared }
            return keyedRows
        }

        func readRow(_ key: Int64) throws(EngineError) -> ReadDigest {
            let rows = try prepared()
            var digest = ReadDigest()
            self.key.set(rows.table.number, key)
            _ = try store.get(self.key, store.readOptions) { row throws(EngineError) in
                try rows.add(key, row, to: &digest)
            }
            return digest
        }

        /// An iterator shows the version at its creation.
        func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
            let rows = try prepared()
            var digest = ReadDigest()
            try store.scan(rows.table, from: keys.lowerBound) { (key, row) throws(EngineError) in
                guard key < keys.upperBound else { return false }
                try rows.add(key, row, to: &digest)
                return true
            }
            return digest
        }

        func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
            let rows = try prepared()
            try change(key, rows) { old throws(EngineError) in try rows.set(old, to: value) }
        }

        func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
            let rows = try prepared()
            var digest = ReadDigest()
            try change(key, rows) { old throws(EngineError) in
                try rows.add(key, old, to: &digest)
                return try rows.increment(key, old)
            }
            return digest
        }

        private func change(
            _ key: Int64, _ rows: PackedKeyedRows,
            _ body: (UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer
        ) throws(EngineError) {
            let (store, buffer) = (store, self.key)
            try store.readModifyWrite.withLock { _ throws(EngineError) in
                buffer.set(rows.table.number, key)
                try store.write { batch throws(EngineError) in
                    let isThere = try store.get(buffer, store.readOptions) { old throws(EngineError) in
                        batch.put(buffer, try body(old))
                    }
                    if !isThere { throw rows.missing(key) }
                }
            }
        }
    }
#endif
