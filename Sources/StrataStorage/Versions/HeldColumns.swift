extension ReadView {
    /// The ids that row groups hold values under, table by table, when those of the store come to an end: a column that
    /// is gone leaves its values in its groups until they are rebuilt, and a new column of that id would read them.
    /// - Returns: nothing while there are many ids that no column ever had.
    /// - Throws: what reading throws.
    /// - Complexity: O(1), and then O(row groups).
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
