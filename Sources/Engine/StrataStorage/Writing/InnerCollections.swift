/// Opens inner collections, and stores them again.
///
/// A changed inner collection has a tree, and its element references the root, in the arena as on disk. That reference
/// needs no handle: leaves keep no stale values, so there is one copy of it, which moves with its element. When another
/// collection is changed, or the transaction ends or spills, an inner collection whose tree is one leaf is stored in
/// its element, if its bytes are short enough for a cell.
struct InnerCollections {
    private let transaction: TransactionChanges
    private var workspace: WriterWorkspace { transaction.workspace }
    private var nodes: TransactionNodes { transaction.nodes }

    init(_ transaction: TransactionChanges) { self.transaction = transaction }

    /// Opens the collection at the end of a path.
    /// - Parameters:
    ///   - outer: the row's own collection, open.
    ///   - path: checked: each place exists, and has a collection.
    func open(_ path: [Int], in outer: OpenCollection) throws(StorageError) -> OpenCollection {
        try settle(keeping: path, in: outer)
        var collection = workspace.collections.inner.last ?? outer
        for place in path.dropFirst(workspace.collections.inner.count) {
            collection = try open(at: place, in: collection)
            workspace.collections.inner.append(collection)
        }
        return collection
    }

    private func open(at place: Int, in outer: OpenCollection) throws(StorageError) -> OpenCollection {
        let run = try CollectionTree.run(at: place, in: outer.root, outer.shape, of: outer.count, reading: nodes)
        let value = run.leaf.values.cellValue(place - run.first)
        if let long = value.long, long.isTree {
            let isKeyed = try NestedCollection.isKeyed(long.reference, nodes)
            let made = try make(long.reference, isKeyed: isKeyed, in: outer, at: place)
            if UInt64(made.count) != long.count { throw CollectionTree.damaged(long.reference) }
            return made
        }
        let cell = try CollectionTree.element(run.leaf.values, place - run.first, nodes)
        guard cell.kind == .bytes, let (isKeyed, encoded) = NestedCollection.parse(cell.bytesValue) else {
            throw .misuse(.wrongType)
        }
        let made = try make(.null, isKeyed: isKeyed, in: outer, at: place)
        if !encoded.isEmpty {
            guard let payload = CollectionPayload(encoded, made.column, isLinks: false),
                AscendingCheck(made.column)?.ascends(payload) ?? true
            else { throw CollectionTree.damaged(outer.root) }
            let elements = CollectionElements(made.shape)
            elements.append(borrowing: payload)
            try made.editing().insert(elements, at: 0)
            try put(LongValue(made.root, count: made.count), of: made)
        }
        if let long = value.long { nodes.drop(long.reference) }
        return made
    }

    private func make(
        _ root: NodeReference, isKeyed: Bool, in outer: OpenCollection, at place: Int
    ) throws(StorageError) -> OpenCollection {
        try OpenCollection(
            outer.place, shape: outer.shape.nested(isKeyed: isKeyed, in: root), definition: outer.definition,
            column: .nested(isKeyed: isKeyed),
            root: root, nodes: nodes, in: (outer, place))
    }

    /// Updates the reference to a collection in its element, and the references to the collections around it, whose
    /// roots change with that.
    func note(_ collection: OpenCollection) throws(StorageError) {
        var inner = collection
        while let (outer, _) = inner.parent {
            if inner.root.isNull {
                try put([Self.type(of: inner)], of: inner)
            } else {
                try put(LongValue(inner.root, count: inner.count), of: inner)
            }
            inner = outer
        }
    }

    private static func type(of collection: OpenCollection) -> UInt8 {
        collection.column.isKeyed ? NestedCollection.mapType : NestedCollection.listType
    }

    private func put(_ long: LongValue, of collection: OpenCollection) throws(StorageError) {
        guard let (outer, place) = collection.parent else { return }
        try outer.editing().setKept(CellValue(.null, long: long), at: place)
    }

    private func put(_ bytes: [UInt8], of collection: OpenCollection) throws(StorageError) {
        guard let (outer, place) = collection.parent else { return }
        try Cell.withCopy(of: bytes) { (cell) throws(StorageError) in
            try outer.editing().setKept(CellValue(cell), at: place)
        }
    }

    /// Stores small collections in their elements, except the ones that stay open.
    /// - Parameter path: collections along it stay open.
    func settle(keeping path: [Int] = [], in outer: OpenCollection? = nil) throws(StorageError) {
        let inner = workspace.collections.inner
        if inner.isEmpty { return }
        var kept = 0
        if let outer, inner[0].parent?.collection === outer {
            while kept < inner.count, kept < path.count, inner[kept].parent?.place == path[kept] { kept += 1 }
        }
        while workspace.collections.inner.count > kept, let last = workspace.collections.inner.popLast() {
            try putInElement(last)
        }
    }

    private func putInElement(_ collection: OpenCollection) throws(StorageError) {
        guard !collection.root.isNull,
            let bytes = try CollectionPlacing.smallBytes(collection, nodes, most: nodes.limits.inlineBytes - 1)
        else { return }
        try collection.editing().clear()
        try put([Self.type(of: collection)] + bytes, of: collection)
        if let (outer, _) = collection.parent { try note(outer) }
    }
}
