/// Applies single operations to an entry tree, each along one path and without decoding a leaf. A transaction that
/// looks up an entry first applies the operations that wait for its tree, which are often few.
extension EntryTree {
    /// Up to this many operations are applied one by one.
    static var editedOneByOne: Int { 16 }

    /// Applies one operation, if it only changes one leaf in place, and the counts and first keys in branches above.
    ///
    /// - Returns: false if nodes would have to be split, joined or rebuilt. The tree's contents are unchanged then, but
    ///   some of its nodes may have been copied to the arena.
    /// - Throws: as ``apply(_:to:table:writing:limits:)``.
    /// - Complexity: O(log entries), without allocation except for copies.
    static func edit(
        _ operation: EntryOperation, in root: inout NodeReference, writing nodes: some NodeWriting, limits: StoreLimits
    ) throws(StorageError) -> Bool {
        if root.isNull { return false }
        let level = try level(of: root, nodes)
        return try edit(operation, &root, level: level, in: nodes, limit: max(limits.entries, 2)) != nil
    }

    /// The change of a node by an operation.
    private struct Edited {
        /// Change of its number of entries.
        var added: Int
        var first: EntryKey
    }

    private static func edit(
        _ operation: EntryOperation, _ reference: inout NodeReference, level: Int, in nodes: some NodeWriting,
        limit: Int
    ) throws(StorageError) -> Edited? {
        if level == 0 { return try editLeaf(operation, &reference, in: nodes, limit: limit) }
        let index = try branch(reference, level: level, nodes).position(of: operation.key)
        let node = try nodes.mutable(&reference)
        let branch = EntryBranch(UnsafeRawPointer(node))
        var child = branch.child(index)
        let edited = try edit(operation, &child.reference, level: level - 1, in: nodes, limit: limit)
        if let edited {
            child.total = child.total &+ UInt64(bitPattern: Int64(edited.added))
            (child.high, child.low) = edited.first
        }
        EntryBranch.set(child, at: index, in: node)
        return edited.map { Edited(added: $0.added, first: branch.key(0)) }
    }

    private static func editLeaf(
        _ operation: EntryOperation, _ reference: inout NodeReference, in nodes: some NodeWriting, limit: Int
    ) throws(StorageError) -> Edited? {
        let old = EntryLeaf(try nodes.node(reference, .entryLeaf))
        // An underfull leaf is rebuilt, so that it joins a neighbour.
        if operation.delta < 0 && old.isUnderfull(limit: limit) { return nil }
        let count = old.count
        let node = try nodes.mutable(&reference)
        switch EntryLeaf.edit(node, operation, limit: limit) {
        case .done: break
        case .rebuild: return nil
        case .broken: throw damaged(reference)
        }
        let new = EntryLeaf(UnsafeRawPointer(node))
        return Edited(added: new.count - count, first: (new.high(0), new.low(0)))
    }
}
