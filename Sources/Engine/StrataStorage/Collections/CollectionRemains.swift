// Salvage of collections: each node names its row and column, and a collection is reassembled from such nodes. The
// checksums of all nodes used here were verified.

/// The row and column of a collection.
package struct CollectionOwner: Hashable, Sendable {
    package var table: UInt32
    package var column: ColumnID
    package var key: Int64

    /// The owner named by a leaf.
    package init(leaf node: UnsafeRawPointer) {
        self.init(LooseCollectionNode(node, .collectionLeaf))
    }

    fileprivate init(_ node: LooseCollectionNode) { self = node.owner }

    package init(table: UInt32, column: ColumnID, key: Int64) {
        self.table = table
        self.column = column
        self.key = key
    }
}

/// A leaf or a branch of a collection that a salvage found, whether or not the tree above it is readable.
package struct LooseCollectionNode {
    package let owner: CollectionOwner
    /// 0 for a leaf.
    package let level: Int
    /// Number of elements in it or below it.
    package let count: Int
    /// Whether elements may be long values.
    package let mayHaveLong: Bool
    /// Whether the node belongs to an inner collection.
    package let isNested: Bool
    fileprivate let leaf: CollectionLeaf?
    private let branch: CollectionBranch?
    private let formCode: Int

    /// - Parameter node: of this kind, a leaf or a branch.
    package init(_ node: UnsafeRawPointer, _ kind: NodeKind) {
        let table = NodeHeader.table(node)
        if kind == .collectionLeaf {
            let leaf = CollectionLeaf(node)
            owner = CollectionOwner(table: table, column: ColumnID(leaf.column), key: leaf.owner)
            (self.leaf, branch, level, count, formCode) = (leaf, nil, 0, leaf.count, leaf.formCode)
            mayHaveLong = leaf.flags & CollectionLeaf.hasLong != 0
            isNested = leaf.flags & CollectionLeaf.isNested != 0
        } else {
            let branch = CollectionBranch(node)
            owner = CollectionOwner(table: table, column: ColumnID(branch.column), key: branch.owner)
            (leaf, self.branch, level, count, formCode) = (nil, branch, branch.level, branch.total, branch.formCode)
            mayHaveLong = branch.flags & CollectionLeaf.hasLong != 0
            isNested = branch.flags & CollectionLeaf.isNested != 0
        }
    }

    /// References of a branch's children, and the number of elements of each.
    package var children: [(reference: NodeReference, elements: Int)] {
        guard let branch else { return [] }
        return (0..<branch.count).map { (branch.reference($0), branch.elements($0)) }
    }

    /// References of a leaf's long values.
    package var longValues: [NodeReference] {
        guard let leaf, mayHaveLong else { return [] }
        return [leaf.keys, leaf.values].compactMap(\.self).flatMap { segment in
            segment.kind == .bytes ? (0..<segment.rows).compactMap { segment.cellValue($0).long?.reference } : []
        }
    }

    /// The kind of collection that a leaf may belong to; nil for a branch.
    package var column: CollectionColumn? {
        guard let leaf, let kind = leaf.values.kind else { return nil }
        let isSorted = formCode == Int(CollectionForm.set.rawValue)
        let element: CollectionColumn.Element
        switch kind {
        case .integer: element = .integer
        case .double: element = .double
        case .bytes:
            let isText = (0..<leaf.count).allSatisfy { slot in
                let value = leaf.values.cellValue(slot)
                return value.long != nil || String(validating: value.cell.bytesValue, as: UTF8.self) != nil
            }
            if leaf.flags & CollectionLeaf.hasTrees != 0 {
                element = .any
            } else {
                element = isText ? .text : isSorted ? .opaque : .data
            }
        }
        return CollectionColumn(element, isKeyed: isKeyed, isSorted: isSorted, allowsNulls: true)
    }

    package var isKeyed: Bool { formCode == Int(CollectionForm.map.rawValue) }

    fileprivate func suits(_ shape: CollectionShape) -> Bool {
        isNested == (shape.depth > 0) && formCode == Int(shape.form.rawValue)
            && (leaf == nil || leaf?.values.kind == shape.kind)
    }
}

/// Reassembles one collection from its remains.
///
/// A placeholder stands for each lost element until ``RebuildTransaction/closeGaps(_:_:)`` removes it, because the
/// places in the log count the lost elements.
package struct CollectionRemains {
    private let definition: ColumnDefinition
    private let column: CollectionColumn
    private let shape: CollectionShape
    private var elements: CollectionElements
    /// Ranges of placeholders. Ascending, not adjacent.
    package private(set) var gaps: [Range<Int>] = []

    /// Most elements that a page can hold.
    package static var mostElementsPerPage: Int { CollectionLeaf.maxElements }

    /// Nil if the column has no collections.
    package init?(_ definition: ColumnDefinition, table: UInt32, key: Int64) {
        guard let column = definition.collection, let shape = CollectionShape(definition, table: table, owner: key)
        else { return nil }
        self.definition = definition
        self.column = column
        self.shape = shape
        elements = CollectionElements(shape)
    }

    /// For an inner collection; nil if the outer one can hold none.
    private init?(nestedIn outer: CollectionRemains, isKeyed: Bool) {
        guard outer.column.takesNested else { return nil }
        do throws(StorageError) { shape = try outer.shape.nested(isKeyed: isKeyed) } catch { return nil }
        definition = outer.definition
        column = .nested(isKeyed: isKeyed)
        elements = CollectionElements(column)
    }

    /// Starts an inner collection; nil if there can be none, or it would be too deep.
    package func nested(isKeyed: Bool) -> CollectionRemains? { CollectionRemains(nestedIn: self, isKeyed: isKeyed) }

    package var owner: CollectionOwner {
        CollectionOwner(table: shape.table, column: ColumnID(shape.column), key: shape.owner)
    }

    package var isKeyed: Bool { column.isKeyed }
    package var isList: Bool { shape.form == .list }

    /// Number of elements that are not lost.
    package var count: Int { elements.count - gaps.reduce(0) { $0 + $1.count } }

    /// The node, if it names this collection's owner and shape.
    package func own(_ node: UnsafeRawPointer, _ kind: NodeKind) -> LooseCollectionNode? {
        let found = LooseCollectionNode(node, kind)
        return found.owner == owner && found.suits(shape) ? found : nil
    }

    /// Whether the elements of one leaf come before those of another, as far as that is known without a tree. Always
    /// false for a list, whose leaves the caller leaves in the order of their pages.
    /// - Parameter read: returns the bytes of a long element; nil if they are lost.
    package func precede(
        _ a: LooseCollectionNode, _ b: LooseCollectionNode, _ read: (LongValue) -> UnsafeRawBufferPointer?
    ) -> Bool {
        if shape.form == .list { return false }
        func first(_ node: LooseCollectionNode) -> Cell {
            guard let value = node.leaf?.ordered.cellValue(0) else { return .null }
            guard let long = value.long else { return value.cell }
            return read(long).map { .bytes($0) } ?? .null
        }
        return CollectionOrder.check(column)(first(a), first(b))
    }

    /// Appends the elements of a leaf.
    /// - Parameters:
    ///   - read: returns the bytes of a long element; nil if they are lost.
    ///   - tree: returns the bytes of an inner collection that is a tree; nil if it is lost.
    /// - Returns: how many elements are lost.
    package mutating func take(
        _ node: LooseCollectionNode, _ read: (LongValue) -> UnsafeRawBufferPointer?,
        tree: (LongValue) -> [UInt8]?
    ) -> Int {
        guard let leaf = node.leaf else { return 0 }
        func cell(_ segment: Segment, _ slot: Int) -> Cell? {
            let value = segment.cellValue(slot)
            guard let long = value.long else { return value.cell }
            return read(long).map { .bytes($0) }
        }
        var lost = 0
        for slot in 0..<leaf.count {
            let key = leaf.keys.map { cell($0, slot) } ?? .null
            if let long = leaf.values.cellValue(slot).long, long.isTree {
                if let key, let bytes = tree(long) {
                    Cell.withCopy(of: bytes) { elements.append(key: key, $0) }
                } else {
                    takeGap(1)
                    lost += 1
                }
                continue
            }
            let value = cell(leaf.values, slot)
            if let value, let key, column.allowsNulls || !value.isNull,
                value.kind != .bytes || NestedCollection.isRight(value.bytesValue, column, shape.depth)
            {
                elements.append(key: key, value)
            } else {
                takeGap(1)
                lost += 1
            }
        }
        return lost
    }

    /// Appends placeholders for lost elements.
    package mutating func takeGap(_ count: Int) {
        if count == 0 { return }
        note(elements.count..<(elements.count + count), in: &gaps)
        for _ in 0..<count { elements.append(key: Self.empty, placeholder) }
    }

    private func note(_ range: Range<Int>, in gaps: inout [Range<Int>]) {
        if let last = gaps.last, last.upperBound == range.lowerBound {
            gaps[gaps.count - 1] = last.lowerBound..<range.upperBound
        } else {
            gaps.append(range)
        }
    }

    private static var empty: Cell { .bytes(UnsafeRawBufferPointer(start: nil, count: 0)) }

    /// The placeholder for an element. As a link it leads to no row.
    private var placeholder: Cell {
        switch column.kind {
        case .integer: .integer(.min + 1)
        case .double: .double(0)
        case .bytes: Self.empty
        }
    }

    /// Makes gaps of the elements that do not ascend. Leaves that were ordered without their tree may contain some.
    package mutating func putInOrder() {
        if shape.form == .list { return }
        let precedes = CollectionOrder.check(column)
        func ordered(_ place: Int) -> Cell { (elements.keys ?? elements.values).cellValue(place).cell }
        var kept: [Range<Int>] = []
        var gap = 0
        var last: Int?
        for place in 0..<elements.count {
            while gap < gaps.count, gaps[gap].upperBound <= place { gap += 1 }
            let isGap = gap < gaps.count && gaps[gap].contains(place)
            if isGap || last.map({ !precedes(ordered($0), ordered(place)) }) ?? false {
                note(place..<(place + 1), in: &kept)
            } else {
                last = place
            }
        }
        gaps = kept
    }

    /// The collection with its placeholders, encoded for its row.
    package func encoded() -> [UInt8] {
        CollectionEncoder(column: column, isLinks: definition.type == .links).encode(elements)
    }
}
