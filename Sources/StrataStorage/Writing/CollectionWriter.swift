/// Changes collections in the open transaction.
///
/// 1. A collection that is changed is open: it has a tree that nothing leads to but ``OpenCollections``, and a handle
///    in its cell. So its nodes are changed where they stand, and its row is not.
/// 2. When the transaction ends, or spills, a collection whose tree is one leaf goes into its row when its bytes are no
///    more than a short value may have. That follows from the collection alone, so a replay decides alike.
/// 3. The tree of any other gets its place together with all nodes, and its root is written over the handle, where it
///    stands. A handle lasts no longer.
package struct CollectionWriter {
    private let transaction: WriteTransaction
    private var view: ReadView { transaction.view }
    private var workspace: WriterWorkspace { transaction.workspace }
    private var nodes: TransactionNodes { transaction.nodes }

    init(_ transaction: WriteTransaction) { self.transaction = transaction }

    private func place(_ table: Int, _ key: RowKey, _ column: Int) -> CollectionPlace {
        let plan = transaction.plans[table]
        return CollectionPlace(table: plan.id, key: key.rawValue, column: plan.ids[column])
    }

    // MARK: Whole values

    /// A collection made of its bytes, for ``add(_:)``.
    func build(
        _ bytes: UnsafeRawBufferPointer, _ table: Int, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> OpenCollection {
        let made = try make(.null, table, key, column)
        guard let payload = CollectionPayload(bytes, made.column, isLinks: made.isLinks) else {
            throw .misuse(.wrongType)
        }
        let elements = CollectionElements(made.shape)
        elements.append(borrowing: payload)
        try made.editor.insert(elements, at: 0)
        return made
    }

    private func make(
        _ root: NodeReference, _ table: Int, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> OpenCollection {
        let shape = try view.collectionShape(table, key, column)
        let definition = transaction.plans[table].columns[column]
        guard let collection = definition.collection else { throw .misuse(.wrongType) }
        let editor = try CollectionEditor(root, shape, writing: nodes, limits: nodes.limits)
        return OpenCollection(
            place(table, key, column), shape, collection, isLinks: definition.type == .links, editor)
    }

    /// Opens a collection whose row has a handle.
    func add(_ collection: OpenCollection) throws(StorageError) {
        guard let oldest = workspace.collections.add(collection) else { return }
        if try putInRow(oldest) { view.generation &+= 1 }
    }

    /// Gives up what a row's collection leads to. The cell stays as it is, and is void.
    func giveUp(_ table: Int, _ key: RowKey, _ column: Int, _ row: RowLocation) throws(StorageError) {
        let shape = try view.collectionShape(table, key, column)
        try workspace.giveUp(place(table, key, column), shape, try view.longValue(row, column))
    }

    // MARK: Into the rows

    /// Puts small collections into their rows, and sees that the handles of the others can be written over. Nothing
    /// waits in the editors of tables; rows must not be changed before ``seal(_:)``.
    func prepareForPlaces() throws(StorageError) {
        try putSmallInRows()
        for collection in workspace.collections.sorted { try bringHandleBack(collection.place) }
    }

    /// Puts small collections into their rows.
    func putSmallInRows() throws(StorageError) {
        if workspace.collections.isEmpty { return }
        for collection in workspace.collections.sorted { _ = try putInRow(collection) }
    }

    /// - Returns: false when it is not small.
    private func putInRow(_ collection: OpenCollection) throws(StorageError) -> Bool {
        guard let bytes = try smallBytes(collection) else { return false }
        let place = collection.place
        let (table, column) = try position(of: place)
        workspace.collections.remove(place)
        try collection.editor.clear()
        try Cell.withCopy(of: bytes) { (cell) throws(StorageError) in
            try transaction.editor(table).use { (editor) throws(StorageError) in
                try editor.set(place.key, column, CellValue(cell), keepsLong: true)
            }
        }
        return true
    }

    /// The bytes of a collection that stands in its row.
    private func smallBytes(_ collection: OpenCollection) throws(StorageError) -> [UInt8]? {
        let root = collection.editor.root
        if root.isNull { return [] }
        guard root.is(.collectionLeaf) else { return nil }
        let leaf = try CollectionTree.leaf(root, collection.shape, nodes)
        if leaf.flags & CollectionLeaf.hasLong != 0 || leaf.count > nodes.limits.inlineBytes { return nil }
        let elements = CollectionElements(collection.shape)
        elements.append(leaf)
        let bytes = CollectionEncoder(column: collection.column, isLinks: collection.isLinks).encode(elements)
        return bytes.count <= nodes.limits.inlineBytes ? bytes : nil
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
            let root = try placement.seal(collection.editor.root)
            LongValue(root, count: collection.editor.count).store(try handle(collection.place))
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

extension WriteTransaction {
    /// What the transaction has made of a collection; nil when it has not changed it.
    func openCollection(_ table: Int, _ key: RowKey, _ column: Int) -> CollectionCell? {
        if workspace.collections.isEmpty { return nil }
        let plan = plans[table]
        return workspace.collections.find(
            CollectionPlace(table: plan.id, key: key.rawValue, column: plan.ids[column]))?.cell
    }
}
