import StrataStorage

/// The numbers that one write gives to primary keys.
///
/// Invariants, for a class whose primary key is numbered by the database:
/// 1. A table's next row key is above every row key that it ever had. The file stores it, so a deleted object's number
///    is not given again.
/// 2. The key of an inserted row is at least the object's number: also if the number is in a column, because a
///    migration added the property. So the next row key is above every number, except those that a migration gave to
///    existing rows: ``highest`` has these.
struct KeyNumbers {
    /// For classes whose numbers are in a column: the highest at the start of the write, by table.
    private var highest: [Int: Int64] = [:]

    /// The number for the next new object.
    mutating func next(_ access: ClassAccess, _ transaction: WriteTransaction) throws(StorageError) -> Int64 {
        try max(transaction.nextKey(access.table).rawValue, 1, highestNumber(access, transaction.view) + 1)
    }

    /// The highest number of a class whose numbers are in a column, when the write first asks. The write's own
    /// insertions raise the next row key instead. 0 for a class whose number is its row key.
    /// - Complexity: a pass over the column, once per write.
    private mutating func highestNumber(_ access: ClassAccess, _ view: ReadView) throws(StorageError) -> Int64 {
        guard let column = access.primary?.column, column >= 0 else { return 0 }
        if let known = highest[access.table] { return known }
        let found = try FilteredRows(view, access.table, .everything).integerExtremes(column)?.upperBound ?? 0
        highest[access.table] = min(found, .max - 1)
        return min(found, .max - 1)
    }

    /// The key of a new row whose primary key was given by the program and is in a column: the next one, but at least
    /// the primary key if the database numbers the class.
    static func rowKey(
        for value: _StoredValue, _ access: ClassAccess, _ transaction: WriteTransaction
    ) -> RowKey {
        let next = transaction.nextKey(access.table)
        guard access.plan?.primary?.isAutoIncrement == true, case .integer(let number) = value, number < .max else {
            return next
        }
        return RowKey(max(next.rawValue, number))
    }
}

extension ClassPlan {
    /// Whether a primary key is the 0 for which the database gives a number.
    func isUnnumbered(_ value: _StoredValue) -> Bool { primary?.isAutoIncrement == true && value == .integer(0) }
}
