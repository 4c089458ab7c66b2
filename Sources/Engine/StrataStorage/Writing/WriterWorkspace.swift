/// State that write transactions reuse, so that a small one allocates little.
///
/// Concurrency: guarded by the write gate.
final class WriterWorkspace {
    let nodes: TransactionNodes
    @exclusivity(unchecked) var recorder = ChangeRecorder(limit: 0)
    @exclusivity(unchecked) private(set) var editors: [TableEditor?] = []
    @exclusivity(unchecked) var entries: WaitingEntries
    @exclusivity(unchecked) var collections = OpenCollections()
    private var definitions: SchemaDefinitions?
    /// Buffers for operations on one element, by the type of the elements.
    @exclusivity(unchecked) private var singles: [CollectionElements?] = Array(repeating: nil, count: 8)

    init(_ nodes: TransactionNodes) {
        self.nodes = nodes
        entries = WaitingEntries(nodes)
    }

    /// Starts a transaction.
    /// - Parameter recordLimit: largest size of its record in bytes.
    func begin(_ state: VersionState, recordLimit: Int) {
        nodes.begin(version: state.version + 1)
        recorder.reset(limit: recordLimit)
        collections.removeAll()
        prepare(state)
    }

    /// Prepares for the tables of a state; no operation is pending afterwards.
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

    /// The empty buffer for one element of a column's collections. The caller is done with it before the next request.
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

    /// Releases the buffers for one element, after a large one was in them.
    func forgetSingles() { singles = Array(repeating: nil, count: 8) }

    /// Invalidates the nodes cached by the editors.
    func endEditors() { for editor in editors { editor?.end() } }

    /// Drops the cached nodes and pending operations of a table whose trees are dropped.
    func forget(_ table: Int) {
        editors[table]?.end()
        entries.forget(table)
    }

    /// Drops the nodes of a collection's cell: its tree, that of the open collection, or the value's node.
    /// - Parameter long: the content of the cell, if it is long.
    func giveUp(
        _ place: CollectionPlace, _ shape: CollectionShape, _ long: LongValue?
    ) throws(StorageError) {
        if let open = collections.find(place) {
            collections.remove(place)
            return try open.editing().clear()
        }
        guard let long else { return }
        guard long.isTree else { return nodes.drop(long.reference) }
        // The walk can continue after a drop: the nodes are in the file, and a drop does not change them.
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
