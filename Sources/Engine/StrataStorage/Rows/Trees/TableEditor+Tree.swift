/// The tree of branches above a table's groups.
extension TableEditor {
    func startTree(_ entries: [BranchEntry]) throws(StorageError) {
        let (reference, node) = try nodes.makeNode(.branch, pages: 1, table: layout.table)
        Branch.fill(node, entries.prefix(1), level: 1)
        root = reference
        reach = nil
        path = [Step(node: node, reference: reference, index: 0)]
        if entries.count > 1 { try replace(0, 1..<1, with: Array(entries.dropFirst())) }
        if let first = entries.first { try promote(atKey: first.key) }
    }

    /// The group of a key; the path leads there afterwards. The tree is not empty.
    @inline(__always)
    func seek(_ key: Int64) throws(StorageError) -> Group {
        if let reach, reach.contains(key), let leaf = path.last {
            let reference = Branch(UnsafeRawPointer(leaf.node)).reference(leaf.index)
            return Group(try nodes.node(reference, .group))
        }
        return try descend(key).group
    }

    /// Descends to the group of a key, and copies branches of older versions to the arena.
    func descend(_ key: Int64) throws(StorageError) -> (entry: BranchEntry, group: Group) {
        reach = nil
        path.removeAll(keepingCapacity: true)
        var keys = KeyReach(low: .min, high: nil)
        var reference = root
        let isOwn = reference.isInArena
        var node = try nodes.mutable(&reference)
        if !isOwn { root = reference }
        var level = Branch.maxLevel + 1
        while true {
            let branch = Branch(UnsafeRawPointer(node))
            guard branch.level < level else { throw nodes.reader.damage(at: branch.base) }
            level = branch.level
            let index = branch.find(key)
            path.append(Step(node: node, reference: reference, index: index))
            if index > 0 { keys.low = branch.key(index) }
            if index + 1 < branch.count { keys.high = branch.key(index + 1) }
            var child = branch.reference(index)
            if child.is(.group) {
                let group = Group(try nodes.node(child, .group))
                guard group.liveRows == branch.rows(index) else { throw nodes.reader.damage(at: group.base) }
                reach = keys
                return (branch.entry(index), group)
            }
            let isOwn = child.isInArena
            let next = try nodes.mutable(&child)
            if !isOwn { Branch.setReference(node, index, child) }
            reference = child
            node = next
        }
    }

    func replaceGroup(with entries: [BranchEntry]) throws(StorageError) {
        guard let leaf = path.last else { return }
        let key = entries.first?.key
        try replace(path.count - 1, leaf.index..<(leaf.index + 1), with: entries)
        if entries.count > 1, let key { try promote(atKey: key) }
    }

    /// Replaces some children of the branch at `level` of the path. The path is invalid afterwards, unless one entry
    /// replaces one.
    func replace(
        _ level: Int, _ range: Range<Int>, with new: [BranchEntry]
    ) throws(StorageError) {
        let step = path[level]
        let branch = Branch(UnsafeRawPointer(step.node))
        if range.count == 1, let only = new.first, new.count == 1 {
            let delta = only.rows &- branch.rows(range.lowerBound)
            Branch.set(step.node, range.lowerBound, only)
            if delta != 0 { addRows(delta, above: level) }
            return
        }
        reach = nil
        var entries = branch.entries
        entries.replaceSubrange(range, with: new)
        let treeLevel = branch.level
        if entries.isEmpty {
            nodes.drop(step.reference)
            if level == 0 { root = .null } else { try replace(level - 1, parentRange(level), with: []) }
            return
        }
        let limit = min(max(nodes.limits.children, 2), Branch.capacity)
        var chunks: [ArraySlice<BranchEntry>] = []
        if entries.count <= limit {
            chunks = [entries[...]]
        } else {
            let isAppend = range.lowerBound + new.count == entries.count
            let pieces = (entries.count + limit - 1) / limit
            let each = isAppend ? limit : (entries.count + pieces - 1) / pieces
            var start = 0
            while start < entries.count {
                chunks.append(entries[start..<min(start + each, entries.count)])
                start += each
            }
        }
        try write(chunks, treeLevel, level)
    }

    private func write(
        _ chunks: [ArraySlice<BranchEntry>], _ treeLevel: Int, _ level: Int
    ) throws(StorageError) {
        let step = path[level]
        var above: [BranchEntry] = []
        for (index, chunk) in chunks.enumerated() {
            var reference = step.reference
            var node = step.node
            if index > 0 {
                (reference, node) = try nodes.makeNode(.branch, pages: 1, table: layout.table)
            }
            Branch.fill(node, chunk, level: treeLevel)
            guard let first = chunk.first else { continue }
            above.append(
                BranchEntry(key: first.key, rows: chunk.reduce(0) { $0 &+ $1.rows }, reference: reference))
        }
        if level > 0 {
            // The separator above stays unchanged: lower keys belong to this branch, too.
            let parent = Branch(UnsafeRawPointer(path[level - 1].node))
            above[0].key = min(above[0].key, parent.key(path[level - 1].index))
            try replace(level - 1, parentRange(level), with: above)
        } else if above.count > 1 {
            try grow(above, treeLevel + 1)
        } else {
            try collapse()
        }
    }

    /// The index of the branch at `level` in its parent.
    private func parentRange(_ level: Int) -> Range<Int> {
        let index = path[level - 1].index
        return index..<(index + 1)
    }

    private func grow(_ entries: [BranchEntry], _ treeLevel: Int) throws(StorageError) {
        mark(.grownTree)
        guard treeLevel <= Branch.maxLevel else { throw .limit(.pages) }
        let (reference, node) = try nodes.makeNode(.branch, pages: 1, table: layout.table)
        let limit = min(max(nodes.limits.children, 2), Branch.capacity)
        Branch.fill(node, entries.prefix(limit), level: treeLevel)
        root = reference
        path = [Step(node: node, reference: reference, index: 0)]
        if entries.count > limit { try replace(0, limit..<limit, with: Array(entries.dropFirst(limit))) }
    }

    /// Removes roots with a single child.
    private func collapse() throws(StorageError) {
        while true {
            let branch = Branch(try nodes.node(root, .branch))
            if branch.count != 1 || branch.level == 1 { return }
            let child = branch.reference(0)
            mark(.collapsedTree)
            nodes.drop(root)
            root = child
        }
    }

    func addRows(_ delta: Int, above level: Int) {
        for step in path[..<level] {
            let branch = Branch(UnsafeRawPointer(step.node))
            Branch.setRows(step.node, step.index, max(0, branch.rows(step.index) &+ delta))
        }
    }
}
