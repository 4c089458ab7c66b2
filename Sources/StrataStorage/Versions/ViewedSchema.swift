// What follows from the schema of a version, found once for all versions that have it.
extension ReadView {
    /// The columns, by the positions of table and column, whose links lead to a table.
    /// - Complexity: O(1).
    package func linkColumns(to table: Int) -> [(table: Int, column: Int)] { state.definitions.plans[table].linking }

    /// The same object as long as the schema is the same.
    package var schemaIdentity: any AnyObject & Sendable { state.definitions }

    /// The root of a column's tree; nil where the table has none.
    func entryRoot(_ table: Int, _ column: Int, _ kind: EntryRoot.Kind) -> NodeReference? {
        let id = state.schema.tables[table].columns[column].id
        guard let index = state.tables[table].entryRoot(id, kind) else { return nil }
        return state.tables[table].entries[index].root
    }
}
