import StrataStorage

extension ReadView {
    /// Calls `body` with text, data or a payload, and confirms that all pages were readable meanwhile.
    /// - Returns: the result of `body`, which does not refer to the bytes; nil for null.
    /// - Throws: errors of reading and of `body`; `corrupt` with `unreadable` if `body` may have read a lost page.
    @inline(__always)
    func withBytes<Value>(
        _ row: RowLocation, column: Int, _ body: (UnsafeRawBufferPointer) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        guard let bytes = try bytes(row, column) else { return nil }
        let value = try body(bytes)
        try confirm()
        return value
    }

    /// A column's value in the form that queries, collections and access by name use.
    func value(_ row: RowLocation, _ column: Int, _ tag: ColumnTag) throws(StorageError) -> _StoredValue {
        switch tag.columnType {
        case .integer: return try integer(row, column).map { .integer($0) } ?? .null
        case .link: return try integer(row, column).map { .link($0) } ?? .null
        case .double: return try double(row, column).map { .double($0) } ?? .null
        case .bytes, .links:
            return try withBytes(row, column: column) { _StoredValue($0, tag) } ?? .null
        }
    }

    /// Whether a column already holds `value`: bit by bit, so that writing it would change nothing.
    func holds(
        _ value: _StoredValue, at location: RowLocation, column: Int, of access: ClassAccess
    ) throws(StorageError) -> Bool {
        switch value {
        case .integer(let wanted), .link(let wanted): return try integer(location, column) == wanted
        case .double(let wanted): return try double(location, column)?.bitPattern == wanted.bitPattern
        case .text(let wanted):
            return try withBytes(location, column: column) { $0.elementsEqual(wanted.utf8) } ?? false
        case .bytes(let wanted):
            if let isSame = try withBytes(location, column: column, { $0.elementsEqual(wanted) }) { return isSame }
            if !wanted.isEmpty { return false }
            return try !isNull(location, column, access)
        case .decimal(let wanted):
            return try withBytes(location, column: column) { $0.elementsEqual(wanted.storedBytes) } ?? false
        case .null: return try isNull(location, column, access)
        }
    }

    /// Whether a column is null; false for a collection, and for a column that the class has no property for.
    func isNull(
        _ location: RowLocation, _ column: Int, _ access: ClassAccess
    ) throws(StorageError) -> Bool {
        guard let tag = access.property(ofColumn: column)?.tag, tag.collection == .none else {
            return false
        }
        switch tag.columnType {
        case .integer, .link: return try integer(location, column) == nil
        case .double: return try double(location, column) == nil
        case .bytes, .links: return try bytes(location, column) == nil
        }
    }
}
