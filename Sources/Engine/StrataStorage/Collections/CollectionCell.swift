/// Content of a cell in a column of collections.
///
/// 1. No bytes, or null: the empty collection.
/// 2. Bytes, in the segment or, if long, in a value node (kind 4): a ``CollectionPayload``. No value node is
///    written any more; files have some from before their column was one of collections.
/// 3. A long value that references a collection leaf or branch (kinds 11 and 12) and counts the elements: the root of a
///    tree that belongs to this row and column alone.
/// 4. In the open transaction, for a changed collection: a ``handle(birth:)``, which references no node. The
///    transaction finds the tree by table, row and column. No version has a handle in a live cell; the slot of a
///    deleted row may keep one.
///
/// Cells of columns without collections have the contents of 1 or 2, with any bytes.
package enum CollectionCell {
    case empty
    /// Bytes borrowed from the version.
    case encoded(UnsafeRawBufferPointer)
    case tree(root: NodeReference, count: Int)

    /// - Throws: `corrupt` if a long value is neither a tree nor bytes.
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

    /// The content of a long value.
    static func long(
        _ descriptor: UnsafeRawBufferPointer, _ reader: PageReader
    ) throws(StorageError) -> CollectionCell {
        guard descriptor.count == LongValue.size, let base = descriptor.baseAddress, LongValue(base).isTree else {
            return .encoded(try reader.long(descriptor))
        }
        let value = LongValue(base)
        try value.checkCount(reader)
        return .tree(root: value.reference, count: Int(clamping: value.count))
    }

    /// The bytes of a long value.
    /// - Throws: `misuse(.wrongType)` if it is a tree.
    static func bytes(
        _ descriptor: UnsafeRawBufferPointer, _ reader: PageReader
    ) throws(StorageError) -> UnsafeRawBufferPointer {
        guard case .encoded(let bytes) = try long(descriptor, reader) else { throw .misuse(.wrongType) }
        return bytes
    }

    /// The cell of a collection that the open transaction has changed. It looks like a tree's root, so that a node with
    /// one in an unused slot is well-formed; but it never verifies.
    static func handle(birth: UInt64) -> LongValue {
        LongValue(
            NodeReference(page: UInt32(Format.firstDataPage), pages: 1, kind: .collectionBranch, birth: birth),
            count: 1)
    }
}

extension CollectionColumn {
    /// Encoding of the elements.
    var kind: SegmentKind {
        switch element {
        case .integer: .integer
        case .double: .double
        case .text, .data, .opaque, .any: .bytes
        }
    }
}

extension CollectionShape {
    /// The shape of a column's collections; nil if it has none.
    init?(_ definition: ColumnDefinition, table: UInt32, owner: Int64) {
        guard let column = definition.collection else { return nil }
        self.init(column, table: table, column: definition.id.rawValue, owner: owner)
    }

    init(_ collection: CollectionColumn, table: UInt32, column: UInt16, owner: Int64) {
        let form: CollectionForm = collection.isKeyed ? .map : collection.isSorted ? .set : .list
        self.init(form: form, kind: collection.kind, table: table, column: column, owner: owner)
        // Storage does not know the application's order: all values but null share an order key, and searches compare
        // the elements.
        if collection.isOrderedElsewhere, form == .set { orderKey = { $0.isNull ? .min : 0 } }
    }
}

extension LongValue {
    /// Checks that a tree does not claim more elements than the file's pages can hold: each leaf has a page of its own.
    /// Without the check, a small file that references nodes repeatedly could claim any number.
    /// - Throws: `corrupt` if it claims more.
    func checkCount(_ reader: PageReader) throws(StorageError) {
        if count > UInt64(reader.pageCount) * UInt64(CollectionLeaf.maxElements), !reference.isInArena {
            throw .structure(reference)
        }
    }
}

/// An inner collection as the bytes of an element: the type number, then the encoded collection, or nothing if that is
/// empty. An inner collection too long for that is a tree, referenced by a long value.
package enum NestedCollection {
    /// Type numbers of collections among values of any type.
    package static let listType: UInt8 = 13
    package static let mapType: UInt8 = 14
    /// Deepest nesting.
    package static let deepest = 100

    /// Whether it is a map, and its encoding; nil for a value of another type.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> (isKeyed: Bool, encoded: UnsafeRawBufferPointer)? {
        guard let type = bytes.first, type == listType || type == mapType else { return nil }
        return (type == mapType, UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    }

    /// Whether the bytes of an element are a well-formed inner collection, with all that it contains; true for other
    /// values.
    /// - Parameter depth: the number of collections around the element's own.
    static func isRight(_ bytes: UnsafeRawBufferPointer, _ holds: CollectionColumn, _ depth: Int) -> Bool {
        guard holds.takesNested, let (isKeyed, encoded) = parse(bytes) else { return true }
        if depth >= deepest { return false }
        if encoded.isEmpty { return true }
        let inner = CollectionColumn.nested(isKeyed: isKeyed)
        guard let payload = CollectionPayload(encoded, inner, isLinks: false), payload.count > 0,
            AscendingCheck(inner)?.ascends(payload) ?? true
        else { return false }
        return areRight(payload, inner, depth + 1)
    }

    /// As ``isRight(_:_:_:)``, for all elements of a collection.
    static func areRight(_ payload: CollectionPayload, _ holds: CollectionColumn, _ depth: Int) -> Bool {
        if !holds.takesNested { return true }
        return (0..<payload.count).allSatisfy { place in
            let value = payload.value(place)
            return value.kind != .bytes || isRight(value.bytesValue, holds, depth)
        }
    }

    /// As ``isRight(_:_:_:)``, for elements to be stored.
    static func areRight(_ elements: CollectionElements, _ holds: CollectionColumn, _ depth: Int) -> Bool {
        if !holds.takesNested { return true }
        return (0..<elements.values.count).allSatisfy { index in
            let value = elements.values.cellValue(index).cell
            return value.kind != .bytes || isRight(value.bytesValue, holds, depth)
        }
    }

    /// Whether an inner collection's tree is a map.
    static func isKeyed(_ root: NodeReference, _ nodes: some NodeReading) throws(StorageError) -> Bool {
        let form: Int
        if root.is(.collectionLeaf) {
            form = CollectionLeaf(try nodes.node(root, .collectionLeaf)).formCode
        } else {
            form = CollectionBranch(try nodes.node(root, .collectionBranch)).formCode
        }
        if form == Int(CollectionForm.set.rawValue) { throw CollectionTree.damaged(root) }
        return form == Int(CollectionForm.map.rawValue)
    }
}

/// The nodes of a collection's tree, with those of its long values and inner collections.
struct CollectionNodes<Nodes: NodeReading> {
    let nodes: Nodes
    let shape: CollectionShape

    /// Visits each node, those of long values included; parents first.
    /// - Complexity: one read for each branch, and for each leaf that may have long values.
    func forEach(
        _ root: NodeReference, _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        var met: Set<UInt32> = []
        try forEach(root, &met, visit)
    }

    /// - Parameter met: pages of the branches and roots visited. A second visit ends the walk as damage; otherwise it
    ///   would visit a shared node once for each of its parents.
    private func forEach(
        _ root: NodeReference, _ met: inout Set<UInt32>, _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        if root.isNull { return }
        let level = try CollectionTree.level(of: root, shape, nodes)
        if level == 0, shape.depth > 0, !met.insert(root.page).inserted { throw CollectionTree.damaged(root) }
        try forEach(root, level: level, flags: CollectionLeaf.hasLong, &met, visit)
    }

    private func forEach(
        _ reference: NodeReference, level: Int, flags: Int, _ met: inout Set<UInt32>,
        _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        try visit(reference)
        if level > 0 {
            if !met.insert(reference.page).inserted { throw CollectionTree.damaged(reference) }
            let branch = try CollectionTree.branch(reference, level: level, shape, nodes)
            for i in 0..<branch.count {
                try forEach(branch.reference(i), level: level - 1, flags: branch.flags, &met, visit)
            }
        } else if flags & CollectionLeaf.hasLong != 0 {
            let leaf = try CollectionTree.leaf(reference, shape, nodes)
            for segment in [leaf.values, leaf.keys].compactMap(\.self) where segment.kind == .bytes {
                for slot in 0..<segment.rows {
                    guard let long = segment.cellValue(slot).long else { continue }
                    if long.isTree {
                        try forEachNested(long.reference, &met, visit)
                    } else {
                        try visit(long.reference)
                    }
                }
            }
        }
    }

    /// The nodes of an inner collection.
    func forEachNested(
        _ root: NodeReference, _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        var met: Set<UInt32> = []
        try forEachNested(root, &met, visit)
    }

    private func forEachNested(
        _ root: NodeReference, _ met: inout Set<UInt32>, _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        let isKeyed = try NestedCollection.isKeyed(root, nodes)
        let inner = try shape.nested(isKeyed: isKeyed, in: root)
        try CollectionNodes(nodes: nodes, shape: inner).forEach(root, &met, visit)
    }
}
