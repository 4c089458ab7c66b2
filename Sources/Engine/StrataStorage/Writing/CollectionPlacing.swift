/// Writes the open collections of a transaction to their rows.
///
/// 1. When the transaction ends or spills, a collection whose tree is one leaf is stored in its row, if its bytes are
///    short enough for a cell. That depends on the collection alone, so a replay decides in the same way.
/// 2. The tree of any other collection is placed together with all nodes, and its root overwrites the handle. So no
///    committed version has a handle.
struct CollectionPlacing {
    private let transaction: TransactionChanges
    private var view: ReadView { transaction.view }
    private var workspace: WriterWorkspace { transaction.workspace }
    private var nodes: TransactionNodes { transaction.nodes }

    init(_ transaction: TransactionChanges) { self.transaction = transaction }

    /// Stores small collections in their rows, and brings the handles of the others to the arena, so that ``seal(_:)``
    /// can overwrite them. No operations are pending in the tables' editors; rows must not change before ``seal(_:)``.
    func prepareForPlaces() throws(StorageError) {
        try putSmallInRows()
        for table in view.state.tables.indices { try transaction.flushRows(table) }
        for collection in workspace.collections.sorted { try bringHandleBack(collection.place) }
    }

    /// Stores small collections in their rows.
    func putSmallInRows() throws(StorageError) {
        try InnerCollections(transaction).settle()
        for collection in workspace.collections.takeChanged() { _ = try putInRow(collection) }
    }

    /// Stores a collection in its row, and closes it.
    /// - Returns: false, without any change, if the collection is not small.
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

    /// The bytes of a small collection; nil if they exceed `most`, or there are long elements.
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

    /// Seals the trees of all open collections, and writes their roots to their rows.
    func seal(_ placement: Placement) throws(StorageError) {
        if workspace.collections.isEmpty { return }
        for collection in workspace.collections.sorted {
            let root = try placement.seal(collection.root)
            LongValue(root, count: collection.count).store(try handle(collection.place))
        }
    }

    /// The group and slot of a row with a handle, and the column's position in the group.
    private func row(_ place: CollectionPlace) throws(StorageError) -> (group: Group, slot: Int32, position: Int) {
        let (table, column) = try position(of: place)
        let wanted = column + RowSet.firstUserColumn
        let layout = view.state.layouts[table]
        guard let group = try view.group(table, place.key), let slot = try group.locate(place.key, nodes.reader),
            let position = group.position(of: layout.ids[wanted], near: wanted)
        else { throw view.missingRow(in: table) }
        return (group, slot, position)
    }

    /// Copies the segment of a handle to the arena, unless it is there. If the arena was large when a group was built,
    /// the group's segments were written to the file at once, with the handles in them.
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

    /// Address of the handle of an open collection, in a node of this transaction that is not sealed yet.
    private func handle(_ place: CollectionPlace) throws(StorageError) -> UnsafeMutableRawPointer {
        let (group, slot, position) = try row(place)
        let (segment, index) = try group.value(position, at: slot, kind: .bytes, from: nodes.reader)
        guard segment.isLong(index), let base = segment.bytes(index).baseAddress, nodes.arena.contains(base) else {
            throw nodes.reader.damage(at: group.base)
        }
        return UnsafeMutableRawPointer(mutating: base)
    }
}
