import StrataStorage

/// Numbers for primary keys that one write assigns.
///
/// Invariants, for a class whose primary key is numbered:
/// 1. A table's next row key is above every row key that it ever had. The file stores it, so a deleted object's number
///    is not reused.
/// 2. Every number is at most the key of its row. If the key is a column, because a migration added it, a number's row
///    has that number as its key, or a higher one.
struct KeyNumbers {
    /// Highest numbers of classes whose numbered primary key is a column, by table.
    private var highest: [Int: Int64] = [:]

    /// The number for the next new object.
    mutating func next(_ access: ClassAccess, _ transaction: WriteTransaction) throws(StorageError) -> Int64 {
        try max(transaction.nextKey(access.table).rawValue, 1, highestNumber(access, transaction.view) + 1)
    }

    /// The highest number of a class whose key is a column, at the start of the write; the write's own insertions raise
    /// the next row key.
    /// - Complexity: a pass over the column, once per write.
    private mutating func highestNumber(_ access: ClassAccess, _ view: ReadView) throws(StorageError) -> Int64 {
        guard let column = access.primary?.column, column >= 0 else { return 0 }
        if let known = highest[access.table] { return known }
        let found = try FilteredRows(view, access.table, .everything).integerExtremes(column)?.upperBound ?? 0
        highest[access.table] = min(found, .max - 1)
        return min(found, .max - 1)
    }

    /// The row key for a number from the program.
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
    /// Whether the value of a primary key asks for a number.
    func isUnnumbered(_ value: _StoredValue) -> Bool { primary?.isAutoIncrement == true && value == .integer(0) }
}
