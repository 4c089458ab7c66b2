/// What trees of entries know about a question before anybody answers it: how many rows they would name.
extension ReadView {
    /// Rows that the index of a column names for a value. Text and data are counted by their hash, doubles and integers
    /// exactly, but for null, which shares its place with the smallest integer.
    /// - Throws: `misuse` when the column has no index.
    /// - Complexity: O(log rows).
    package func indexedCount(_ table: Int, _ column: Int, equalTo cell: Cell) throws(StorageError) -> Int {
        let high = IndexKey.high(cell, state.schema.tables[table].columns[column])
        return try indexedCount(table, column, high, high)
    }

    /// Rows that the ordered index of a column names between two values, ends included.
    /// - Throws: `misuse` when the column has no ordered index.
    /// - Complexity: O(log rows).
    package func indexedCount(
        _ table: Int, _ column: Int, from low: Cell, through high: Cell
    ) throws(StorageError) -> Int {
        let definition = state.schema.tables[table].columns[column]
        guard definition.index == .ordered else { throw .misuse(.noSuchColumn) }
        return try indexedCount(table, column, IndexKey.high(low, definition), IndexKey.high(high, definition))
    }

    private func indexedCount(
        _ table: Int, _ column: Int, _ low: Int64, _ high: Int64
    ) throws(StorageError) -> Int {
        try prepareRows(table)
        try prepareEntries(table)
        guard low <= high else { return 0 }
        guard let kind = state.schema.tables[table].columns[column].index.rootKind,
            let root = entryRoot(table, column, kind)
        else { throw .misuse(.noSuchColumn) }
        let count = try EntryTree.count(
            in: root, from: (low, .min), through: (high, .max), reading: reader)
        try reader.confirm()
        return Int(clamping: count)
    }

    /// Rows that link to `key` by a link column of `table`, each counted once.
    /// - Complexity: O(log links).
    package func backlinkOrigins(to key: RowKey, of table: Int, _ column: Int) throws(StorageError) -> Int {
        try prepareEntries(table)
        guard let root = entryRoot(table, column, .backlinks) else { return 0 }
        let count = try EntryTree.count(
            in: root, from: (key.rawValue, .min), through: (key.rawValue, .max), reading: reader)
        try reader.confirm()
        return Int(clamping: count)
    }
}
