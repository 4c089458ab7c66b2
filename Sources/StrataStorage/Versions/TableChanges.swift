/// Changes of a commit in one table, for observers.
package struct TableChanges: Sendable {
    package var table: TableID
    /// Keys of new rows; the ranges ascend if the keys did.
    package var inserted: [ClosedRange<Int64>] = []
    package var deleted: [Int64] = []
    /// Row keys and column ids, in the order of the writes; pairs may repeat.
    package var modified: [(key: Int64, column: UInt16)] = []
    /// False if there were too many changes to list; the versions must then be compared.
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
