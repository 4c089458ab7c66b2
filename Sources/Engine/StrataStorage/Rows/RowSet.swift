/// Rows, decoded by column and ordered by key.
///
/// Columns 0 and 1 are the key and the version that created the row; the table's own columns follow in schema order.
package final class RowSet {
    package static let keyColumn = 0
    package static let createdColumn = 1
    package static let firstUserColumn = 2

    let columns: [ColumnBuffer]
    /// The buffers of `columns`, unowned: a loop over `columns` would retain and release each one per appended row.
    private let appending: UnsafeMutableBufferPointer<Unmanaged<ColumnBuffer>>

    init(_ layout: TableLayout, capacity: Int = 64) {
        columns = layout.kinds.map { ColumnBuffer($0, capacity: capacity) }
        appending = .allocate(capacity: columns.count)
        for (index, column) in columns.enumerated() {
            appending.initializeElement(at: index, to: .passUnretained(column))
        }
    }

    deinit { appending.deallocate() }

    @inline(__always) var count: Int { columns[Self.keyColumn].count }
    @inline(__always) func key(_ row: Int) -> Int64 { columns[Self.keyColumn].integer(row) }

    func removeAll() { for column in columns { column.removeAll() } }

    /// Appends a row; `cells` are those of the table's own columns.
    @inline(__always)
    func append(key: Int64, created: UInt64, _ cells: UnsafeBufferPointer<Cell>) {
        appending[Self.keyColumn]._withUnsafeGuaranteedRef { $0.append(word: UInt64(bitPattern: key)) }
        appending[Self.createdColumn]._withUnsafeGuaranteedRef { $0.append(word: created) }
        for index in 0..<cells.count {
            appending[index + Self.firstUserColumn]._withUnsafeGuaranteedRef { $0.append(cells[index]) }
        }
    }

    /// Inserts a row of another set before `row`.
    func insert(at row: Int, _ other: RowSet, _ from: Int) {
        for (column, source) in zip(columns, other.columns) { source.cellValue(from).insert(column, row) }
    }

    func append(_ other: RowSet, _ range: Range<Int>) {
        for (column, source) in zip(columns, other.columns) { column.append(source, range) }
    }

    func removeFirst(_ n: Int) { for column in columns { column.removeFirst(n) } }

    func truncate(to n: Int) { for column in columns { column.truncate(to: n) } }

    func removeRows(marked bits: UnsafePointer<UInt64>) { for column in columns { column.removeRows(marked: bits) } }

    /// The first row whose key is not less than `key`.
    func lowerBound(_ key: Int64) -> Int {
        let keys = columns[Self.keyColumn]
        var low = 0
        var n = keys.count
        while n > 0 {
            let half = n >> 1
            if keys.integer(low + half) < key {
                low += half + 1
                n -= half + 1
            } else {
                n = half
            }
        }
        return low
    }

    /// Whether the keys of the rows ascend.
    func isAscending(_ range: Range<Int>) -> Bool {
        let keys = columns[Self.keyColumn].words
        var isAscending = true
        for row in range.dropFirst() {
            isAscending = isAscending && Int64(bitPattern: keys[row - 1]) < Int64(bitPattern: keys[row])
        }
        return isAscending
    }

    /// Whether the keys of the rows are consecutive.
    func isDense(_ range: Range<Int>) -> Bool {
        guard let first = range.first, let last = range.last else { return false }
        return key(last) &- key(first) == Int64(last - first)
    }
}
