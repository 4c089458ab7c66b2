/// Takes the collections that the open transaction has changed to their rows.
///
/// 1. When the transaction ends, or spills, a collection whose tree is one leaf goes into its row when its bytes are no
///    more than a short value may have. That follows from the collection alone, so a replay decides alike.
/// 2. The tree of any other gets its place together with all nodes, and its root is written over the handle, where it
///    stands. A handle lasts no longer.
struct CollectionPlacing {
    private let transaction: WriteTransaction
    private var view: ReadView { transaction.view }
    private var workspace: WriterWorkspace { transaction.workspace }
    private var nodes: TransactionNodes { transaction.nodes }

    init(_ transaction: WriteTransaction) { self.transaction = transaction }

    /// Puts small collections into their rows, and sees that the handles of the others can be written over. Nothing
    /// waits in the editors of tables; rows must not be changed before ``seal(_:)``.
    func prepareForPlaces() throws(StorageError) {
        try putSmallInRows()
        for table in view.state.tables.indices { try transaction.flushRows(table) }
        for collection in workspace.collections.sorted { try bringHandleBack(collection.place) }
    }

    /// Puts small collections into their rows.
    func putSmallInRows() throws(StorageError) {
        try InnerCollections(transaction).settle()
        for collection in workspace.collections.takeChanged() { _ = try putInRow(collection) }
    }

    /// - Returns: false when it is not small.
    func putInRow(_ collection: OpenCollection) throws(StorageError) -> Bool {
        guard let bytes = try Self.smallBytes(collection, nodes, most: nodes.limits.inlineBytes) else { return false }
        let place = collection.place
        let (table, column) = try position(of: place)
        workspace.collections.remove(place)
        try collection.editing().clear()
        try Cell.withCopy(of: bytes) { (cell) throws(StorageError) in
            try transaction.editor(table).use { (editor) throws(StorageError) in
                try editor.set(place.key, column, CellValue(cell), keepsLong: true)
            }
        }
        return true
    }

    /// The bytes of a collection that stands in its row, or in its element; nil when they are more, or when elements
    /// stand in nodes of their own.
    static func smallBytes(
        _ collection: OpenCollection, _ nodes: TransactionNodes, most: Int
    ) throws(StorageError) -> [UInt8]? {
        let root = collection.root
        if root.isNull { return [] }
        guard root.is(.collectionLeaf) else { return nil }
        let leaf = try CollectionTree.leaf(root, collection.shape, nodes)
        if leaf.flags & CollectionLeaf.hasLong != 0 || leaf.count > most { return nil }
        let elements = CollectionElements(collection.shape)
        elements.append(leaf)
        let bytes = collection.encoder.encode(elements)
        return bytes.count <= most ? bytes : nil
    }

    private func position(of place: CollectionPlace) throws(StorageError) -> (table: Int, column: Int) {
        guard let table = view.state.schema.position(of: place.table),
            let column = view.state.schema.tables[table].position(of: place.column)
        else { throw .structure(view.state.root) }
        return (table, column)
    }

    /// Seals the trees of all open collections, and writes their roots into their rows.
    func seal(_ placement: Placement) throws(StorageError) {
        if workspace.collections.isEmpty { return }
        for collection in workspace.collections.sorted {
            let root = try placement.seal(collection.root)
            LongValue(root, count: collection.count).store(try handle(collection.place))
        }
    }

    /// The group of a row that has a handle, its slot, and where the column stands in it.
    private func row(_ place: CollectionPlace) throws(StorageError) -> (group: Group, slot: Int32, position: Int) {
        let (table, column) = try position(of: place)
        let wanted = column + RowSet.firstUserColumn
        let layout = view.state.layouts[table]
        guard let group = try view.group(table, place.key), let slot = try group.locate(place.key, nodes.reader),
            let position = group.position(of: layout.ids[wanted], near: wanted)
        else { throw view.missingRow(in: table) }
        return (group, slot, position)
    }

    /// The group stands in the arena. The segments of one that was built when there was much in the arena went to the
    /// file at once, with the handles that stand in them.
    private func bringHandleBack(_ place: CollectionPlace) throws(StorageError) {
        let (group, slot, position) = try row(place)
        guard nodes.arena.contains(group.base) else { throw nodes.reader.damage(at: group.base) }
        if slot < 0 || group.patchedValue(position, Int(slot)) != nil { return }
        let descriptor = group.descriptor(group.segmentIndex(position, Int(slot)))
        if descriptor.node == Group.inThisNode { return }
        var child = group.reference(descriptor.node)
        if child.isInArena { return }
        _ = try nodes.mutable(&child)
        child.store(
            UnsafeMutableRawPointer(mutating: group.base), Group.referencesOffset + descriptor.node * NodeReference.size
        )
    }

    /// Where the handle of an open collection stands: in a node of this transaction, which is not sealed yet.
    private func handle(_ place: CollectionPlace) throws(StorageError) -> UnsafeMutableRawPointer {
        let (group, slot, position) = try row(place)
        let (segment, index) = try group.value(position, slot, .bytes, nodes.reader)
        guard segment.isLong(index), let base = segment.bytes(index).baseAddress, nodes.arena.contains(base) else {
            throw nodes.reader.damage(at: group.base)
        }
        return UnsafeMutableRawPointer(mutating: base)
    }
}
