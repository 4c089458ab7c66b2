/// What the cell of a column of collections holds.
///
/// 1. No bytes, or null: the empty collection.
/// 2. Bytes, in the segment or, when they are long, in a value node (kind 4): a ``CollectionPayload``. The latter is
///    written no more; it is what a file has from before its column was one of collections.
/// 3. A long value that leads to a collection leaf or branch (kinds 11 and 12) and counts the elements: the root of a
///    tree that belongs to this row and column alone.
/// 4. In the open transaction, where the collection was changed: what leads nowhere, a ``handle(birth:)``. The
///    transaction knows where the tree is, by table, row and column. No version ever has one in a live cell; the slot
///    of a row that is gone may keep one.
///
/// Columns of other values hold 1, and bytes as in 2.
package enum CollectionCell {
    case empty
    /// Borrowed from the version.
    case encoded(UnsafeRawBufferPointer)
    case tree(root: NodeReference, count: Int)

    /// - Throws: `corrupt` when a long value is neither a tree nor bytes.
    init(_ segment: Segment, _ slot: Int, _ reader: PageReader) throws(StorageError) {
        if segment.isNull(slot) {
            self = .empty
            return
        }
        let bytes = segment.bytes(slot)
        if segment.isLong(slot) {
            self = try Self.long(bytes, reader)
        } else {
            self = bytes.isEmpty ? .empty : .encoded(bytes)
        }
    }

    /// What a long value is.
    static func long(
        _ descriptor: UnsafeRawBufferPointer, _ reader: PageReader
    ) throws(StorageError) -> CollectionCell {
        guard descriptor.count == LongValue.size, let base = descriptor.baseAddress, LongValue(base).isTree else {
            return .encoded(try reader.long(descriptor))
        }
        let value = LongValue(base)
        return .tree(root: value.reference, count: Int(clamping: value.count))
    }

    /// The bytes of a long value.
    /// - Throws: `misuse(.wrongType)` when it is a tree.
    static func bytes(
        _ descriptor: UnsafeRawBufferPointer, _ reader: PageReader
    ) throws(StorageError) -> UnsafeRawBufferPointer {
        guard case .encoded(let bytes) = try long(descriptor, reader) else { throw .misuse(.wrongType) }
        return bytes
    }

    /// What stands in the cell of a collection that the open transaction has changed. It has the look of a tree's root,
    /// so that a node with one in a slot of no row is as good as any other, and does not verify.
    static func handle(birth: UInt64) -> LongValue {
        LongValue(
            NodeReference(page: UInt32(Format.firstDataPage), pages: 1, kind: .collectionBranch, birth: birth),
            count: 1)
    }
}

extension CollectionColumn {
    /// How elements are encoded.
    var kind: SegmentKind {
        switch element {
        case .integer: .integer
        case .double: .double
        case .text, .data, .opaque: .bytes
        }
    }
}

extension CollectionShape {
    /// The shape of the collections of a column; nil when it has none.
    init?(_ definition: ColumnDefinition, table: UInt32, owner: Int64) {
        guard let column = definition.collection else { return nil }
        self.init(column, table: table, column: definition.id.rawValue, owner: owner)
    }

    init(_ collection: CollectionColumn, table: UInt32, column: UInt16, owner: Int64) {
        let form: CollectionForm = collection.isKeyed ? .map : collection.isSorted ? .set : .list
        self.init(form: form, kind: collection.kind, table: table, column: column, owner: owner)
        // Ties are settled in the leaves.
        if collection.element == .opaque, form == .set { orderKey = { $0.isNull ? .min : 0 } }
    }
}

/// The nodes of a tree of elements: what belongs to one row's cell.
struct CollectionNodes<Nodes: NodeReading> {
    let nodes: Nodes
    let shape: CollectionShape

    /// Visits each node, values with nodes of their own included; parents first.
    /// - Complexity: one read for each branch, and for each leaf that may have long values.
    func forEach(
        _ root: NodeReference, _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        if root.isNull { return }
        let level = try CollectionTree.level(of: root, shape, nodes)
        try forEach(root, level: level, flags: CollectionLeaf.hasLong, visit)
    }

    private func forEach(
        _ reference: NodeReference, level: Int, flags: Int, _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        try visit(reference)
        if level > 0 {
            let branch = try CollectionTree.branch(reference, level: level, shape, nodes)
            for i in 0..<branch.count {
                try forEach(branch.reference(i), level: level - 1, flags: branch.flags, visit)
            }
        } else if flags & CollectionLeaf.hasLong != 0 {
            let leaf = try CollectionTree.leaf(reference, shape, nodes)
            for segment in [leaf.values, leaf.keys].compactMap(\.self) where segment.kind == .bytes {
                for slot in 0..<segment.rows {
                    if let long = segment.cellValue(slot).long { try visit(long.reference) }
                }
            }
        }
    }
}
