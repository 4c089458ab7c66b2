#if LMDB
    import CLMDB
    import Harness
    import PackedRows
    import RunRecords

    /// `mdb_txn_begin`, read-only for reads. A cell is a packed row, read and written as a whole.
    extension LMDBSession: TransactionSession {
        func begin(_ access: TransactionAccess) throws(EngineError) {
            _ = try table(TransactionCells.table)
            running = try LMDBTransaction(environment, flags: access == .reading ? UInt32(MDB_RDONLY) : 0)
        }

        func read(_ cell: Int) throws(EngineError) -> Int64 {
            let table = try table(TransactionCells.table)
            let column = try table.column(TransactionCells.number, .integer)
            return Int64(bitPattern: try table.word(column, Int64(cell), try row(cell)))
        }

        func readText(_ cell: Int) throws(EngineError) -> String {
            let table = try table(TransactionCells.table)
            let column = try table.column(TransactionCells.text, .text)
            return String(decoding: try table.bytes(column, try row(cell)), as: UTF8.self)
        }

        func write(_ cell: Int, _ value: Int64) throws(EngineError) {
            let table = try table(TransactionCells.table)
            let patch = try RowPatch(table, try table.column(TransactionCells.number, .integer))
            let patched = try patch.patched(try row(cell), with: value)
            // Keeps the patch, which owns the bytes, alive.
            defer { withExtendedLifetime(patch) {} }
            try put(cell, patched)
        }

        func writeText(_ cell: Int, _ text: String) throws(EngineError) {
            let table = try table(TransactionCells.table)
            try PackedCellRow.with(cell, try row(cell), table, text: text) { packed throws(EngineError) in
                try put(cell, packed)
            }
        }

        func commit() throws(EngineError) {
            guard let transaction = running else { throw EngineError(.refused, "no transaction is open") }
            running = nil
            try transaction.commit()
        }

        func rollback() throws(EngineError) {
            running?.abort()
            running = nil
        }

        /// Valid until the transaction writes or ends.
        private func row(_ cell: Int) throws(EngineError) -> UnsafeRawBufferPointer {
            guard let transaction = running else { throw EngineError(.refused, "no transaction is open") }
            key.set(try table(TransactionCells.table).number, Int64(cell))
            guard let row = try transaction.get(key) else { throw EngineError(.refused, "there is no cell \(cell)") }
            return row
        }

        private func put(_ cell: Int, _ row: UnsafeRawBufferPointer) throws(EngineError) {
            guard let transaction = running else { throw EngineError(.refused, "no transaction is open") }
            key.set(try table(TransactionCells.table).number, Int64(cell))
            try transaction.put(key, row, flags: 0)
        }
    }
#endif
