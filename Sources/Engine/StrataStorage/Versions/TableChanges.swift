/// Changes of a commit in one table, for observers.
package struct TableChanges: Sendable {
    package var table: TableID
    /// Keys of new rows; the ranges ascend if the rows were inserted in the order of their keys.
    package var inserted: [ClosedRange<Int64>] = []
    package var deleted: [Int64] = []
    /// Row keys and column ids, in the order of the writes; pairs may repeat.
    package var modified: [(key: Int64, column: UInt16)] = []
    /// False if changes are missing here: there were too many to list, the transaction began without an observer, or
    /// another process committed it. To find them, the versions have to be compared.
    package var isComplete = true

    package init(table: TableID) { self.table = table }

    package var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && modified.isEmpty && isComplete }
}

/// A version that became visible.
package struct CommitNotice: Sendable {
    package var version: TransactionID
    /// Tables that changed.
    package var changes: [TableChanges]
    package var schemaChanged: Bool

    package init(version: TransactionID, changes: [TableChanges], schemaChanged: Bool) {
        self.version = version
        self.changes = changes
        self.schemaChanged = schemaChanged
    }
}
