/// Keeping a transaction's memory bounded, however much it changes.
///
/// What it has changed stands in the arena. Above ``StoreLimits/memoryBudget``, between two operations, all of it gets
/// places in the file and is written, as at a commit: pages that no version reaches, free again after a rollback or a
/// crash. A node that is changed after that is copied once more, and its first copy used again at the next spill.
extension WriteTransaction {
    /// Writes what was changed to the file when it takes too much memory. No operation is under way.
    @inline(__always)
    func spillIfLarge() throws(StorageError) {
        if nodes.arena.byteCount > nodes.limits.memoryBudget && !isReplay { try spill() }
    }

    @inline(never)
    private func spill() throws(StorageError) {
        mark(.spilled)
        try nodes.prepareForPages()
        try flushAll()
        nodes.recycle()
        let placement = try makePlacement()
        do throws(StorageError) {
            try placement.seal(&view.state.tables)
            try placement.write(store)
        } catch {
            nodes.allocator.giveBack(placement.taken)
            throw error
        }
        nodes.place(placement.extents)
        workspace.endEditors()
        nodes.arena.reset()
        view.generation &+= 1
    }

    /// Applies the waiting changes of a table's index and backlink trees.
    func flushEntries(_ table: Int) throws(StorageError) {
        for tree in workspace.entryOperations[table].indices where !workspace.entryOperations[table][tree].isEmpty {
            var root = view.state.tables[table].entries[tree].root
            do throws(StorageError) {
                try apply(&workspace.entryOperations[table][tree], to: &root, table)
            } catch {
                throw noted(error)
            }
            workspace.entryOperations[table][tree].removeAll(keepingCapacity: true)
            view.state.tables[table].entries[tree].root = root
        }
    }

    /// Applies changes of one tree; in pieces that touch no more leaves than memory has room for.
    private func apply(
        _ operations: inout [EntryOperation], to root: inout NodeReference, _ table: Int
    ) throws(StorageError) {
        let owner = view.state.layouts[table].table
        let piece = max(64, nodes.limits.memoryBudget / Format.pageSize)
        if operations.count <= piece || isReplay {
            return try EntryTree.apply(&operations, to: &root, table: owner, writing: nodes, limits: nodes.limits)
        }
        try EntryOperation.prepare(&operations)
        var done = 0
        while done < operations.count {
            var part = Array(operations[done..<min(done + piece, operations.count)])
            done += part.count
            try EntryTree.apply(&part, to: &root, table: owner, writing: nodes, limits: nodes.limits)
            if nodes.arena.livePages * Format.pageSize > nodes.limits.memoryBudget {
                root = try nodes.spill(entries: root)
            }
        }
    }
}

extension TransactionNodes {
    /// Moves the nodes of an entry tree from the arena to the file; other nodes stay where they are, so that this can
    /// be done within an operation.
    /// - Returns: the root.
    fileprivate func spill(entries reference: NodeReference) throws(StorageError) -> NodeReference {
        guard reference.isInArena, !reference.isNull else { return reference }
        if reference.is(.entryBranch) {
            let node = arena.pointer(reference.arenaIndex)
            for index in 0..<EntryBranch(UnsafeRawPointer(node)).count {
                let child = EntryBranch(UnsafeRawPointer(node)).reference(index)
                if child.isInArena { EntryBranch.setReference(node, index, try spill(entries: child)) }
            }
        }
        var references = [reference]
        try spill(&references)
        return references[0]
    }
}
