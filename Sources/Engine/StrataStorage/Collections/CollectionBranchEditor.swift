/// Outcome of a change of a node of a collection tree.
enum CollectionOutcome {
    /// The node was changed or replaced.
    case done(CollectionEntry)
    /// The node has no elements left, and was dropped.
    case empty
    /// The node is a leaf in the arena, and its new elements exceed one node; the leaf editor holds them.
    case longLeaf
    /// The node is a branch in the arena, and its new children, given here, exceed one node.
    case longBranch([CollectionEntry])
}

/// Changes the shape of a collection tree: splits, balances, joins and drops nodes.
///
/// The shape depends on the tree and the operation alone, and never on a cached path. So an operation takes the same
/// number of pages when recovery replays it on the same tree.
///
/// 1. A full node at the end of the tree stays as it is, and a new one follows it; at the start a new one precedes it.
/// 2. A full node elsewhere gives elements to a neighbour under the same branch of which an eighth is free. Without
///    such a neighbour it is split in half.
/// 3. A node less than a quarter full joins a neighbour if both together fill at most three quarters of a node.
///
/// Concurrency: confined to its owner.
final class CollectionBranchEditor<Nodes: NodeWriting> {
    let nodes: Nodes
    let shape: CollectionShape
    let leaves: CollectionLeafEditor<Nodes>
    /// Most children of a branch.
    private let most: Int
    /// How the current change distributes elements or children that exceed one node.
    private var packing: CollectionLeafEditor<Nodes>.Packing = .even

    /// Whether a node is at the start of the tree, and at its end.
    private struct Edges {
        var isFirst = true
        var isLast = true
    }

    init(_ nodes: Nodes, _ shape: CollectionShape, _ limits: StoreLimits) {
        self.nodes = nodes
        self.shape = shape
        leaves = CollectionLeafEditor(nodes, shape, limits)
        most = min(max(limits.children, 3), CollectionBranch.capacity)
    }

    // MARK: Operations on a whole tree

    /// Changes elements of one leaf.
    func splice(_ edit: CollectionEdit, in root: inout NodeReference) throws(StorageError) {
        if root.isNull {
            guard let elements = edit.elements else { return }
            packing = .forward
            var level = 0
            let entries = try leaves.leaves(elements, edit.range)
            root = try top(entries, &level)
            return
        }
        var level = try CollectionTree.level(of: root, shape, nodes)
        let outcome = try change(edit, &root, level: level, Edges())
        try finish(outcome, &root, &level)
    }

    /// Removes elements.
    func remove(_ range: Range<Int>, from root: inout NodeReference) throws(StorageError) {
        if root.isNull || range.isEmpty { return }
        packing = .even
        var level = try CollectionTree.level(of: root, shape, nodes)
        let outcome = try cut(range, &root, level: level)
        try finish(outcome, &root, &level)
    }

    /// Drops all nodes of a tree. Leaves are read only if they may have long values.
    func drop(_ root: NodeReference) throws(StorageError) {
        if root.isNull { return }
        let level = try CollectionTree.level(of: root, shape, nodes)
        try drop(root, level: level, flags: CollectionLeaf.hasLong)
    }

    private func drop(_ reference: NodeReference, level: Int, flags: Int) throws(StorageError) {
        if level > 0 {
            let branch = try CollectionTree.branch(reference, level: level, shape, nodes)
            for i in 0..<branch.count { try drop(branch.reference(i), level: level - 1, flags: branch.flags) }
        } else if flags & CollectionLeaf.hasLong != 0 {
            let leaf = try CollectionTree.leaf(reference, shape, nodes)
            try leaves.dropLong(leaf, 0..<leaf.count)
        }
        nodes.drop(reference)
    }

    /// Makes the result of a change the new root, and drops branches with a single child from the top.
    private func finish(
        _ outcome: CollectionOutcome, _ root: inout NodeReference, _ level: inout Int
    ) throws(StorageError) {
        switch outcome {
        case .done(let entry): root = entry.reference
        case .empty: root = .null
        case .longLeaf: root = try top(leaves.spread(packing, reusing: root), &level)
        case .longBranch(let entries): root = try top(write(entries, level: level, reusing: root), &level)
        }
        while !root.isNull && level > 0 {
            let branch = try CollectionTree.branch(root, level: level, shape, nodes)
            guard branch.count == 1 else { break }
            let child = branch.reference(0)
            nodes.drop(root)
            root = child
            level -= 1
        }
    }

    /// Adds levels of branches until one node is left.
    private func top(_ entries: [CollectionEntry], _ level: inout Int) throws(StorageError) -> NodeReference {
        var entries = entries
        while entries.count > 1 {
            level += 1
            entries = try write(entries, level: level, reusing: nil)
        }
        return entries.first?.reference ?? .null
    }

    // MARK: One path

    private func change(
        _ edit: CollectionEdit, _ reference: inout NodeReference, level: Int, _ edges: Edges
    ) throws(StorageError) -> CollectionOutcome {
        if level == 0 {
            let leaf = try CollectionTree.leaf(reference, shape, nodes)
            let isInsertion = edit.removed == 0
            packing = .even
            if edges.isFirst && isInsertion && edit.place == 0 { packing = .backward }
            if edges.isLast && isInsertion && edit.place == leaf.count { packing = .forward }
            return try changeLeaf(edit, &reference)
        }
        let branch = try CollectionTree.branch(reference, level: level, shape, nodes)
        let (child, first) = branch.find(edit.place, isBorder: edit.isBorder)
        let node = try nodes.mutable(&reference)
        var entry = CollectionBranch(UnsafeRawPointer(node)).entry(child)
        try check(entry, level: level - 1)
        let below = Edges(
            isFirst: edges.isFirst && child == 0, isLast: edges.isLast && child + 1 == branch.count)
        let outcome = try change(edit.moved(by: first), &entry.reference, level: level - 1, below)
        CollectionBranch.setReference(node, child, entry.reference)
        if case .done(let changed) = outcome, !changed.isUnderfull || edit.added > 0 {
            CollectionBranch.set(node, child, changed)
            return .done(self.entry(node, reference))
        }
        var entries = CollectionBranch(UnsafeRawPointer(node)).entries
        try place(outcome, at: child, &entries, level: level - 1)
        return try settle(&entries, node, reference, level: level)
    }

    private func changeLeaf(
        _ edit: CollectionEdit, _ reference: inout NodeReference
    ) throws(StorageError) -> CollectionOutcome {
        _ = try nodes.mutable(&reference)
        guard let entry = try leaves.rebuild(reference, edit) else { return .longLeaf }
        return entry.count == 0 ? .empty : .done(entry)
    }

    /// Removes a range of elements from a node; children entirely within it are not read.
    private func cut(
        _ range: Range<Int>, _ reference: inout NodeReference, level: Int
    ) throws(StorageError) -> CollectionOutcome {
        if level == 0 { return try changeLeaf(CollectionEdit(removing: range), &reference) }
        _ = try CollectionTree.branch(reference, level: level, shape, nodes)
        let node = try nodes.mutable(&reference)
        let old = CollectionBranch(UnsafeRawPointer(node)).entries
        var entries: [CollectionEntry] = []
        entries.reserveCapacity(old.count)
        var first = 0
        for (index, child) in old.enumerated() {
            let from = max(range.lowerBound - first, 0)
            let end = min(range.upperBound - first, child.count)
            first += child.count
            if from >= end {
                entries.append(child)
            } else if from == 0 && end == child.count {
                try drop(child.reference, level: level - 1, flags: child.flags)
            } else {
                try check(child, level: level - 1)
                var child = child
                let outcome = try cut(from..<end, &child.reference, level: level - 1)
                CollectionBranch.setReference(node, index, child.reference)
                entries.append(child)
                try place(outcome, at: entries.count - 1, &entries, level: level - 1)
            }
        }
        return try settle(&entries, node, reference, level: level)
    }

    /// Checks that a child has as many elements as its branch says, so that no descent is endless, and no place is
    /// beyond the leaf.
    private func check(_ child: CollectionEntry, level: Int) throws(StorageError) {
        let count =
            level == 0
            ? try CollectionTree.leaf(child.reference, shape, nodes).count
            : try CollectionTree.branch(child.reference, level: level, shape, nodes).total
        guard count == child.count else { throw CollectionTree.damaged(child.reference) }
    }

    /// Replaces a child by the outcome of a change.
    private func place(
        _ outcome: CollectionOutcome, at index: Int, _ entries: inout [CollectionEntry], level: Int
    ) throws(StorageError) {
        switch outcome {
        case .done(let entry): entries[index] = entry
        case .empty: entries.remove(at: index)
        case .longLeaf: try placeLeaf(at: index, &entries)
        case .longBranch(let children): try placeBranch(children, at: index, &entries, level: level)
        }
    }

    private func placeLeaf(at index: Int, _ entries: inout [CollectionEntry]) throws(StorageError) {
        let reference = entries[index].reference
        if packing == .even {
            for left in Self.neighbours(of: index, entries) {
                let isLeft = left < index
                let neighbour = entries[isLeft ? left : index + 1].reference
                if let both = try leaves.even(reference, with: neighbour, isLeft: isLeft) {
                    entries.replaceSubrange(left...(left + 1), with: both)
                    return
                }
            }
        }
        entries.replaceSubrange(index...index, with: try leaves.spread(packing, reusing: reference))
    }

    private func placeBranch(
        _ children: [CollectionEntry], at index: Int, _ entries: inout [CollectionEntry], level: Int
    ) throws(StorageError) {
        let reference = entries[index].reference
        if packing == .even {
            for left in Self.neighbours(of: index, entries) {
                let isLeft = left < index
                let neighbour = entries[isLeft ? left : index + 1].reference
                let others = try CollectionTree.branch(neighbour, level: level, shape, nodes).entries
                guard 8 * others.count <= 7 * most, others.count + children.count <= 2 * most else { continue }
                let all = isLeft ? others + children : children + others
                let half = (all.count + 1) / 2
                entries.replaceSubrange(
                    left...(left + 1),
                    with: [
                        try write(all[..<half], level: level, into: isLeft ? neighbour : reference),
                        try write(all[half...], level: level, into: isLeft ? reference : neighbour),
                    ])
                return
            }
        }
        entries.replaceSubrange(index...index, with: try write(children, level: level, reusing: reference))
    }

    /// The left index of each pair of neighbours with this child; the smaller pair first.
    private static func neighbours(of index: Int, _ entries: [CollectionEntry]) -> [Int] {
        let left = index > 0 ? entries[index - 1].count : nil
        let right = index + 1 < entries.count ? entries[index + 1].count : nil
        switch (left, right) {
        case (nil, nil): return []
        case (_?, nil): return [index - 1]
        case (nil, _?): return [index]
        case (let left?, let right?): return left <= right ? [index - 1, index] : [index, index - 1]
        }
    }

    /// Writes the children of a branch in the arena, if they fit one node.
    private func settle(
        _ entries: inout [CollectionEntry], _ node: UnsafeMutableRawPointer, _ reference: NodeReference, level: Int
    ) throws(StorageError) -> CollectionOutcome {
        try joinUnderfull(&entries, level: level - 1)
        if entries.isEmpty {
            nodes.drop(reference)
            return .empty
        }
        if entries.count > most { return .longBranch(entries) }
        CollectionBranch.fill(node, entries[...], level: level, shape)
        return .done(entry(node, reference))
    }

    /// Joins underfull nodes of `level` with a neighbour.
    private func joinUnderfull(_ entries: inout [CollectionEntry], level: Int) throws(StorageError) {
        var index = 0
        next: while index < entries.count {
            guard entries[index].isUnderfull else {
                index += 1
                continue
            }
            for left in Self.neighbours(of: index, entries) {
                if let joined = try join(entries[left], entries[left + 1], level: level) {
                    entries.replaceSubrange(left...(left + 1), with: [joined])
                    index = left
                    continue next
                }
            }
            index += 1
        }
    }

    private func join(
        _ left: CollectionEntry, _ right: CollectionEntry, level: Int
    ) throws(StorageError) -> CollectionEntry? {
        if level == 0 { return try leaves.join(left.reference, right.reference) }
        let first = try CollectionTree.branch(left.reference, level: level, shape, nodes).entries
        let second = try CollectionTree.branch(right.reference, level: level, shape, nodes).entries
        guard 4 * (first.count + second.count) <= 3 * most else { return nil }
        nodes.drop(right.reference)
        return try write((first + second)[...], level: level, into: left.reference)
    }

    // MARK: Writing

    /// The entry of a branch for its parent.
    private func entry(_ node: UnsafeMutableRawPointer, _ reference: NodeReference) -> CollectionEntry {
        let branch = CollectionBranch(UnsafeRawPointer(node))
        return CollectionEntry(
            key: branch.key(0), count: branch.total, reference: reference, flags: branch.flags,
            isUnderfull: branch.count < 2 || 4 * branch.count < most)
    }

    private func write(
        _ entries: ArraySlice<CollectionEntry>, level: Int, into reference: NodeReference
    ) throws(StorageError) -> CollectionEntry {
        var reference = reference
        let node = try nodes.mutable(&reference)
        CollectionBranch.fill(node, entries, level: level, shape)
        return entry(node, reference)
    }

    /// Writes as many branches as the children need.
    private func write(
        _ entries: [CollectionEntry], level: Int, reusing reference: NodeReference?
    ) throws(StorageError) -> [CollectionEntry] {
        guard level <= CollectionBranch.maxLevel else { throw .limit(.pages) }
        var branches: [CollectionEntry] = []
        var reused = reference
        for piece in pieces(entries.count) {
            let target: NodeReference
            if let reused {
                target = reused
            } else {
                target = try nodes.makeNode(.collectionBranch, pages: 1, table: shape.table).0
            }
            reused = nil
            branches.append(try write(entries[piece], level: level, into: target))
        }
        return branches
    }

    private func pieces(_ count: Int) -> [Range<Int>] {
        let parts = (count + most - 1) / most
        return (0..<parts).map { part in
            switch packing {
            case .forward: part * most..<min((part + 1) * most, count)
            case .backward: max(count - (parts - part) * most, 0)..<(count - (parts - part - 1) * most)
            case .even: part * count / parts..<(part + 1) * count / parts
            }
        }
    }
}
