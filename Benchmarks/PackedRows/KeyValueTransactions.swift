import Harness
import RunRecords

/// A session whose caller begins and ends transactions of the store. The session packs each cell as a row, and reads
/// and writes the row as a whole. The extension implements `TransactionSession`.
///
/// `@inlinable`, so that the compiler specialises the calls in the target of each store: a scenario times them.
@usableFromInline
package protocol KeyValueTransactionSession: KeyValueSession where Writer: KeyValueTransaction {
    /// The transaction that the caller has begun and not ended; nil if there is none.
    var running: Writer? { get set }

    func transaction(_ access: TransactionAccess) throws(EngineError) -> Writer
}

extension KeyValueTransactionSession {
    @inlinable
    package func begin(_ access: TransactionAccess) throws(EngineError) {
        _ = try table(TransactionCells.table)
        running = try transaction(access)
    }

    @inlinable
    package func read(_ cell: Int) throws(EngineError) -> Int64 {
        try withRow(cell) { (_, table, row) throws(EngineError) in
            let column = try table.column(TransactionCells.number, .integer)
            return Int64(bitPattern: try table.word(column, Int64(cell), row))
        }
    }

    @inlinable
    package func readText(_ cell: Int) throws(EngineError) -> String {
        try withRow(cell) { (_, table, row) throws(EngineError) in
            String(decoding: try table.bytes(try table.column(TransactionCells.text, .text), row), as: UTF8.self)
        }
    }

    @inlinable
    package func write(_ cell: Int, _ value: Int64) throws(EngineError) {
        try withRow(cell) { (transaction, table, row) throws(EngineError) in
            let patch = try RowPatch(table, try table.column(TransactionCells.number, .integer))
            try transaction.put(key, try patch.patched(row, with: value))
            // Keeps the patch, which owns the bytes, alive.
            withExtendedLifetime(patch) {}
        }
    }

    @inlinable
    package func writeText(_ cell: Int, _ text: String) throws(EngineError) {
        try withRow(cell) { (transaction, table, row) throws(EngineError) in
            try PackedCellRow.with(cell, row, table, text: text) { packed throws(EngineError) in
                try transaction.put(key, packed)
            }
        }
    }

    /// Does not retry after a conflict: only the caller knows what the transaction read.
    @inlinable
    package func commit() throws(EngineError) {
        guard let transaction = running else { throw Self.noTransaction }
        running = nil
        try transaction.commit()
    }

    @inlinable
    package func rollback() throws(EngineError) {
        running?.abort()
        running = nil
    }

    @usableFromInline
    static var noTransaction: EngineError { EngineError(.refused, "no transaction is open") }

    @usableFromInline
    static func noCell(_ cell: Int) -> EngineError { EngineError(.refused, "there is no cell \(cell)") }

    /// Puts the key of a cell into `key`, and runs the body with the cell's row. The row is valid until the
    /// transaction's next call.
    @inlinable @inline(__always)
    func withRow<Output>(
        _ cell: Int, _ body: (Writer, PackedTable, UnsafeRawBufferPointer) throws(EngineError) -> Output
    ) throws(EngineError) -> Output {
        guard let running else { throw Self.noTransaction }
        let table = try table(TransactionCells.table)
        key.set(table.number, Int64(cell))
        var output: Output?
        try running.get(key) { row throws(EngineError) in output = try body(running, table, row) }
        guard let output else { throw Self.noCell(cell) }
        return output
    }
}
