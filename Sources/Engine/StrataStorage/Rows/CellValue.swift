/// A value ready for a column: a cell, or the descriptor of a long value.
struct CellValue {
    var cell: Cell
    var long: LongValue?

    init(_ cell: Cell, long: LongValue? = nil) {
        self.cell = cell
        self.long = long
    }

    func set(_ column: ColumnBuffer, _ index: Int) {
        if let long { column.setLong(index, long) } else { column.set(index, cell) }
    }

    func insert(_ column: ColumnBuffer, _ index: Int) {
        column.insert(long == nil ? cell : .null, at: index)
        if let long { column.setLong(index, long) }
    }
}
