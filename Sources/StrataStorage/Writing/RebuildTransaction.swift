/// A transaction that brings rows over from another store: they keep their keys and the versions that created them.
///
/// Concurrency: as ``WriteTransaction``.
package struct RebuildTransaction {
    /// Does what a rebuild has in common with any other transaction.
    package let transaction: WriteTransaction

    /// - Throws: as ``Store/beginWrite()``.
    package init(_ store: Store) throws(StorageError) {
        transaction = try store.beginWrite()
        transaction.keepsOrder = false
    }

    /// The version that the commit will make; no row was created by a later one.
    package var version: UInt64 { transaction.version }

    /// Lets the commit make at least this version, which is below ``Format/versionLimit``.
    package func raise(to version: UInt64) {
        precondition(version < Format.versionLimit, "a slot with such a version is refused")
        transaction.version = max(transaction.version, version)
    }

    /// Adds a row, as ``WriteTransaction/insert(_:key:_:)``.
    /// - Parameter created: the version that created it, not above ``version``.
    /// - Throws: `misuse(.duplicateKey)` and others of a plain insertion, before anything has changed; `noSpace`.
    package func insert(
        _ table: Int, key: RowKey, created: UInt64, _ cells: UnsafeBufferPointer<Cell>
    ) throws(StorageError) {
        try transaction.insert(table, key: key, created: created, cells)
    }

    /// Lets the next key that is made for a row of a table be at least this one: no row has it, or a later one.
    package func raiseNextKey(_ table: Int, to key: Int64) {
        transaction.view.state.tables[table].nextKey = max(key, transaction.view.state.tables[table].nextKey)
    }

    /// Calls `body` once for each key that a link of a column leads to, in ascending order from `first` on, until it
    /// returns false. Nothing may be changed meanwhile.
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

    /// Takes out the links of one column that lead to a row, as deleting the row would have done.
    package func unlink(_ table: Int, _ column: Int, from key: RowKey) throws(StorageError) {
        try LinkRemoval(to: key, transaction: transaction).run(from: table, column)
    }

    /// Takes out what stands for lost elements of a collection. A row or a column that is gone by now has none; where
    /// no schema says that a column holds collections, its bytes stay as they are.
    package func closeGaps(_ owner: CollectionOwner, _ gaps: inout CollectionGaps) throws(StorageError) {
        guard let (table, column) = try place(owner) else { return }
        for range in gaps.ranges.reversed() {
            try transaction.collections.remove(table, RowKey(owner.key), column, range)
        }
        gaps.close()
    }

    /// Puts a set, a map, and those that stand in elements in order, where they are not, and leaves out what is there
    /// twice: what the log says stays, where something else stands beside it.
    /// - Parameter gaps: closed; nil where nothing of the collection was lost.
    /// - Returns: nil where nothing had to be done.
    package func putInOrder(
        _ owner: CollectionOwner, _ gaps: CollectionGaps?
    ) throws(StorageError) -> (column: ColumnDefinition, count: Int, leftOut: Int)? {
        guard let (table, column) = try place(owner) else { return nil }
        let ordering = CollectionOrdering(transaction, table, RowKey(owner.key), column)
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
