import Harness
import StrataStorage

/// `Store.beginWrite` for writes, a snapshot of the newest version for reads.
extension StorageSession: TransactionSession {
    /// An open transaction, and the table and columns of its cells.
    struct Running {
        var writer: WriteTransaction?
        var view: ReadView
        var table: Int
        var number: Int
        var text: Int
    }

    func begin(_ access: TransactionAccess) throws(EngineError) {
        let table = try table(TransactionCells.table)
        let number = try column(TransactionCells.number, .integer, of: table)
        let text = try column(TransactionCells.text, .bytes, of: table)
        running = try checked { () throws(StorageError) in
            if access == .writing {
                let writer = try store.beginWrite()
                return Running(writer: writer, view: writer.view, table: table, number: number, text: text)
            }
            let view = try store.snapshot().view
            return Running(writer: nil, view: view, table: table, number: number, text: text)
        }
    }

    func read(_ cell: Int) throws(EngineError) -> Int64 {
        let running = try open()
        return try checked { () throws(StorageError) in
            try running.view.integer(try Self.row(cell, running), running.number) ?? 0
        }
    }

    func readText(_ cell: Int) throws(EngineError) -> String {
        let running = try open()
        return try checked { () throws(StorageError) in
            let bytes = try running.view.bytes(try Self.row(cell, running), running.text)
            let text = bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
            try running.view.confirm()
            return text
        }
    }

    func write(_ cell: Int, _ value: Int64) throws(EngineError) {
        let (running, writer) = try openWriter()
        try checked { () throws(StorageError) in
            try writer.set(running.table, RowKey(Int64(cell)), column: running.number, to: .integer(value))
        }
    }

    func writeText(_ cell: Int, _ text: String) throws(EngineError) {
        let (running, writer) = try openWriter()
        let bytes = Array(text.utf8)
        var failure: StorageError?
        bytes.withUnsafeBytes { bytes in
            do throws(StorageError) {
                try writer.set(running.table, RowKey(Int64(cell)), column: running.text, to: .bytes(bytes))
            } catch {
                failure = error
            }
        }
        if let failure { throw EngineError(failure) }
    }

    func commit() throws(EngineError) {
        let running = try open()
        self.running = nil
        guard let writer = running.writer else { return }
        try checked { () throws(StorageError) in _ = try writer.commit() }
    }

    func rollback() throws(EngineError) {
        running?.writer?.rollback()
        running = nil
    }

    private func open() throws(EngineError) -> Running {
        guard let running else { throw EngineError(.refused, "no transaction is open") }
        return running
    }

    private func openWriter() throws(EngineError) -> (Running, WriteTransaction) {
        let running = try open()
        guard let writer = running.writer else { throw EngineError(.refused, "the transaction only reads") }
        return (running, writer)
    }

    private static func row(_ cell: Int, _ running: Running) throws(StorageError) -> RowLocation {
        guard let row = try running.view.locate(running.table, RowKey(Int64(cell))) else { throw .misuse(.noSuchRow) }
        return row
    }
}
