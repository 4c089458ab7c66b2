// Derived from a version's schema, and shared by all versions with that schema.
extension ReadView {
    /// The columns, as positions of table and column, that link to a table.
    /// - Complexity: O(1).
    package func linkColumns(to table: Int) -> [(table: Int, column: Int)] { state.definitions.plans[table].linking }

    /// The same object while the schema is the same.
    package var schemaIdentity: any AnyObject & Sendable { state.definitions }

    /// The root of a column's tree; nil if the table has none.
    func entryRoot(_ table: Int, _ column: Int, _ kind: EntryRoot.Kind) -> NodeReference? {
        let id = state.schema.tables[table].columns[column].id
        guard let index = state.tables[table].entryRoot(id, kind) else { return nil }
        return state.tables[table].entries[index].root
    }
}
