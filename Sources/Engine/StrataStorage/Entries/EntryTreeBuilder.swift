/// Builds an entry tree from the leaves of another one, for a copy of a store. It takes entries in their order and
/// never sorts; all leaves and branches but the last of a level are full. It spills nodes when the arena has grown
/// large.
///
/// Concurrency: confined to the write transaction.
final class EntryTreeBuilder {
    private let nodes: TransactionNodes
    private let table: UInt32
    private let maxEntries: Int
    private let maxChildren: Int
    /// Entries that do not fill a leaf yet: the first ``count`` of the buffer.
    private var waiting: UnsafeMutableBufferPointer<EntryOperation>
    private var count = 0
    /// Nodes that do not fill a branch yet, by level.
    private var levels: [[EntryChild]] = []

    init(_ nodes: TransactionNodes, table: UInt32) {
        self.nodes = nodes
        self.table = table
        maxEntries = max(nodes.limits.entries, 2)
        maxChildren = min(max(nodes.limits.children, 2), EntryBranch.capacity)
        waiting = .allocate(capacity: 0)
    }

    deinit { waiting.deallocate() }

    /// Appends the entries of a leaf, which follow all that were appended before.
    /// - Parameter node: the leaf's node.
    func append(_ leaf: EntryLeaf, _ node: UnsafeRawPointer) throws(StorageError) {
        if count == 0, isFull(leaf) { return try appendCopy(leaf, node) }
        reserve(leaf.count)
        if let base = waiting.baseAddress { leaf.decode(into: base + count) }
        count += leaf.count
        try writeLeaves(keeping: maxEntries)
    }

    /// Writes the waiting entries and the branches above them.
    /// - Returns: the root; null without entries.
    func finish() throws(StorageError) -> NodeReference {
        try writeLeaves(keeping: 0)
        var level = 0
        while level < levels.count {
            if level + 1 == levels.count, levels[level].count == 1 { return levels[level][0].reference }
            while !levels[level].isEmpty { try writeBranch(level, min(levels[level].count, maxChildren)) }
            level += 1
        }
        return .null
    }

    // MARK: Leaves

    /// Whether the leaf has no room for one more entry of its width.
    private func isFull(_ leaf: EntryLeaf) -> Bool {
        leaf.count <= maxEntries && (leaf.count == maxEntries || leaf.size + leaf.entrySize > EntryLeaf.capacity)
    }

    private func appendCopy(_ leaf: EntryLeaf, _ node: UnsafeRawPointer) throws(StorageError) {
        let made = try nodes.arena.make(.entryLeaf, table: table, isFilled: true)
        (nodes.arena.pointer(made.arenaIndex) + Format.nodeHeaderSize).copyMemory(
            from: node + Format.nodeHeaderSize, byteCount: Format.pageSize - Format.nodeHeaderSize)
        try add(
            EntryChild(high: leaf.high(0), low: leaf.low(0), reference: made, total: UInt64(leaf.count)), level: 0)
    }

    private func reserve(_ more: Int) {
        if count + more <= waiting.count { return }
        let grown = UnsafeMutableBufferPointer<EntryOperation>.allocate(capacity: 2 * (count + more))
        grown.initialize(repeating: EntryOperation(high: 0, low: 0, delta: 0))
        if let from = waiting.baseAddress, let to = grown.baseAddress { to.update(from: from, count: count) }
        waiting.deallocate()
        waiting = grown
    }

    /// Writes leaves until at most `keeping` entries wait.
    private func writeLeaves(keeping: Int) throws(StorageError) {
        guard let base = waiting.baseAddress else { return }
        var start = 0
        while count - start > keeping {
            let rest = UnsafeBufferPointer(UnsafeMutableBufferPointer(start: base + start, count: count - start))
            let shape = EntryLeaf.shape(of: rest, limit: maxEntries)
            let made = try nodes.arena.make(.entryLeaf, table: table, isFilled: true)
            EntryLeaf.encode(base + start, shape, into: nodes.arena.pointer(made.arenaIndex))
            let first = base[start]
            try add(
                EntryChild(high: first.high, low: first.low, reference: made, total: UInt64(shape.count)), level: 0)
            start += shape.count
        }
        count -= start
        if start > 0 { base.update(from: base + start, count: count) }
    }

    // MARK: Branches

    private func add(_ child: EntryChild, level: Int) throws(StorageError) {
        if levels.count == level { levels.append([]) }
        levels[level].append(child)
        if levels[level].count > maxChildren { try writeBranch(level, maxChildren) }
    }

    /// Writes a branch over the first nodes of a level.
    private func writeBranch(_ level: Int, _ size: Int) throws(StorageError) {
        guard level < EntryBranch.maxLevel else { throw .limit(.pages) }
        var children = levels[level].prefix(size)
        levels[level].removeFirst(size)
        if nodes.arena.livePages * Format.pageSize > nodes.limits.memoryBudget {
            for index in children.indices {
                children[index].reference = try nodes.spill(entries: children[index].reference)
            }
        }
        let (reference, node) = try nodes.makeNode(.entryBranch, pages: 1, table: table)
        EntryBranch.encode(children, level: level + 1, into: node)
        let branch = EntryBranch(UnsafeRawPointer(node))
        try add(
            EntryChild(high: branch.high(0), low: branch.low(0), reference: reference, total: branch.total),
            level: level + 1)
    }
}

extension TransactionNodes {
    /// Moves the nodes of an entry tree from the arena to the file. Nodes of other trees stay in the arena, so that an
    /// operation may call this before it has finished.
    /// - Returns: the root.
    func spill(entries reference: NodeReference) throws(StorageError) -> NodeReference {
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
