/// Merges groups.
extension TableEditor {
    /// Merges the small groups around the group of `key` into wide ones, if their rows fill one, or if there are many
    /// of them (a third of a branch's children).
    func promote(atKey key: Int64) throws(StorageError) {
        if root.isNull { return }
        _ = try descend(key)
        guard let leaf = path.last else { return }
        let branch = Branch(UnsafeRawPointer(leaf.node))
        let small = nodes.limits.smallRows
        var low = leaf.index
        var high = leaf.index
        if branch.rows(leaf.index) > small { return }
        while low > 0 && branch.rows(low - 1) <= small { low -= 1 }
        while high + 1 < branch.count && branch.rows(high + 1) <= small { high += 1 }
        let total = (low...high).reduce(0) { $0 + branch.rows($1) }
        let longRun = max(4, min(nodes.limits.children, Branch.capacity) / 3)
        if total < nodes.limits.wideRows && high - low + 1 < longRun { return }
        if high - low < 1 { return }
        let rows = RowSet(layout, capacity: total)
        for index in low...high {
            let group = Group(try nodes.node(branch.reference(index), .group))
            try group.decode(into: rows, layout, nodes.reader)
        }
        mark(.promotedGroups)
        let old = (low...high).map(branch.entry)
        var made = try GroupBuilder(layout: layout, nodes: nodes).build(rows, 0..<rows.count, wide: true)
        guard !made.isEmpty else { throw nodes.reader.damage(at: branch.base) }
        made[0].key = min(made[0].key, old[0].key)
        for entry in old { try GroupEditor(entry, layout, nodes).giveUp() }
        try replace(path.count - 1, low..<(high + 1), with: made)
    }

    /// Merges the group of `key` with its left neighbour, if both fit one group.
    func mergeWithLeft(_ key: Int64) throws(StorageError) {
        if root.isNull { return }
        let (entry, group) = try descend(key)
        guard let leaf = path.last, leaf.index > 0 else { return }
        let branch = Branch(UnsafeRawPointer(leaf.node))
        let left = branch.entry(leaf.index - 1)
        let leftGroup = Group(try nodes.node(left.reference, .group))
        let total = left.rows + entry.rows
        let fits =
            group.isSmall && leftGroup.isSmall
            ? total <= nodes.limits.smallRows && group.size + leftGroup.size <= Format.pageSize
            : total <= nodes.limits.wideRows
        if !fits { return }
        mark(.mergedGroups)
        let rows = RowSet(layout, capacity: total)
        try leftGroup.decode(into: rows, layout, nodes.reader)
        try group.decode(into: rows, layout, nodes.reader)
        var made = try GroupBuilder(layout: layout, nodes: nodes).build(rows, 0..<rows.count)
        if !made.isEmpty { made[0].key = min(made[0].key, left.key) }
        try GroupEditor(left, layout, nodes).giveUp()
        try GroupEditor(entry, layout, nodes).giveUp()
        try replace(path.count - 1, (leaf.index - 1)..<(leaf.index + 1), with: made)
    }
}
