/// Changing an entry tree.
///
/// 1. Nodes of older versions are never written: a node is changed through `mutable`, or made.
/// 2. Every node that the tree no longer reaches is given up once, by `drop` or `mutable`.
/// 3. Node sizes are no invariant: what was just written and holds less than a quarter joins a neighbour, but nodes at
///    the end of the tree may be small, so that appended entries leave full nodes behind.
extension EntryTree {
    /// Applies many changes in one pass. `operations` may come in any order, and return sorted and summed.
    ///
    /// After an error the tree is neither old nor new: the transaction must be given up.
    /// - Throws: `corrupt` when an entry that is to be taken out is not there as often: the file breaks an invariant.
    ///   `limit(.valueSize)` when a count does not fit in 32 bits; what `nodes` throws.
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
