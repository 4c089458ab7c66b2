/// Changing an entry tree.
///
/// 1. A change never writes a node of an older version: it writes the copy from `mutable`, or a new node.
/// 2. It drops every node that the tree no longer reaches once, by `drop` or `mutable`.
/// 3. Node sizes are no invariant: a node that was just written and is less than a quarter full joins a neighbour, but
///    nodes at the end of the tree may be small, so that appended entries leave full nodes behind.
extension EntryTree {
    /// Applies many changes in one pass. `operations` may have any order; afterwards they are sorted and summed.
    ///
    /// After an error some changes are applied and others are not: the caller must roll the transaction back.
    /// - Throws: `corrupt` if an entry to be removed is missing or its count too low: the file breaks an invariant.
    ///   `limit(.valueSize)` if a count exceeds 32 bits; errors of `nodes`.
    /// Complexity: O(m log m + leaves touched), and O(m) for m sorted operations.
    static func apply(
        _ operations: inout [EntryOperation], to root: inout NodeReference, table: UInt32,
        writing nodes: some NodeWriting, limits: StoreLimits
    ) throws(StorageError) {
        try EntryOperation.prepare(&operations)
        var done = 0
        if operations.count <= editedOneByOne {
            while done < operations.count, try edit(operations[done], in: &root, writing: nodes, limits: limits) {
                done += 1
            }
        }
        if done == operations.count { return }
        let applier = EntryApplier(nodes: nodes, table: table, limits: limits)
        root = try operations.withUnsafeBufferPointer { (buffer) throws(StorageError) -> NodeReference in
            try applier.apply(UnsafeBufferPointer(rebasing: buffer[done...]), to: root)
        }
    }
}
