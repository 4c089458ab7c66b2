/// A transaction that copies rows from another store, with their keys and creation versions.
///
/// Concurrency: as ``WriteTransaction``.
package struct RebuildTransaction {
    /// The underlying transaction.
    package let transaction: WriteTransaction

    /// - Throws: as ``Store/beginWrite()``.
    package init(_ store: Store) throws(StorageError) {
        transaction = try store.beginWrite()
        transaction.keepsOrder = false
    }

    /// The version that the commit will make; no row may have a later creation version.
    package var version: UInt64 { transaction.version }

    /// Raises the version of the commit to at least this one, which must be below ``Format/versionLimit``.
    package func raise(to version: UInt64) {
        precondition(version < Format.versionLimit, "a slot with such a version is refused")
        transaction.version = max(transaction.version, version)
    }

    /// Inserts a row, as ``WriteTransaction/insert(_:key:_:)``.
    /// - Parameter created: its creation version, at most ``version``.
    /// - Throws: `misuse(.duplicateKey)` and the other errors of an insertion, before any change; `noSpace`.
    package func insert(
        _ table: Int, key: RowKey, created: UInt64, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        try transaction.insert(table, key: key, created: created, cells)
    }

    /// Raises a table's next generated key to at least this one: no row has it, or a later one.
    package func raiseNextKey(_ table: Int, to key: Int64) {
        transaction.view.state.tables[table].nextKey = max(key, transaction.view.state.tables[table].nextKey)
    }

    /// Calls `body` once for each key that links of a column lead to, ascending from `first`, until it returns false.
    /// The transaction must not change meanwhile.
    /// - Complexity: O(links).
    package func forEachTarget(
        of table: Int, _ column: Int, from first: Int64, _ body: (Int64) throws(StorageError) -> Bool
    ) throws(StorageError) {
        try transaction.flushAll()
        guard let root = transaction.view.entryRoot(table, column, .backlinks) else { return }
        var last: Int64?
        try EntryTree.forEach(
            in: root, from: (first, .min), reading: transaction.nodes
        ) { (key, _, _) throws(StorageError) in
            if key == last { return true }
            last = key
            return try body(key)
        }
    }

    /// Removes the links of one column to a row, like the row's deletion.
    package func unlink(_ table: Int, _ column: Int, from key: RowKey) throws(StorageError) {
        try LinkRemoval(to: key, transaction: transaction).run(from: table, column)
    }

    /// Removes the placeholders of a collection's lost elements. If its row or column no longer exists, or no schema
    /// declares the column's collections, it stays as it is.
    package func closeGaps(_ owner: CollectionOwner, _ gaps: inout CollectionGaps) throws(StorageError) {
        guard let (table, column) = try place(owner) else { return }
        for range in gaps.ranges.reversed() {
            try transaction.collections.remove(table, RowKey(owner.key), column: column, range: range)
        }
        gaps.close()
    }

    /// Sorts a set or a map and its inner collections if they are not sorted, and removes duplicates: elements from the
    /// log stay in preference to others.
    /// - Parameter gaps: closed; nil if no element of the collection was lost.
    /// - Returns: nil if there was no change.
    package func putInOrder(
        _ owner: CollectionOwner, _ gaps: CollectionGaps?
    ) throws(StorageError) -> (column: ColumnDefinition, count: Int, leftOut: Int)? {
        guard let (table, column) = try place(owner) else { return nil }
        let ordering = CollectionOrdering(transaction, table: table, key: RowKey(owner.key), column: column)
        guard let (count, leftOut) = try ordering.run({ gaps?.isLogged($0) ?? false }) else { return nil }
        return (transaction.view.schema.tables[table].columns[column], count, leftOut)
    }

    private func place(_ owner: CollectionOwner) throws(StorageError) -> (table: Int, column: Int)? {
        let schema = transaction.view.schema
        guard let table = schema.position(of: TableID(owner.table)),
            let column = schema.tables[table].position(of: owner.column),
            schema.tables[table].columns[column].collection != nil,
            try transaction.view.locate(table, RowKey(owner.key)) != nil
        else { return nil }
        return (table, column)
    }
}
