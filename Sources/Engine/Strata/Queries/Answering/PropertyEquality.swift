import StrataStorage

/// A condition that one indexed property, or the primary key, has one value: answered by a look-up, without a binding
/// and without a plan.
///
/// Invariant: such a condition suits the class, and has the answer of ``TableQuery``. What is not recognized here is
/// bound and planned there.
struct PropertyEquality {
    private let column: Int
    private let value: _StoredValue

    init?(_ predicate: Predicate, _ access: ClassAccess) {
        guard case .comparison(let comparison) = predicate, comparison.comparator == .equal,
            comparison.quantifier == .any, !comparison.isQuantified, comparison.options.isEmpty,
            case .path(let path) = comparison.left, path.variable == nil, path.names.count == 1,
            case .value(let constant) = comparison.right,
            let property = access.property(path.names[0]), property.tag.collection == .none,
            property.column == Int(ColumnSlot.key) || property.column >= 0 && property.isIndexed
        else { return nil }
        let type = property.tag.type
        guard constant.type == nil || constant.type == type else { return nil }
        switch (type, constant.stored) {
        case (.int, .integer), (.string, .text), (.UUID, .bytes), (.objectId, .bytes), (.data, .bytes): break
        default: return nil
        }
        column = property.column
        value = constant.stored
    }

    /// The keys of the rows for which the predicate holds, ascending; nil if it is another condition, or the rows are
    /// many.
    static func keys(
        where predicate: Predicate, of access: ClassAccess, _ view: ReadView
    ) throws(StorageError) -> [Int64]? {
        try PropertyEquality(predicate, access)?.keys(in: access.table, view)
    }

    private func keys(in table: Int, _ view: ReadView) throws(StorageError) -> [Int64]? {
        if column == Int(ColumnSlot.key) {
            guard case .integer(let key) = value else { return nil }
            return try view.locate(table, RowKey(key)) == nil ? [] : [key]
        }
        return try value.withCell { (cell) throws(StorageError) in
            try view.rows(table, column, equalTo: cell, limit: TableQuery.fewRows)?.map(\.rawValue)
        }
    }
}
