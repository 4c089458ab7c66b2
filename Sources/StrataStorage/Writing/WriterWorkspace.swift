/// What write transactions hand on to one another, so that a small one allocates little.
///
/// Concurrency: guarded by the write lock.
final class WriterWorkspace {
    let nodes: TransactionNodes
    @exclusivity(unchecked) var recorder = ChangeRecorder(limit: 0)
    @exclusivity(unchecked) private(set) var editors: [TableEditor?] = []
    @exclusivity(unchecked) var entries: WaitingEntries
    @exclusivity(unchecked) var collections = OpenCollections()
    private var definitions: SchemaDefinitions?
    /// For operations on one element, by what elements are.
    @exclusivity(unchecked) private var singles: [CollectionElements?] = Array(repeating: nil, count: 8)

    init(_ nodes: TransactionNodes) {
        self.nodes = nodes
        entries = WaitingEntries(nodes)
    }

    /// Starts a transaction.
    /// - Parameter recordLimit: bytes that its record may have.
    func begin(_ state: VersionState, recordLimit: Int) {
        nodes.begin(version: state.version + 1)
        recorder.reset(limit: recordLimit)
        collections.removeAll()
        prepare(state)
    }

    /// Makes room for the tables of a state; nothing waits afterwards.
    func prepare(_ state: VersionState) {
        if definitions === state.definitions {
            for editor in editors { editor?.end() }
            entries.removeAll()
            return
        }
        definitions = state.definitions
        editors = Array(repeating: nil, count: state.tables.count)
        entries.begin(state.tables)
    }

    /// Room for one element of a column's collections. Nobody else asks for it until it was used.
    @inline(__always)
    func single(_ column: CollectionColumn) -> CollectionElements {
        let index = Int(column.kind.rawValue) * 2 + (column.isKeyed ? 1 : 0)
        if let known = singles[index] {
            known.removeAll()
            return known
        }
        let made = CollectionElements(column)
        singles[index] = made
        return made
    }

    /// Lets go of the memory of a large element.
    func forgetSingles() { singles = Array(repeating: nil, count: 8) }

    /// What the editors know of nodes is void from now on.
    func endEditors() { for editor in editors { editor?.end() } }

    /// Forgets what editors know of a table, and what waits for it: its trees were given up.
    func forget(_ table: Int) {
        editors[table]?.end()
        entries.forget(table)
    }

    /// Gives up what a collection's cell leads to: a tree, the one that the transaction has made of it, or the node of
    /// a value.
    /// - Parameter long: what stands in the cell, when it is long.
    func giveUp(
        _ place: CollectionPlace, _ shape: CollectionShape, _ long: LongValue?
    ) throws(StorageError) {
        if let open = collections.find(place) {
            collections.remove(place)
            return try open.editing().clear()
        }
        guard let long else { return }
        guard long.isTree else { return nodes.drop(long.reference) }
        // The nodes are of the file, and stay as they are.
        try CollectionNodes(nodes: nodes, shape: shape).forEach(long.reference) { nodes.drop($0) }
    }

    @inline(__always)
    func editor(_ table: Int, _ view: ReadView) -> Borrowed<TableEditor> {
        if let editor = editors[table], editor.isOpen { return Borrowed(editor) }
        return Borrowed(openEditor(table, view))
    }

    @inline(never)
    private func openEditor(_ table: Int, _ view: ReadView) -> TableEditor {
        if let editor = editors[table] {
            editor.begin(view)
            return editor
        }
        let made = TableEditor(table, view.state.layouts[table], nodes)
        made.begin(view)
        editors[table] = made
        return made
    }
}
