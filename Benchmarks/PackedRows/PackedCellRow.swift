import Harness
import RunRecords

/// A row of `TransactionCells` with another text. It is packed again, since its length changes.
@usableFromInline
package enum PackedCellRow {
    /// Runs the body with the bytes of the row, which are valid until it returns.
    @usableFromInline
    package static func with(
        _ cell: Int, _ row: UnsafeRawBufferPointer, _ table: PackedTable, text: String,
        body: (UnsafeRawBufferPointer) throws(EngineError) -> Void
    ) throws(EngineError) {
        var rows = TransactionCells.tables(count: 0).main
        for index in rows.columns.indices {
            let column = try table.column(rows.columns[index].name)
            let value = try table.value(column, Int64(cell), row)
            rows.columns[index].values = one(column.name == TransactionCells.text ? .text(text) : value, column)
        }
        try RowPacker.with(rows, as: table) { packer throws(EngineError) in try body(packer.pack(0)) }
    }

    private static func one(_ value: Value, _ column: PackedColumn) -> ColumnValues {
        switch value {
        case .integer(let integer): return .integer([integer])
        case .real(let real): return .real([real])
        case .text(let text): return .text(TextColumn([text]))
        case .link(let row): return .link(target: column.target ?? "", [Int32(row)])
        case .links(let rows):
            var lists = LinkListColumn()
            lists.append(rows.map { Int32($0) })
            return .links(target: column.target ?? "", lists)
        case .null: return .link(target: column.target ?? "", [-1])
        }
    }
}
