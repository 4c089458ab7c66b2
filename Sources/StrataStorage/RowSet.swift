/// Rows, decoded column by column and ordered by key.
///
/// Columns 0 and 1 are the key and the version that created the row; the table's own columns follow in schema order.
final class RowSet {
    static let keyColumn = 0
    static let createdColumn = 1
    static let firstUserColumn = 2

    let columns: [ColumnBuffer]

    init(_ layout: TableLayout, capacity: Int = 64) {
        columns = layout.kinds.map { ColumnBuffer($0, capacity: capacity) }
    }

    @inline(__always) var count: Int { columns[Self.keyColumn].count }
    @inline(__always) func key(_ row: Int) -> Int64 { columns[Self.keyColumn].integer(row) }

    func removeAll() { for column in columns { column.removeAll() } }

    /// Appends a row; `cells` has one for each of the table's own columns.
    @inline(__always)
    func append(key: Int64, created: UInt64, _ cells: UnsafeBufferPointer<Cell>) {
        columns[Self.keyColumn].append(word: UInt64(bitPattern: key))
        columns[Self.createdColumn].append(word: created)
        for index in 0..<cells.count { columns[index + Self.firstUserColumn].append(cells[index]) }
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
struct TableLayout: Equatable, Sendable {
    static let keyID: UInt16 = 0xFFFF
    static let createdID: UInt16 = 0xFFFE

    var table: UInt32
    var kinds: [SegmentKind]
    var ids: [UInt16]
    /// Optional columns that a group lacks read null, others their default. No cell here has bytes.
    nonisolated(unsafe) var missing: [Cell]

    init(_ definition: TableDefinition) {
        table = definition.id.rawValue
        kinds = [.integer, .integer]
        ids = [Self.keyID, Self.createdID]
        missing = [.null, .integer(0)]
        for column in definition.columns {
            kinds.append(SegmentKind(column.type))
            ids.append(column.id.rawValue)
            missing.append(column.missingCell)
        }
    }

    static func == (a: Self, b: Self) -> Bool { a.table == b.table && a.ids == b.ids && a.kinds == b.kinds }
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
