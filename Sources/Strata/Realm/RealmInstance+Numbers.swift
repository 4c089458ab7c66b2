import StrataStorage

/// Numbers that the database gives.
///
/// Invariants, for a class whose primary key is numbered:
/// 1. A table's next row key is above every row key that it ever had. The file keeps it, so a deleted object's number
///    does not come back.
/// 2. Every number is a row key, or below one: where the key is a column, because it came in a migration, the row of a
///    number has that number as its key or a higher one.
extension RealmInstance {
    /// Whether an object's primary key stands for one that is to be given.
    func isUnnumbered(_ plan: ClassPlan, _ value: _StoredValue) -> Bool {
        plan.primary?.isAutoIncrement == true && value == .integer(0)
    }

    /// Gives an unmanaged object its number.
    /// - Returns: the row key that goes with it; nil, and the write marked, when there is no number left.
    func number(
        _ object: ObjectBase, _ access: ClassAccess, _ field: PlanField, _ transaction: WriteTransaction
    ) throws(StorageError) -> RowKey? {
        let next = try max(transaction.nextKey(access.table).rawValue, 1, highestNumber(access) + 1)
        guard field.field.setStored(object._field(field.offset), .integer(next)) else {
            fail(
                Realm.Error(
                    .invalidInput, "'\(access.name).\(field.name)' has no number left: \(next) is too large for it"))
            return nil
        }
        return RowKey(next)
    }

    /// The row key for a number that was given by the program.
    func rowKey(
        forNumber value: _StoredValue, _ access: ClassAccess, _ transaction: WriteTransaction
    ) -> RowKey {
        let next = transaction.nextKey(access.table)
        guard access.plan?.primary?.isAutoIncrement == true, case .integer(let number) = value, number < .max else {
            return next
        }
        return RowKey(max(next.rawValue, number))
    }

    /// The highest number of a class whose key is a column, as the running write found it; what it adds itself raises
    /// the next row key.
    /// - Complexity: a pass over the column, once per write.
    private func highestNumber(_ access: ClassAccess) throws(StorageError) -> Int64 {
        guard let column = access.primary?.column, column >= 0, let view = currentView else { return 0 }
        if let known = highestNumbers[access.table] { return known }
        let highest = try FilteredRows(view, access.table, .everything).integerExtremes(column)?.upperBound ?? 0
        highestNumbers[access.table] = min(highest, .max - 1)
        return min(highest, .max - 1)
    }
}
