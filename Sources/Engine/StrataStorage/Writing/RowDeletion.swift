/// Deletes many rows of one table, in the order of their keys.
///
/// 1. Links to any of the rows are removed first, so that a column of another row is written once, however many of its
///    links are removed. Rows that will be deleted keep their links until they are.
/// 2. The entries of the deleted rows in indexes and backlinks wait, like all changes of these trees, and are removed
///    in order.
struct RowDeletion {
    private let transaction: TransactionChanges
    private let table: Int
    private let keys: [Int64]
    private var plan: TablePlan { transaction.plans[table] }

    /// - Parameter keys: in any order; missing rows are ignored.
    init(_ keys: [Int64], of table: Int, transaction: TransactionChanges) {
        self.transaction = transaction
        self.table = table
        let isAscending = zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
        self.keys = isAscending ? keys : Set(keys).sorted()
    }

    func run() throws(StorageError) {
        if !transaction.isReplay, !plan.linking.isEmpty {
            let removal = LinkRemoval(to: keys, transaction: transaction)
            for (origin, column) in plan.linking {
                try removal.run(from: origin, column, sparesTargets: origin == table)
            }
        }
        let plan = plan
        for key in keys {
            do throws(StorageError) {
                try Borrowed(plan).use { (plan) throws(StorageError) in
                    try transaction.editor(table).use { (editor) throws(StorageError) in
                        try transaction.remove(plan, editor: editor, table: table, key: RowKey(key))
                    }
                }
            } catch {
                guard case .misuse(.noSuchRow) = error else { throw error }
            }
            try transaction.spillIfLarge()
        }
    }
}

/// Deletes many rows at once.
package struct BulkDeletion {
    private let transaction: TransactionChanges

    init(_ transaction: TransactionChanges) { self.transaction = transaction }

    /// Deletes rows, and every link to one. Missing rows are ignored.
    /// - Complexity: O(log rows) per row and link; less if many are close together.
    package func delete(_ table: Int, _ keys: [Int64]) throws(StorageError) {
        try transaction.check(table)
        do throws(StorageError) {
            try RowDeletion(keys, of: table, transaction: transaction).run()
        } catch {
            throw transaction.noted(error)
        }
    }

    /// Removes links to rows from collections, each of which is searched once. A caller that deletes many rows one by
    /// one calls this first.
    package func unlink(_ table: Int, _ keys: [RowKey]) throws(StorageError) {
        try transaction.check(table)
        if keys.count > 1 {
            try LinkRemoval(to: keys.map(\.rawValue), transaction: transaction).takeFromCollections(of: table)
        }
    }
}

extension TransactionChanges {
    package var bulk: BulkDeletion { BulkDeletion(self) }

    /// Whether a column is an empty collection of links, which has no entries.
    @inline(__always)
    func isEmpty(
        _ plan: TablePlan, row: RowLocation, key: RowKey, column: Int
    ) throws(StorageError) -> Bool {
        guard plan.isLinkCollection(column), case .empty = try view.collectionCell(row, key, column) else {
            return false
        }
        return true
    }
}
