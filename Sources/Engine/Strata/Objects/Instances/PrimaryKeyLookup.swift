import StrataStorage

/// Finds the row of a primary key in the version that is shown.
struct PrimaryKeyLookup {
    private let access: ClassAccess
    private var instance: RealmInstance { access.instance }

    init(_ access: ClassAccess) { self.access = access }

    /// The key of the row that has a primary key; nil if there is none.
    /// - Complexity: O(log rows); O(rows) for null, which an index need not have.
    func row(of value: _StoredValue) throws(StorageError) -> RowKey? {
        guard let view = instance.currentView, let primary = access.primary else { return nil }
        if primary.column == Int(ColumnSlot.key) {
            guard case .integer(let key) = value else { return nil }
            return try view.locate(access.table, RowKey(key)) == nil ? nil : RowKey(key)
        }
        if value.isNull {
            // An index need not have entries for null.
            return try firstNull(primary.column, view)
        }
        let column = primary.column
        let table = access.table
        return try value.withCell { (cell) throws(StorageError) in try view.rows(table, column, equalTo: cell).first }
    }

    /// The key of the readable row that has a primary key, in a file with known damage: compares row by row, without
    /// the index. Nil if there is none, and if no damage is known.
    /// - Complexity: O(rows).
    func readableRow(of value: _StoredValue) -> RowKey? {
        guard let view = instance.currentView, let primary = access.primary,
            let rows = instance.failures.readableRows(access)
        else { return nil }
        for key in rows.keys {
            do throws(StorageError) {
                guard let location = try view.locate(access.table, RowKey(key)) else { continue }
                if try view.value(location, primary.column, primary.tag) == value { return RowKey(key) }
            } catch {
                instance.failures.note(error, in: access)
            }
        }
        return nil
    }

    private func firstNull(_ column: Int, _ view: ReadView) throws(StorageError) -> RowKey? {
        guard let tag = access.property(ofColumn: column)?.tag else { return nil }
        for key in try view.keys(access.table) {
            guard let location = try view.locate(access.table, RowKey(key)) else { continue }
            if try view.value(location, column, tag).isNull { return RowKey(key) }
        }
        return nil
    }
}
