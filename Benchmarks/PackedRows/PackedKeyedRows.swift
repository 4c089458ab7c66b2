import Harness

/// The operations of `KeyedRowSession` on rows of a key-value engine.
@usableFromInline
package final class PackedKeyedRows {
    @usableFromInline
    package let table: PackedTable
    @usableFromInline let cells: [PackedCell]
    @usableFromInline let changed: PackedCell
    private let patch: RowPatch

    package init(_ rows: KeyedRows, _ table: PackedTable) throws(EngineError) {
        self.table = table
        var cells: [PackedCell] = []
        for name in rows.columns { cells.append(PackedCell(try table.column(name), of: table)) }
        self.cells = cells
        let column = try table.column(rows.changed, .integer)
        changed = PackedCell(column, of: table)
        patch = try RowPatch(table, column)
    }

    @inlinable
    package func add(
        _ key: Int64, _ row: UnsafeRawBufferPointer, to digest: inout ReadDigest
    ) throws(EngineError) {
        for cell in cells { try cell.add(key, row, to: &digest) }
    }

    /// The row with another value. Valid until the next call.
    @usableFromInline
    package func set(_ row: UnsafeRawBufferPointer, to value: Int64) throws(EngineError) -> UnsafeRawBufferPointer {
        try patch.patched(row, with: value)
    }

    /// The row with 1 more. Valid until the next call.
    @usableFromInline
    package func increment(_ key: Int64, _ row: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer {
        try patch.patched(row, with: Int64(bitPattern: try changed.word(key, row)) &+ 1)
    }

    @usableFromInline
    static var notPrepared: EngineError { KeyedRows.notPrepared }
}

/// `setRow` and `incrementRow` read the row first, since the store writes a value as a whole.
extension KeyValueSession {
    package func prepareRows(_ rows: KeyedRows) throws(EngineError) {
        keyedRows = try PackedKeyedRows(rows, try table(rows.table))
    }

    @inlinable @inline(__always)
    package func prepared() throws(EngineError) -> PackedKeyedRows {
        guard let keyedRows else { throw PackedKeyedRows.notPrepared }
        return keyedRows
    }

    @inlinable
    package func readRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let (rows, buffer) = (try prepared(), self.key)
        return try read(.request) { version throws(EngineError) in
            var digest = ReadDigest()
            buffer.set(rows.table.number, key)
            try version.get(buffer) { row throws(EngineError) in try rows.add(key, row, to: &digest) }
            return digest
        }
    }

    @inlinable
    package func readRows(_ keys: Range<Int64>) throws(EngineError) -> ReadDigest {
        let rows = try prepared()
        return try read(.requestOfRange) { version throws(EngineError) in
            var digest = ReadDigest()
            try version.scan(rows.table, from: keys.lowerBound, before: keys.upperBound) {
                (key, row) throws(EngineError) in
                try rows.add(key, row, to: &digest)
                return true
            }
            return digest
        }
    }

    @inlinable
    package func setRow(_ key: Int64, to value: Int64) throws(EngineError) {
        let rows = try prepared()
        try changeRow(key, of: rows) { old throws(EngineError) in try rows.set(old, to: value) }
    }

    @inlinable
    package func incrementRow(_ key: Int64) throws(EngineError) -> ReadDigest {
        let rows = try prepared()
        var digest = ReadDigest()
        try changeRow(key, of: rows) { old throws(EngineError) in
            digest = ReadDigest()
            try rows.add(key, old, to: &digest)
            return try rows.increment(key, old)
        }
        return digest
    }

    @inlinable @inline(__always)
    package func changeRow(
        _ key: Int64, of rows: PackedKeyedRows,
        _ body: (UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer
    ) throws(EngineError) {
        let buffer = self.key
        try change { writer throws(EngineError) in
            buffer.set(rows.table.number, key)
            let isThere = try writer.get(buffer) { old throws(EngineError) in try writer.put(buffer, try body(old)) }
            if !isThere { throw rows.table.missing(key) }
        }
    }
}
