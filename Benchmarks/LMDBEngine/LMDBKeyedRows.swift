#if LMDB
    import CLMDB
    import Harness
    import PackedRows
    import RunRecords

    /// A read transaction that is reset between reads, as LMDB advises: a new one costs memory and a slot in its table.
    struct LMDBKeyedRows {
        let rows: PackedKeyedRows
        let reader: LMDBTransaction
    }

    extension LMDBSession: KeyedRowSession {
        func prepareRows(_ rows: KeyedRows) throws(EngineError) {
            let packed = try PackedKeyedRows(rows, try table(rows.table))
            keyedRows?.reader.abort()
            let reader = try LMDBTransaction(environment, flags: UInt32(MDB_RDONLY))
            reader.rest()
            keyedRows = LMDBKeyedRows(rows: packed, reader: reader)
        }

        private func prepared() throws(EngineError) -> LMDBKeyedRows {
            guard let keyedRows else { throw KeyedRows.notPrepared }
            return keyedRows
        }

        func readRow(_ key: Int64) throws(EngineError) -> ReadDigest {
            let own = try prepared()
            var digest = ReadDigest()
            try own.reader.takeNewest()
            defer { own.reader.rest() }
            self.key.set(own.rows.table.number, key)
            if let row = try own.reader.get(self.key) { try own.rows.add(key, row, to: &digest) }
            return digest
        }

        func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
            let own = try prepared()
            var digest = ReadDigest()
            try own.reader.takeNewest()
            defer { own.reader.rest() }
            try own.reader.scan(own.rows.table, from: keys.lowerBound) { (key, row) throws(EngineError) in
                guard key < keys.upperBound else { return false }
                try own.rows.add(key, row, to: &digest)
                return true
            }
            return digest
        }

        func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
            let rows = try prepared().rows
            let buffer = self.key
            try environment.write { transaction throws(EngineError) in
                buffer.set(rows.table.number, key)
                guard let old = try transaction.get(buffer) else { throw rows.missing(key) }
                try transaction.put(buffer, try rows.set(old, to: value), flags: 0)
            }
        }

        func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
            let rows = try prepared().rows
            let buffer = self.key
            return try environment.write { transaction throws(EngineError) in
                buffer.set(rows.table.number, key)
                guard let old = try transaction.get(buffer) else { throw rows.missing(key) }
                var digest = ReadDigest()
                try rows.add(key, old, to: &digest)
                try transaction.put(buffer, try rows.increment(key, old), flags: 0)
                return digest
            }
        }
    }
#endif
