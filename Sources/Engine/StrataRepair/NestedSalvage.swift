internal import StrataStorage

/// Reassembles inner collections that are trees.
///
/// In a list a null stands for each lost element, so that the places in the log stay valid while the salvage replays
/// it. No placeholder can stand for a lost key of a map, so a map that lost one is lost as a whole.
struct NestedSalvage {
    private let source: SalvageSource
    /// Pages of visited nodes, so that none is read twice.
    private(set) var visited: Set<UInt32>
    private(set) var lost = 0

    init(_ source: SalvageSource, _ visited: Set<UInt32>) {
        self.source = source
        self.visited = visited
    }

    /// The inner collection, encoded as the bytes of its element; nil if it is lost.
    mutating func bytes(_ root: LongValue, in outer: CollectionRemains) -> [UInt8]? {
        guard let node = node(root.reference, outer), var remains = outer.nested(isKeyed: node.isKeyed),
            source.take(elements: Int(clamping: root.count)),
            take(root.reference, Int(clamping: root.count), level: nil, &remains)
        else { return nil }
        remains.putInOrder()
        if remains.isKeyed && !remains.gaps.isEmpty { return nil }
        let type = node.isKeyed ? NestedCollection.mapType : NestedCollection.listType
        return [type] + remains.encoded()
    }

    private func node(_ reference: NodeReference, _ remains: CollectionRemains) -> LooseCollectionNode? {
        let kind: NodeKind = reference.is(.collectionLeaf) ? .collectionLeaf : .collectionBranch
        return source.node(reference, kind, table: remains.owner.table).map { LooseCollectionNode($0, kind) }
    }

    /// - Returns: false if a loss has no placeholder.
    private mutating func take(
        _ reference: NodeReference, _ elements: Int, level: Int?, _ remains: inout CollectionRemains
    ) -> Bool {
        let kind: NodeKind = reference.is(.collectionLeaf) ? .collectionLeaf : .collectionBranch
        guard visited.insert(reference.page).inserted,
            let base = source.node(reference, kind, table: remains.owner.table), let node = remains.own(base, kind),
            level == nil || node.level == level, node.count == elements
        else { return takeGap(elements, &remains) }
        if node.level > 0 {
            for child in node.children
            where !take(child.reference, child.elements, level: node.level - 1, &remains) {
                return false
            }
            return true
        }
        let table = remains.owner.table
        let outer = remains
        var inner = NestedSalvage(source, visited)
        visited = []
        let count = remains.take(node) { [source] in
            SalvagedCollection.take($0, source, table)
        } tree: {
            inner.bytes($0, in: outer)
        }
        visited = inner.visited
        lost += inner.lost + count
        return count == 0 || !node.isKeyed
    }

    private mutating func takeGap(_ count: Int, _ remains: inout CollectionRemains) -> Bool {
        if remains.isKeyed { return false }
        remains.takeGap(count)
        lost += count
        return true
    }
}
