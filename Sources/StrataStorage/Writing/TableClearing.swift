/// Takes all rows of some tables out by giving up their trees, so that it costs what a table has in nodes, and not what
/// it has in rows.
///
/// 1. Links among the tables go with their rows and their trees; those of other tables are taken out before, one by
///    one, as the record of a commit wants it.
/// 2. The record has one operation for each table that had rows. A replay does the same.
/// 3. Keys stay used: a table's next key is what it was.
struct TableClearing {
    private let transaction: WriteTransaction
    private let tables: [Int]
    private var view: ReadView { transaction.view }

    /// - Parameter tables: whose rows go, each once.
    init(_ tables: [Int], transaction: WriteTransaction) {
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

    /// Takes the links out that rows of other tables have to the rows of this one.
    private func unlink(_ table: Int) throws(StorageError) {
        for (origin, column) in transaction.plans[table].linking where !tables.contains(origin) {
            try transaction.flushEntries(origin)
            guard let root = view.entryRoot(origin, column, .backlinks), !root.isNull else { continue }
            var next: Int64? = .min
            while let from = next {
                // In pieces: a list of all keys could be larger than the memory budget.
                let keys = try view.keys(table, from: from, atMost: 1 << 16)
                try LinkRemoval(to: keys, transaction: transaction).run(from: origin, column)
                next = keys.last.flatMap { $0 == .max ? nil : $0 + 1 }
            }
        }
    }

    private func clear(_ table: Int) throws(StorageError) {
        // Taking links out may have sent a collection to its row here.
        try transaction.flushRows(table)
        if !transaction.isReplay { try noteDeleted(table) }
        try TableNodes(of: table, view, transaction.workspace).giveUp()
        transaction.workspace.forget(table)
        view.state.tables[table].tree = .null
        for tree in view.state.tables[table].entries.indices { view.state.tables[table].entries[tree].root = .null }
        view.generation &+= 1
        if !transaction.isReplay { transaction.workspace.recorder.deleteAll(transaction.plans[table].id) }
    }

    /// Lists the rows for observers, as many as are listed.
    private func noteDeleted(_ table: Int) throws(StorageError) {
        try view.scan(table, columns: []) { (batch) throws(StorageError) in
            transaction.changes.deleted(table, UnsafeBufferPointer(start: batch.keys, count: batch.count))
        }
    }
}

extension WriteTransaction {
    /// Takes all rows of tables out, and every link that leads to one.
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

    /// Takes all rows of a table out, and every link that leads to one.
    package func deleteAll(_ table: Int) throws(StorageError) { try deleteAll([table]) }
}
