internal import StrataStorage

/// Lost and uncertain elements of one collection.
struct ElementLosses {
    var key: Int64
    /// Places of the lost elements. Below a lost branch, recovered elements count as the first ones.
    var places: [Range<Int>]
    /// Elements recovered without the nodes above them.
    var uncertain: Int
    /// Lost elements of inner collections, whose places are null now.
    var inner = 0
    /// A list with elements in the order of their pages.
    var isOrderUncertain = false
    var lost: Int { places.reduce(inner) { $0 + $1.count } }
}

/// Reassembles a collection that is a tree.
///
/// As for rows (docs/decisions/0004-salvage.md), it trusts first the verified nodes that the cell's root reaches; then,
/// only below lost branches, leaves that name this row and column.
struct SalvagedCollection {
    /// Parts of the tree, in order.
    private enum Part {
        case leaf(LooseCollectionNode)
        /// A lost leaf with this many elements.
        case lostLeaf(Int)
        /// A lost branch of this birth, with this many elements.
        case lostBranch(Int, birth: UInt64)
    }

    private let source: SalvageSource
    private var remains: CollectionRemains
    private var parts: [Part] = []
    private var visited: Set<UInt32> = []
    private(set) var losses: ElementLosses

    /// - Parameter orphans: returns the leaves of a collection that no readable branch references and that are not
    ///   newer than a version.
    init?(
        _ root: LongValue, _ definition: ColumnDefinition, table: UInt32, key: Int64, _ source: SalvageSource,
        orphans: (CollectionOwner, _ birth: UInt64) -> [NodeReference]
    ) {
        // A small file that references nodes repeatedly can claim any number of elements.
        guard let remains = CollectionRemains(definition, table: table, key: key),
            source.take(elements: Int(clamping: root.count))
        else { return nil }
        self.source = source
        self.remains = remains
        losses = ElementLosses(key: key, places: [], uncertain: 0)
        walk(root.reference, Int(clamping: root.count), level: nil)
        resolve(orphans)
    }

    private var table: UInt32 { remains.owner.table }

    /// Number of recovered elements.
    var count: Int { remains.count }

    /// The collection, encoded for its row.
    var bytes: [UInt8] { remains.encoded() }

    /// Visits the nodes that the root reaches, parents first; each at most once.
    private mutating func walk(_ reference: NodeReference, _ elements: Int, level: Int?) {
        let kind: NodeKind = reference.is(.collectionLeaf) ? .collectionLeaf : .collectionBranch
        guard visited.insert(reference.page).inserted,
            let base = source.node(reference, kind, table: remains.owner.table), let node = remains.own(base, kind),
            level == nil || node.level == level, node.count == elements
        else {
            parts.append(
                kind == .collectionLeaf ? .lostLeaf(elements) : .lostBranch(elements, birth: reference.birth))
            return
        }
        if node.level == 0 { return parts.append(.leaf(node)) }
        for child in node.children { walk(child.reference, child.elements, level: node.level - 1) }
    }

    private mutating func resolve(_ orphans: (CollectionOwner, UInt64) -> [NodeReference]) {
        let table = table
        for part in parts {
            switch part {
            case .leaf(let leaf): take(leaf, table)
            case .lostLeaf(let count): remains.takeGap(count)
            case .lostBranch(let count, let birth):
                let found = takeOrphans(orphans(remains.owner, birth), atMost: count)
                losses.uncertain += found
                losses.isOrderUncertain = losses.isOrderUncertain || found > 0 && remains.isList
                remains.takeGap(count - found)
            }
        }
        let before = remains.count
        remains.putInOrder()
        losses.uncertain = max(0, losses.uncertain - (before - remains.count))
        losses.places = remains.gaps
    }

    private mutating func take(_ leaf: LooseCollectionNode, _ table: UInt32) {
        var inner = NestedSalvage(source, visited)
        // `inner` must be the only owner of the set, or its first insert would copy the set for each leaf.
        visited = []
        let outer = remains
        _ = remains.take(leaf) { [source] in
            Self.take($0, source, table)
        } tree: {
            inner.bytes($0, in: outer)
        }
        visited = inner.visited
        losses.inner += inner.lost
    }

    /// The bytes of a long element; nil if they are lost, or if another element has taken them.
    static func take(
        _ long: LongValue, _ source: SalvageSource, _ table: UInt32
    ) -> UnsafeRawBufferPointer? {
        guard let bytes = read(long, source, table), source.take(long.reference) else { return nil }
        return bytes
    }

    static func read(
        _ long: LongValue, _ source: SalvageSource, _ table: UInt32
    ) -> UnsafeRawBufferPointer? {
        guard let node = source.node(long.reference, .value, table: table),
            long.count <= UInt64(long.reference.byteCount - Format.nodeHeaderSize)
        else { return nil }
        return UnsafeRawBufferPointer(start: node + Format.nodeHeaderSize, count: Int(long.count))
    }

    /// Appends the elements of leaves that no readable branch references, as long as they are not too many.
    /// - Returns: the number of elements.
    private mutating func takeOrphans(_ references: [NodeReference], atMost most: Int) -> Int {
        var leaves: [(reference: NodeReference, node: LooseCollectionNode)] = []
        for reference in references.sorted(by: { $0.page < $1.page }) where !visited.contains(reference.page) {
            guard let base = source.peek(reference, .collectionLeaf, table: remains.owner.table),
                let node = remains.own(base, .collectionLeaf)
            else { continue }
            leaves.append((reference, node))
        }
        let table = table
        leaves.sort { a, b in remains.precede(a.node, b.node) { Self.read($0, source, table) } }
        var taken = 0
        for leaf in leaves where taken + leaf.node.count <= most {
            visited.insert(leaf.reference.page)
            source.visit(leaf.reference)
            take(leaf.node, table)
            taken += leaf.node.count
        }
        return taken
    }

    /// The kind of a collection that no schema declares, derived from its first leaf: its elements are texts if all of
    /// their bytes are valid UTF-8.
    static func column(
        of root: NodeReference, table: UInt32, _ source: SalvageSource
    ) -> CollectionColumn? {
        var reference = root
        for _ in 0...16 {
            let kind: NodeKind = reference.is(.collectionLeaf) ? .collectionLeaf : .collectionBranch
            guard let base = source.node(reference, kind, table: table) else { return nil }
            let node = LooseCollectionNode(base, kind)
            guard let child = node.children.first else { return node.column }
            reference = child.reference
        }
        return nil
    }

    /// Excludes the pages of a collection from the scan for nodes, as far as they verify.
    static func visit(_ root: LongValue, table: UInt32, _ source: SalvageSource) {
        var waiting = [root.reference]
        while let reference = waiting.popLast() {
            let kind: NodeKind = reference.is(.collectionLeaf) ? .collectionLeaf : .collectionBranch
            if source.isVisitedNode(reference) { continue }
            source.visit(reference)
            guard let base = source.peek(reference, kind, table: table) else { continue }
            let node = LooseCollectionNode(base, kind)
            waiting += node.children.map(\.reference)
            for long in node.longValues {
                if long.is(.value) { source.visit(long) } else { waiting.append(long) }
            }
        }
    }
}
