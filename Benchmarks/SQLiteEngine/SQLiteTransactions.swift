#if SQLite
    import Harness
    import RunRecords

    /// `BEGIN IMMEDIATE` for writes, `BEGIN` (deferred) for reads: only SQLite's own locks, without the process's lock
    /// for writers.
    extension SQLiteSession: TransactionSession {
        private static let place = "WHERE \(quoted(TransactionCells.key)) = ?"

        func begin(_ access: TransactionAccess) throws(EngineError) {
            switch access {
            case .writing: try connection.takeWriteLock()
            case .reading: try connection.statement("BEGIN").finish()
            }
        }

        func read(_ cell: Int) throws(EngineError) -> Int64 {
            let statement = try select(TransactionCells.number, cell)
            defer { statement.reset() }
            return statement.integer(0)
        }

        func readText(_ cell: Int) throws(EngineError) -> String {
            let statement = try select(TransactionCells.text, cell)
            defer { statement.reset() }
            return statement.text(0)
        }

        func write(_ cell: Int, _ value: Int64) throws(EngineError) {
            let statement = try update(TransactionCells.number)
            statement.bind(1, value)
            statement.bind(2, Int64(cell))
            try statement.finish()
        }

        func writeText(_ cell: Int, _ text: String) throws(EngineError) {
            let statement = try update(TransactionCells.text)
            statement.bind(1, copy: text)
            statement.bind(2, Int64(cell))
            try statement.finish()
        }

        func commit() throws(EngineError) { try connection.statement("COMMIT").finish() }

        func rollback() throws(EngineError) { try connection.statement("ROLLBACK").finish() }

        private func select(_ column: String, _ cell: Int) throws(EngineError) -> SQLiteStatement {
            let statement = try connection.statement(
                "SELECT \(quoted(column)) FROM \(quoted(TransactionCells.table)) \(Self.place)")
            statement.bind(1, Int64(cell))
            guard try statement.step() else { throw EngineError(.refused, "there is no cell \(cell)") }
            return statement
        }

        private func update(_ column: String) throws(EngineError) -> SQLiteStatement {
            try connection.statement(
                "UPDATE \(quoted(TransactionCells.table)) SET \(quoted(column)) = ? \(Self.place)")
        }
    }
#endif
