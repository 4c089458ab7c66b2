/// Checks a whole collection tree.
struct CollectionWalk<Nodes: NodeReading> {
    let nodes: Nodes
    let shape: CollectionShape
    var allowsNulls = true
    /// Whether an element of a set, or a key of a map, precedes another.
    var precedes: (Cell, Cell) -> Bool = { _, _ in true }

    /// Facts that the walk has found below a node; the parent must state the same.
    private struct Found {
        var count: Int
        var key: Int64
        var flags: Int
    }

    /// Visits every node, parents first, and every leaf in order.
    ///
    /// Checks levels, owners, counts, flags and order keys of branches, that sets and maps ascend, nulls, and the zeros
    /// behind the bytes in use.
    /// - Throws: `corrupt` with the page of the bad node; errors of the closures.
    /// Complexity: O(n).
    func run(
        _ root: NodeReference, visitNode: (NodeReference) throws(StorageError) -> Void,
        visitRun: (CollectionRun) throws(StorageError) -> Void
    ) throws(StorageError) {
        if root.isNull { return }
        var place = 0
        var last: Cell?
        let level = try CollectionTree.level(of: root, shape, nodes)
        _ = try walk(root, level: level, place: &place, last: &last, visitNode: visitNode, visitRun: visitRun)
    }

    private func walk(
        _ reference: NodeReference, level: Int, place: inout Int, last: inout Cell?,
        visitNode: (NodeReference) throws(StorageError) -> Void,
        visitRun: (CollectionRun) throws(StorageError) -> Void
    ) throws(StorageError) -> Found {
        if level == 0 {
            let leaf = try CollectionTree.leaf(reference, shape, nodes)
            try visitNode(reference)
            try check(leaf, &last, reference)
            try visitRun(CollectionRun(leaf: leaf, first: place))
            place += leaf.count
            return Found(
                count: leaf.count, key: try CollectionTree.firstKey(leaf, shape, nodes), flags: leaf.flags)
        }
        let branch = try CollectionTree.branch(reference, level: level, shape, nodes)
        try visitNode(reference)
        for i in 0..<branch.count {
            let found = try walk(
                branch.reference(i), level: level - 1, place: &place, last: &last, visitNode: visitNode,
                visitRun: visitRun)
            guard found.count == branch.elements(i), found.key == branch.key(i), found.flags & ~branch.flags == 0
            else { throw CollectionTree.damaged(reference) }
        }
        return Found(count: branch.total, key: branch.key(0), flags: branch.flags)
    }

    private func check(_ leaf: CollectionLeaf, _ last: inout Cell?, _ reference: NodeReference) throws(StorageError) {
        guard allowsNulls || leaf.flags & CollectionLeaf.hasNulls == 0 else { throw CollectionTree.damaged(reference) }
        for offset in leaf.used..<Format.pageSize where leaf.node.u8(offset) != 0 {
            throw CollectionTree.damaged(reference)
        }
        if shape.form == .list { return }
        for slot in 0..<leaf.count {
            let element = try CollectionTree.element(leaf.ordered, slot, nodes)
            if let last, !precedes(last, element) { throw CollectionTree.damaged(reference) }
            last = element
        }
    }
}
