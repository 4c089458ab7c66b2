#if SQLite
    import Harness
    import Measuring
    import RunRecords

    extension SQLiteSession: UpdateSession, DeletionSession, SnapshotSession, CompactionSession {
        func update(table: String, column: String, keys: [Int64], values: [Int64]) throws(EngineError) {
            let layout = try layout(table)
            let statement = try connection.statement(
                "UPDATE \(quoted(table)) SET \(quoted(column)) = ? WHERE \(quoted(layout.rowColumn)) = ?")
            try connection.transaction { () throws(EngineError) in
                for (key, value) in zip(keys, values) {
                    statement.bind(1, value)
                    statement.bind(2, key)
                    try statement.finish()
                }
            }
        }

        func increment(
            table: String, column: String, key: Int64, times: Int, latency: LatencyRecorder?
        ) throws(EngineError) -> Int {
            let layout = try layout(table)
            let place = "WHERE \(quoted(layout.rowColumn)) = ?"
            let read = try connection.statement("SELECT \(quoted(column)) FROM \(quoted(table)) \(place)")
            let write = try connection.statement(
                "UPDATE \(quoted(table)) SET \(quoted(column)) = ? WHERE \(quoted(layout.rowColumn)) = ?")
            let connection = connection
            func incrementOnce() throws(EngineError) {
                try connection.transaction { () throws(EngineError) in
                    read.bind(1, key)
                    guard try read.step() else { throw EngineError(.refused, "table \(table) has no row \(key)") }
                    let value = read.integer(0)
                    read.reset()
                    write.bind(1, value &+ 1)
                    write.bind(2, key)
                    try write.finish()
                }
            }
            for _ in 0..<times {
                if let latency { try latency.time(incrementOnce) } else { try incrementOnce() }
            }
            return times
        }

        /// Links to and from the rows are deleted with them.
        func delete(table: String, keys: [Int64]) throws(EngineError) {
            let layout = try layout(table)
            var statements = [
                try connection.statement("DELETE FROM \(quoted(table)) WHERE \(quoted(layout.rowColumn)) = ?")
            ]
            for (linkTable, end) in try linkEnds(to: layout) {
                statements.append(try connection.statement("DELETE FROM \(quoted(linkTable)) WHERE \(end) = ?"))
            }
            for (other, column) in try linkColumns(to: table) {
                let column = quoted(column)
                statements.append(
                    try connection.statement("UPDATE \(quoted(other)) SET \(column) = NULL WHERE \(column) = ?"))
            }
            try connection.bulkTransaction { () throws(EngineError) in
                for key in keys {
                    for statement in statements {
                        statement.bind(1, key)
                        try statement.finish()
                    }
                }
            }
        }

        /// Tables of links, with the column that refers to the table.
        private func linkEnds(to layout: TableLayout) throws(EngineError) -> [(table: String, end: String)] {
            var ends: [(table: String, end: String)] = []
            for column in layout.columns {
                if case .links = column.kind { ends.append((layout.linkTable(column.name), "owner")) }
            }
            let targets = try connection.statement(
                "SELECT m.name FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table' "
                    + "AND f.\"from\" = 'target' AND f.\"table\" = ?")
            targets.bind(1, copy: layout.name)
            while try targets.step() { ends.append((targets.text(0), "target")) }
            return ends
        }

        /// Columns of other tables that link to rows of the table.
        private func linkColumns(to table: String) throws(EngineError) -> [(table: String, column: String)] {
            let references = try connection.statement(
                "SELECT m.name, f.\"from\" FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f "
                    + "WHERE m.type = 'table' AND f.\"from\" <> 'target' AND f.\"table\" = ?")
            references.bind(1, copy: table)
            var columns: [(table: String, column: String)] = []
            while try references.step() { columns.append((references.text(0), references.text(1))) }
            return columns
        }

        /// A read transaction on a connection of its own: SQLite pins a version at its first read.
        func pin() throws(EngineError) -> SnapshotToken {
            let reader = try connection.another()
            try reader.run("BEGIN")
            _ = try reader.integer("SELECT count(*) FROM sqlite_master")
            pinCount += 1
            let token = SnapshotToken(number: pinCount)
            pinned[token] = reader
            return token
        }

        func readPinned(_ token: SnapshotToken, _ reads: PointReads) throws(EngineError) -> ReadDigest {
            guard let reader = pinned[token] else { throw EngineError(.refused, "no such snapshot") }
            return try Self.read(reads, layout: try layout(reads.table), connection: reader, latency: nil)
        }

        func unpin(_ token: SnapshotToken) throws(EngineError) {
            guard let reader = pinned.removeValue(forKey: token) else {
                throw EngineError(.refused, "no such snapshot")
            }
            reader.close()
        }

        /// Rewrites the file, and checkpoints the log, so that the new size shows.
        func compact() throws(EngineError) {
            let connection = connection
            try connection.inTurn { () throws(EngineError) in
                try connection.run("VACUUM")
                try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
            }
        }
    }
#endif
