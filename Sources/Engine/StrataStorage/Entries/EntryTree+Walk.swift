/// Walks over a whole tree, and checks it on the way.
extension EntryTree {
    /// Visits every node, parents first, and every entry in order.
    ///
    /// Checks levels, that each first key equals that of the leaf below, that entries ascend from leaf to leaf, and the
    /// counts of branches.
    /// - Throws: `corrupt` with the page of the bad node; errors of the closures.
    /// Complexity: O(n).
    static func walk(
        _ root: NodeReference, reading nodes: some NodeReading,
        visitNode: (NodeReference) throws(StorageError) -> Void,
        visitEntry: (Int64, Int64, UInt32) throws(StorageError) -> Void
    ) throws(StorageError) {
        try walkLeaves(root, reading: nodes, visitNode: visitNode) { (leaf) throws(StorageError) in
            for i in 0..<leaf.count { try visitEntry(leaf.high(i), leaf.low(i), leaf.count(i)) }
        }
    }

    /// Walks as ``walk(_:reading:visitNode:visitEntry:)`` does, and passes whole leaves to `visitLeaf`.
    static func walkLeaves(
        _ root: NodeReference, reading nodes: some NodeReading,
        visitNode: (NodeReference) throws(StorageError) -> Void,
        visitLeaf: (EntryLeaf) throws(StorageError) -> Void
    ) throws(StorageError) {
        if root.isNull { return }
        var previous: EntryKey?
        let level = try level(of: root, nodes)
        try walkLeaves(
            root, level: level, previous: &previous, in: nodes, visitNode: visitNode, visitLeaf: visitLeaf)
    }

    /// - Returns: first key and number of entries.
    @discardableResult
    private static func walkLeaves(
        _ reference: NodeReference, level: Int, previous: inout EntryKey?, in nodes: some NodeReading,
        visitNode: (NodeReference) throws(StorageError) -> Void,
        visitLeaf: (EntryLeaf) throws(StorageError) -> Void
    ) throws(StorageError) -> (first: EntryKey, total: UInt64) {
        if level > 0 {
            let branch = try branch(reference, level: level, nodes)
            try visitNode(reference)
            for i in 0..<branch.count {
                let child = branch.reference(i)
                let found = try walkLeaves(
                    child, level: level - 1, previous: &previous, in: nodes, visitNode: visitNode,
                    visitLeaf: visitLeaf)
                guard found.first == branch.key(i), found.total == branch.total(i) else { throw damaged(reference) }
            }
            return (branch.key(0), branch.total)
        }
        let node = try nodes.node(reference, .entryLeaf)
        guard EntryLeaf.validate(node, bytes: reference.byteCount) else { throw damaged(reference) }
        try visitNode(reference)
        let leaf = EntryLeaf(node)
        // Within the leaf entries ascend, as `validate` has checked.
        if let previous, !EntryOperation.precedes(previous, leaf.key(0)) { throw damaged(reference) }
        previous = leaf.key(leaf.count - 1)
        try visitLeaf(leaf)
        return (leaf.key(0), UInt64(leaf.count))
    }

    /// Visits every leaf in order. The walk checks the keys of leaves and branches against the branches above. So it
    /// visits no node twice, and entries ascend from leaf to leaf, even in a damaged tree.
    /// - Complexity: O(nodes).
    static func forEachLeaf(
        _ root: NodeReference, reading nodes: some NodeReading,
        _ visit: (EntryLeaf, UnsafeRawPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        if root.isNull { return }
        try forEachLeaf(root, level: try level(of: root, nodes), bounds: (nil, nil), in: nodes, visit)
    }

    private static func forEachLeaf(
        _ reference: NodeReference, level: Int, bounds: (first: EntryKey?, end: EntryKey?), in nodes: some NodeReading,
        _ visit: (EntryLeaf, UnsafeRawPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        if level == 0 {
            let node = try nodes.node(reference, .entryLeaf)
            let leaf = EntryLeaf(node)
            try check(first: leaf.key(0), last: leaf.key(leaf.count - 1), bounds: bounds, in: reference)
            return try visit(leaf, node)
        }
        let branch = try branch(reference, level: level, nodes)
        try check(first: branch.key(0), last: branch.key(branch.count - 1), bounds: bounds, in: reference)
        for i in 0..<branch.count {
            let below = (first: branch.key(i), end: i + 1 < branch.count ? branch.key(i + 1) : bounds.end)
            try forEachLeaf(branch.reference(i), level: level - 1, bounds: below, in: nodes, visit)
        }
    }

    /// Visits every node, children first. Leaves are not read.
    ///
    /// The walk checks the keys of branches against the branches above. So it visits no branch twice and ends, even in
    /// a damaged tree. There it may visit a leaf twice.
    /// - Complexity: O(branches) read.
    static func forEachNode(
        _ root: NodeReference, reading nodes: some NodeReading, _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        if root.isNull { return }
        try forEachNode(root, level: try level(of: root, nodes), bounds: (nil, nil), in: nodes, visit)
    }

    private static func forEachNode(
        _ reference: NodeReference, level: Int, bounds: (first: EntryKey?, end: EntryKey?), in nodes: some NodeReading,
        _ visit: (NodeReference) throws(StorageError) -> Void
    ) throws(StorageError) {
        if level > 0 {
            let branch = try branch(reference, level: level, nodes)
            try check(first: branch.key(0), last: branch.key(branch.count - 1), bounds: bounds, in: reference)
            for i in 0..<branch.count {
                let below = (first: branch.key(i), end: i + 1 < branch.count ? branch.key(i + 1) : bounds.end)
                try forEachNode(branch.reference(i), level: level - 1, bounds: below, in: nodes, visit)
            }
        }
        try visit(reference)
    }
}
