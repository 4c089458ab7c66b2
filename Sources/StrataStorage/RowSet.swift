/// Rows, decoded column by column and ordered by key.
///
/// Columns 0 and 1 are the key and the version that created the row; the table's own columns follow in schema order.
final class RowSet {
    static let keyColumn = 0
    static let createdColumn = 1
    static let firstUserColumn = 2

    let columns: [ColumnBuffer]
    /// The same again: appending counts no references.
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

    /// Appends a row; `cells` has one for each of the table's own columns.
    @inline(__always)
    func append(key: Int64, created: UInt64, _ cells: UnsafeBufferPointer<Cell>) {
        appending[Self.keyColumn]._withUnsafeGuaranteedRef { $0.append(word: UInt64(bitPattern: key)) }
        appending[Self.createdColumn]._withUnsafeGuaranteedRef { $0.append(word: created) }
        for index in 0..<cells.count {
            appending[index + Self.firstUserColumn]._withUnsafeGuaranteedRef { $0.append(cells[index]) }
        }
    }

    /// Puts a row of another set before the one at `row`.
    func insert(at row: Int, _ other: RowSet, _ from: Int) {
        for (column, source) in zip(columns, other.columns) { source.cellValue(from).insert(column, row) }
    }

    func append(_ other: RowSet, _ range: Range<Int>) {
        for (column, source) in zip(columns, other.columns) { column.append(source, range) }
    }

    func removeRows(marked bits: UnsafePointer<UInt64>) { for column in columns { column.removeRows(marked: bits) } }

    /// The first row whose key is not below `key`.
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

    /// Whether keys of the rows are consecutive.
    func isDense(_ range: Range<Int>) -> Bool {
        guard let first = range.first, let last = range.last else { return false }
        return key(last) &- key(first) == Int64(last - first)
    }
}

/// What a table's rows look like in memory: a segment kind for each column, the two system columns first.
final class TableLayout: Sendable {
    static let keyID: UInt16 = 0xFFFF
    static let createdID: UInt16 = 0xFFFE

    let table: UInt32
    let kinds: [SegmentKind]
    let ids: [UInt16]
    /// Optional columns that a group lacks read null, others their default.
    nonisolated(unsafe) let missing: [Cell]  // immutable, and no cell here has bytes

    init(_ definition: TableDefinition) {
        table = definition.id.rawValue
        kinds = [.integer, .integer] + definition.columns.map { SegmentKind($0.type) }
        ids = [Self.keyID, Self.createdID] + definition.columns.map(\.id.rawValue)
        missing = [.null, .integer(0)] + definition.columns.map(\.missingCell)
    }
}

extension ColumnDefinition {
    /// What a row that lacks the column reads.
    var missingCell: Cell {
        switch type {
        case .link: return .null
        case .links: return .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
        case .integer, .double, .bytes:
            if let bits = defaultBits, type != .bytes {
                return type == .integer
                    ? .integer(Int64(bitPattern: bits))
                    : .double(Double(bitPattern: bits))
            }
            if isOptional { return .null }
            switch type {
            case .integer: return .integer(0)
            case .double: return .double(0)
            default: return .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
    }
}
