import Harness
import PackedRows
import RunRecords

/// Each is one transaction of the library, a snapshot for reads. A cell is a packed row, read and written as a whole.
extension LibrarySession: TransactionSession {
    func begin(_ access: TransactionAccess) throws(EngineError) {
        _ = try cells()
        running = try store.begin(access == .reading ? store.snapshotKind : .write)
    }

    private func cells() throws(EngineError) -> PackedTable { try table(TransactionCells.table) }

    func read(_ cell: Int) throws(EngineError) -> Int64 {
        let table = try cells()
        let column = try table.column(TransactionCells.number, .integer)
        return Int64(bitPattern: try table.word(column, Int64(cell), try row(cell, table)))
    }

    func readText(_ cell: Int) throws(EngineError) -> String {
        let table = try cells()
        let column = try table.column(TransactionCells.text, .text)
        return String(decoding: try table.bytes(column, try row(cell, table)), as: UTF8.self)
    }

    func write(_ cell: Int, _ value: Int64) throws(EngineError) {
        let table = try cells()
        let patch = try RowPatch(table, try table.column(TransactionCells.number, .integer))
        let patched = try patch.patched(try row(cell, table), with: value)
        try transaction().put(key, patched)
        // Keeps the patch, which owns the bytes, alive.
        withExtendedLifetime(patch) {}
    }

    func writeText(_ cell: Int, _ text: String) throws(EngineError) {
        let table = try cells()
        let transaction = try transaction()
        try PackedCellRow.with(cell, try row(cell, table), table, text: text) { packed throws(EngineError) in
            try transaction.put(key, packed)
        }
    }

    /// Not retried: only the caller knows what the transaction read.
    func commit() throws(EngineError) {
        let transaction = try transaction()
        running = nil
        try transaction.commit()
    }

    func rollback() throws(EngineError) {
        running?.abort()
        running = nil
    }

    private func transaction() throws(EngineError) -> LibraryTransaction {
        guard let running else { throw EngineError(.refused, "no transaction is open") }
        return running
    }

    /// Valid until the transaction's next call. The buffer then contains the cell's key.
    private func row(_ cell: Int, _ table: PackedTable) throws(EngineError) -> UnsafeRawBufferPointer {
        key.set(table.number, Int64(cell))
        guard let row = try transaction().get(key) else { throw EngineError(.refused, "there is no cell \(cell)") }
        return row
    }
}
