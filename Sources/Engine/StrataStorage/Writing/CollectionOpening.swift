/// Finds and opens collections to be changed.
///
/// 1. A changed collection is open: its tree is referenced by ``OpenCollections`` alone, and its cell has a handle. So
///    a further change is made in the tree's nodes in the arena, and does not touch the row.
/// 2. ``CollectionPlacing`` writes it to its row when the transaction ends or spills.
/// 3. An inner collection is changed in a tree of its own, too, which its element references: ``InnerCollections``.
struct CollectionOpening {
    private let transaction: TransactionChanges
    /// Places of the elements around the collection, from the outside; empty for a row's own.
    private let path: [Int]
    private var view: ReadView { transaction.view }
    private var workspace: WriterWorkspace { transaction.workspace }
    private var nodes: TransactionNodes { transaction.nodes }

    init(_ transaction: TransactionChanges, _ path: [Int] = []) {
        self.transaction = transaction
        self.path = path
    }

    func reader(_ table: Int, _ key: RowKey, _ column: Int) throws(StorageError) -> CollectionReader {
        try CollectionReader(view, table: table, key: key, column: column, path: path)
    }

    /// Type of the collection's elements.
    func elementColumn(
        _ table: Int, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> CollectionColumn {
        let columns = transaction.plans[table].columns
        guard columns.indices.contains(column) else { throw .misuse(.noSuchColumn) }
        guard let collection = columns[column].collection else { throw .misuse(.wrongType) }
        if path.isEmpty { return collection }
        if let current = current(table, key, column) { return current.column }
        return try reader(table, key, column).column
    }

    /// The inner collection at the path, if it was changed last.
    private func current(_ table: Int, _ key: RowKey, _ column: Int) -> OpenCollection? {
        let inner = workspace.collections.inner
        guard let last = inner.last, inner.count == path.count, last.place == place(table, key, column),
            zip(inner, path).allSatisfy({ $0.parent?.place == $1 })
        else { return nil }
        return last
    }

    private func place(_ table: Int, _ key: RowKey, _ column: Int) -> CollectionPlace {
        let plan = transaction.plans[table]
        return CollectionPlace(table: plan.id, key: key.rawValue, column: plan.ids[column])
    }

    // MARK: Values

    /// Builds a collection from its checked bytes. The caller stores its handle in the row, then calls ``add(_:)``.
    func build(
        _ bytes: UnsafeRawBufferPointer, table: Int, key: RowKey, column: Int
    ) throws(StorageError) -> OpenCollection {
        let made = try make(.null, table: table, key: key, column: column)
        guard let payload = CollectionPayload(bytes, made.column, isLinks: made.isLinks) else {
            throw .misuse(.wrongType)
        }
        try fill(made, payload)
        return made
    }

    private func fill(_ collection: OpenCollection, _ payload: CollectionPayload) throws(StorageError) {
        let elements = CollectionElements(collection.shape)
        elements.append(borrowing: payload)
        try collection.editing().insert(elements, at: 0)
    }

    private func make(
        _ root: NodeReference, table: Int, key: RowKey, column: Int
    ) throws(StorageError) -> OpenCollection {
        let shape = try view.collectionShape(table, key, column)
        let definition = transaction.plans[table].columns[column]
        guard let collection = definition.collection else { throw .misuse(.wrongType) }
        return try OpenCollection(
            place(table, key, column), shape: shape, definition: definition, column: collection, root: root,
            nodes: nodes)
    }

    /// Adds a collection, whose cell has a handle, to the open ones.
    func add(_ collection: OpenCollection) throws(StorageError) {
        guard let oldest = workspace.collections.add(collection) else { return }
        if try CollectionPlacing(transaction).putInRow(oldest) { view.generation &+= 1 } else { oldest.rest() }
    }

    /// Drops the nodes of a row's collection. The cell stays unchanged, and is invalid.
    func giveUp(_ table: Int, _ key: RowKey, column: Int, at row: RowLocation) throws(StorageError) {
        let shape = try view.collectionShape(table, key, column)
        try workspace.giveUp(place(table, key, column), shape, try view.longValue(row, column))
    }

    // MARK: Opening

    /// Opens a collection for a change.
    /// - Parameters:
    ///   - changes: whether there is a change. A collection that is opened and not changed could become a tree, which a
    ///     replay would not make.
    ///   - suits: whether the change is possible, with this number of elements.
    /// - Returns: nil if there is no change.
    /// - Throws: `misuse` with `noSuchRow`, `noSuchColumn`, `wrongType`, or `noSuchPlace` if the change is impossible;
    ///   the collection is unchanged then.
    func opened(
        _ table: Int, _ key: RowKey, _ column: Int, changes: Bool, where suits: (Int) -> Bool
    ) throws(StorageError) -> OpenCollection? {
        guard column >= 0, column < transaction.plans[table].ids.count else { throw .misuse(.noSuchColumn) }
        if !path.isEmpty { return try openedInner(table, key, column, changes: changes, where: suits) }
        if let found = workspace.collections.find(place(table, key, column)) {
            guard suits(found.count) else { throw .misuse(.noSuchPlace) }
            if changes && !workspace.collections.inner.isEmpty { try InnerCollections(transaction).settle() }
            if found.isResting { try add(found) }
            if changes { workspace.collections.noteChange(found) }
            return changes ? found : nil
        }
        return try open(table, key, column: column, changes: changes, where: suits)
    }

    /// As ``opened(_:_:_:changes:where:)``, for an inner collection.
    private func openedInner(
        _ table: Int, _ key: RowKey, _ column: Int, changes: Bool, where suits: (Int) -> Bool
    ) throws(StorageError) -> OpenCollection? {
        let current = current(table, key, column)
        let count = if let current { current.count } else { try reader(table, key, column).count }
        guard suits(count) else { throw .misuse(.noSuchPlace) }
        if !changes { return nil }
        let inner = InnerCollections(transaction)
        if workspace.collections.inner.first?.place != place(table, key, column) { try inner.settle() }
        let outer = CollectionOpening(transaction)
        guard let opened = try outer.openedOuter(table, key, column) else { return nil }
        return try inner.open(path, in: opened)
    }

    /// Opens a row's own collection, in which an inner one will be changed.
    private func openedOuter(
        _ table: Int, _ key: RowKey, _ column: Int
    ) throws(StorageError) -> OpenCollection? {
        guard let found = workspace.collections.find(place(table, key, column)) else {
            return try open(table, key, column: column, changes: true) { _ in true }
        }
        if found.isResting { try add(found) }
        workspace.collections.noteChange(found)
        return found
    }

    @inline(never)
    private func open(
        _ table: Int, _ key: RowKey, column: Int, changes: Bool, where suits: (Int) -> Bool
    ) throws(StorageError) -> OpenCollection? {
        let shape = try view.collectionShape(table, key, column)
        guard let row = try view.locate(table, key) else { throw .misuse(.noSuchRow) }
        let cell = try view.collectionCell(row, column)
        let reader = try CollectionReader(cell, in: view, table: table, key: key, column: column)
        guard suits(reader.count) else { throw .misuse(.noSuchPlace) }
        if !changes { return nil }
        if !workspace.collections.inner.isEmpty { try InnerCollections(transaction).settle() }
        var root = NodeReference.null
        if case .tree(let reference, let count) = cell {
            root = reference
            guard try CollectionTree.count(root, shape, reading: nodes) == count else {
                throw CollectionTree.damaged(root)
            }
        }
        let collection = try make(root, table: table, key: key, column: column)
        if let payload = reader.payload {
            if transaction.keepsOrder, let order = AscendingCheck(collection.column), !order.ascends(payload) {
                throw view.damage(at: row)
            }
            try fill(collection, payload)
            if let long = try view.longValue(row, column) { nodes.drop(long.reference) }
        }
        let handle = CollectionCell.handle(birth: nodes.version)
        try transaction.editor(table).use { (editor) throws(StorageError) in
            try editor.set(key.rawValue, column, CellValue(.null, long: handle), keepsLong: true)
        }
        view.generation &+= 1
        if !transaction.isReplay {
            transaction.changes.modified(table, key.rawValue, collection.place.column.rawValue)
        }
        try add(collection)
        return collection
    }
}
