extension ReadView {
    /// The column ids under which row groups hold values, by table, once the store's ids are nearly exhausted. A row
    /// group keeps the values of a removed column until it is rebuilt, so a new column must not get the same id: it
    /// would read them.
    /// - Returns: no ids while there are many unused ones.
    /// - Throws: errors of reading.
    /// - Complexity: O(1); O(row groups) once ids are nearly exhausted.
    package func heldColumnIDs() throws(StorageError) -> [TableID: Set<ColumnID>] {
        guard schema.mayGiveEveryColumnID else { return [:] }
        var held: [TableID: Set<ColumnID>] = [:]
        for (position, table) in schema.tables.enumerated() {
            var ids: Set<ColumnID> = []
            try forEachGroup(position, from: .min) { (group) throws(StorageError) in
                for column in RowSet.firstUserColumn..<max(RowSet.firstUserColumn, group.columns) {
                    ids.insert(ColumnID(UInt16(truncatingIfNeeded: group.columnID(column))))
                }
                return true
            }
            held[table.id] = ids
        }
        return held
    }
}
