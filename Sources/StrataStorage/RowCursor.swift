/// Steps through the rows of a table in key order and reads the columns that it was made for.
///
/// It stands before its first row until ``next()`` is called. Valid as long as its view's version is pinned; in a
/// transaction until the table's next write.
/// Concurrency: confined to its owner.
package final class RowCursor {
    private let view: ReadView
    private let layout: TableLayout
    private let wanted: [Int]
    private let from: RowKey?
    private let rows: RowSet
    @exclusivity(unchecked) private var walk: GroupWalk
    @exclusivity(unchecked) private var row = 0
    @exclusivity(unchecked) private var count = 0

    /// - Parameter from: the first row has this key or the next larger one.
    /// - Throws: `misuse` for a column that is not there.
    package init(_ view: ReadView, _ table: Int, columns: [Int], from: RowKey? = nil) throws(StorageError) {
        try view.prepareRows(table)
        self.view = view
        self.from = from
        let layout = view.state.layouts[table]
        self.layout = layout
        wanted = columns.map { $0 + RowSet.firstUserColumn }
        guard columns.allSatisfy({ $0 >= 0 && $0 + RowSet.firstUserColumn < layout.kinds.count }) else {
            throw .misuse(.noSuchColumn)
        }
        rows = RowSet(layout)
        walk = GroupWalk(view.state.tables[table].tree, from: from?.rawValue ?? .min, view.reader)
    }

    /// Goes to the next row; false behind the last.
    /// - Complexity: O(1); a group of some thousand rows is decoded at a time.
    @inline(__always)
    package func next() throws(StorageError) -> Bool {
        row += 1
        return row < count ? true : try nextGroup()
    }

    @inline(never)
    private func nextGroup() throws(StorageError) -> Bool {
        row = 0
        count = 0
        while let group = try walk.next() {
            try view.decode(group, into: rows, layout, wanted, from: from)
            count = rows.count
            if count > 0 { return true }
        }
        return false
    }

    @inline(__always) package var key: RowKey { RowKey(rows.key(row)) }

    /// The `index`-th wanted column; nil for null.
    @inline(__always)
    package func integer(_ index: Int) -> Int64? {
        let column = rows.columns[wanted[index]]
        return column.isNull(row) ? nil : column.integer(row)
    }

    @inline(__always)
    package func double(_ index: Int) -> Double? {
        let column = rows.columns[wanted[index]]
        return column.isNull(row) ? nil : Double(bitPattern: column.words[row])
    }

    /// Borrowed from the version.
    @inline(__always)
    package func bytes(_ index: Int) -> UnsafeRawBufferPointer? {
        let column = rows.columns[wanted[index]]
        return column.isNull(row) ? nil : column.bytes(row)
    }
}
