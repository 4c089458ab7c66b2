/// Layout of a table's rows in memory: a segment kind for each column, the two system columns first.
package final class TableLayout: Sendable {
    static let keyID: UInt16 = 0xFFFF
    package static let createdID: UInt16 = 0xFFFE

    package let table: UInt32
    package let kinds: [SegmentKind]
    package let ids: [UInt16]
    /// Whether a column holds collections: then a long value may be a tree of elements.
    let isCollection: [Bool]
    /// For each column the value of the rows of a group that lacks it: ``ColumnDefinition/missingCell``. The system
    /// columns come first here too, and no group lacks them.
    package nonisolated(unsafe) let missing: [Cell]  // immutable, and no cell here has bytes

    package init(_ definition: TableDefinition) {
        table = definition.id.rawValue
        kinds = [.integer, .integer] + definition.columns.map { SegmentKind($0.type) }
        ids = [Self.keyID, Self.createdID] + definition.columns.map(\.id.rawValue)
        isCollection = [false, false] + definition.columns.map { $0.collection != nil }
        missing = [.null, .integer(0)] + definition.columns.map(\.missingCell)
    }
}

extension ColumnDefinition {
    /// The value of the column in rows that were written before it existed: for a link null, for links none, for any
    /// other type the default, or without one null in an optional column, else 0, 0.0 or no bytes.
    package var missingCell: Cell {
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
