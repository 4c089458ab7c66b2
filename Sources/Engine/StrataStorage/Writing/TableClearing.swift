/// Deletes all rows of some tables by dropping their trees, at the cost of their nodes instead of their rows.
///
/// 1. Links between the tables are dropped with their rows and trees. Links from other tables are removed before, one
///    by one, since the record has each change of a row.
/// 2. The record has one operation for each table with rows, and a replay clears the table in the same way.
/// 3. Keys stay used: a table keeps its next key.
struct TableClearing {
    private let transaction: TransactionChanges
    private let tables: [Int]
    private var view: ReadView { transaction.view }

    /// - Parameter tables: to be cleared, each once.
    init(_ tables: [Int], transaction: TransactionChanges) {
        self.tables = tables
        self.transaction = transaction
    }

    func run() throws(StorageError) {
        var filled: [Int] = []
        for table in tables {
            try transaction.flushRows(table)
            if !view.state.tables[table].tree.isNull { filled.append(table) }
        }
        if !transaction.isReplay { for table in filled { try unlink(table) } }
        for table in filled { try clear(table) }
    }

    /// Removes the links from rows of other tables to the rows of this one.
    private func unlink(_ table: Int) throws(StorageError) {
        for (origin, column) in transaction.plans[table].linking where !tables.contains(origin) {
            try transaction.flushEntries(origin)
            guard let root = view.entryRoot(origin, column, .backlinks), !root.isNull else { continue }
            var next: Int64? = .min
            while let from = next {
                // In pieces: a list of all keys could exceed the memory budget.
                let keys = try view.keys(table, from: from, atMost: 1 << 16)
                try LinkRemoval(to: keys, transaction: transaction).run(from: origin, column)
                next = keys.last.flatMap { $0 == .max ? nil : $0 + 1 }
            }
        }
    }

    private func clear(_ table: Int) throws(StorageError) {
        // Removing links may have stored a collection in its row here.
        try transaction.flushRows(table)
        if !transaction.isReplay { try noteDeleted(table) }
        try TableNodes(of: table, view, transaction.workspace).giveUp()
        transaction.workspace.forget(table)
        view.state.tables[table].tree = .null
        for tree in view.state.tables[table].entries.indices { view.state.tables[table].entries[tree].root = .null }
        view.generation &+= 1
        if !transaction.isReplay { transaction.workspace.recorder.deleteAll(transaction.plans[table].id) }
    }

    /// Lists the rows as deleted for observers, up to the limit of listed changes.
    private func noteDeleted(_ table: Int) throws(StorageError) {
        try view.scan(table, columns: []) { (batch) throws(StorageError) in
            transaction.changes.deleted(table, UnsafeBufferPointer(start: batch.keys, count: batch.count))
        }
    }
}

extension TransactionChanges {
    /// Deletes all rows of tables, and every link to one.
    /// - Complexity: O(nodes of the tables), and O(rows of other tables that link to them).
    package func deleteAll(_ tables: [Int]) throws(StorageError) {
        for table in tables { try check(table) }
        do throws(StorageError) {
            try TableClearing(tables, transaction: self).run()
            try spillIfLarge()
        } catch {
            throw noted(error)
        }
    }

    /// Deletes all rows of a table, and every link to one.
    package func deleteAll(_ table: Int) throws(StorageError) { try deleteAll([table]) }
}
