#if SQLite
    import Harness
    import Measuring
    import RunRecords

    /// Statements over single rows, prepared once.
    struct SQLiteKeyedRows {
        let rows: KeyedRows
        let kinds: [TableLayout.Kind]
        /// Index of the changed column among those that are read.
        let changed: Int32
        let read: SQLiteStatement
        let range: SQLiteStatement
        let set: SQLiteStatement

        init(_ rows: KeyedRows, _ session: SQLiteSession) throws(EngineError) {
            let layout = try session.layout(rows.table)
            var kinds: [TableLayout.Kind] = []
            for column in rows.columns { kinds.append(try layout.kind(column)) }
            guard let place = rows.columns.firstIndex(of: rows.changed), kinds[place] == .integer else {
                throw EngineError(.refused, "column \(rows.changed) holds no integers, or is not read")
            }
            self.rows = rows
            self.kinds = kinds
            changed = Int32(place)
            let (table, key) = (quoted(rows.table), quoted(layout.rowColumn))
            let columns = rows.columns.map(quoted).joined(separator: ", ")
            let connection = session.connection
            read = try connection.statement("SELECT \(columns) FROM \(table) WHERE \(key) = ?")
            range = try connection.statement(
                "SELECT \(columns) FROM \(table) WHERE \(key) >= ? AND \(key) < ? ORDER BY \(key)")
            set = try connection.statement("UPDATE \(table) SET \(quoted(rows.changed)) = ? WHERE \(key) = ?")
        }
    }

    /// A statement outside a transaction is a transaction by itself; a change takes the write lock at its beginning.
    extension SQLiteSession: KeyedRowSession {
        func prepareRows(_ rows: KeyedRows) throws(EngineError) { keyedRows = try SQLiteKeyedRows(rows, self) }

        private func prepared() throws(EngineError) -> SQLiteKeyedRows {
            guard let keyedRows else { throw KeyedRows.notPrepared }
            return keyedRows
        }

        func readRow(_ key: Int64) throws(EngineError) -> ReadDigest {
            let own = try prepared()
            var digest = ReadDigest()
            own.read.bind(1, key)
            if try own.read.step() { Self.add(own.read, own.kinds, to: &digest) }
            own.read.reset()
            return digest
        }

        func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
            let own = try prepared()
            var digest = ReadDigest()
            own.range.bind(1, keys.lowerBound)
            own.range.bind(2, keys.upperBound)
            while try own.range.step() { Self.add(own.range, own.kinds, to: &digest) }
            own.range.reset()
            return digest
        }

        func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
            let own = try prepared()
            try connection.transaction { () throws(EngineError) in
                own.set.bind(1, value)
                own.set.bind(2, key)
                try own.set.finish()
            }
        }

        func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
            let own = try prepared()
            return try connection.transaction { () throws(EngineError) in
                var digest = ReadDigest()
                own.read.bind(1, key)
                guard try own.read.step() else {
                    throw EngineError(.refused, "table \(own.rows.table) has no row \(key)")
                }
                Self.add(own.read, own.kinds, to: &digest)
                let value = own.read.integer(own.changed)
                own.read.reset()
                own.set.bind(1, value &+ 1)
                own.set.bind(2, key)
                try own.set.finish()
                return digest
            }
        }
    }
#endif
