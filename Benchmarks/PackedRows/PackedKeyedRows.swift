import Harness

/// The operations of `KeyedRowSession` on rows of a key-value engine.
@usableFromInline
package final class PackedKeyedRows {
    package let table: PackedTable
    private let rows: KeyedRows
    @usableFromInline let cells: [PackedCell]
    @usableFromInline let changed: PackedCell
    private let patch: RowPatch

    package init(_ rows: KeyedRows, _ table: PackedTable) throws(EngineError) {
        self.rows = rows
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
    package func set(_ row: UnsafeRawBufferPointer, to value: Int64) throws(EngineError) -> UnsafeRawBufferPointer {
        try patch.patched(row, with: value)
    }

    /// The row with 1 more. Valid until the next call.
    package func increment(_ key: Int64, _ row: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer {
        try patch.patched(row, with: Int64(bitPattern: try changed.word(key, row)) &+ 1)
    }

    package func missing(_ key: Int64) -> EngineError { rows.missing(key) }
}
