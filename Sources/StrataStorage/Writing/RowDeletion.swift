/// Takes many rows of one table out, in the order of their keys.
///
/// 1. Links that lead to any of them are taken out first, so that a column of another row is written once, however many
///    of its links go. Rows that go too keep their links until then.
/// 2. What a row has in indexes and backlinks waits, as all changes of these trees do, and is applied in their order.
struct RowDeletion {
    private let transaction: WriteTransaction
    private let table: Int
    private let keys: [Int64]
    private var plan: TablePlan { transaction.plans[table] }

    /// - Parameter keys: in any order; of rows that are not there, too.
    init(_ keys: [Int64], of table: Int, transaction: WriteTransaction) {
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
                        try transaction.remove(plan, editor, table, RowKey(key))
                    }
                }
            } catch {
                guard case .misuse(.noSuchRow) = error else { throw error }
            }
            try transaction.spillIfLarge()
        }
    }
}

/// Deletions of many rows at once.
package struct BulkDeletion {
    private let transaction: WriteTransaction

    init(_ transaction: WriteTransaction) { self.transaction = transaction }

    /// Takes rows out, and every link that leads to one. Rows that are not there are passed over.
    /// - Complexity: O(log rows) per row and link; less where many stand close together.
    package func delete(_ table: Int, _ keys: [Int64]) throws(StorageError) {
        try transaction.check(table)
        do throws(StorageError) {
            try RowDeletion(keys, of: table, transaction: transaction).run()
        } catch {
            throw transaction.noted(error)
        }
    }

    /// Takes links to rows out of collections, each of which is searched once: to be called by whoever deletes many one
    /// by one, before the first of them.
    package func unlink(_ table: Int, _ keys: [RowKey]) throws(StorageError) {
        try transaction.check(table)
        if keys.count > 1 {
            try LinkRemoval(to: keys.map(\.rawValue), transaction: transaction).takeFromCollections(of: table)
        }
    }
}

extension WriteTransaction {
    package var bulk: BulkDeletion { BulkDeletion(self) }
}
