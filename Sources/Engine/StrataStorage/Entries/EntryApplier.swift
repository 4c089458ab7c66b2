// Invariants: those of EntryTree+Apply.swift.

/// Applies sorted operations to an entry tree in one pass, and keeps nodes neither too full nor too empty.
final class EntryApplier<Nodes: NodeWriting> {
    typealias Operations = UnsafeBufferPointer<EntryOperation>

    /// Up to this many operations change a leaf in place, one by one.
    private static var editsInPlace: Int { 8 }

    private let nodes: Nodes
    private let table: UInt32
    private let maxEntries: Int
    private let maxChildren: Int
    private var scratch = UnsafeMutableBufferPointer<EntryOperation>(start: nil, count: 0)

    init(nodes: Nodes, table: UInt32, limits: StoreLimits) {
        self.nodes = nodes
        self.table = table
        maxEntries = max(limits.entries, 2)
        maxChildren = min(max(limits.children, 2), EntryBranch.capacity)
    }

    deinit { scratch.deallocate() }

    /// - Returns: the new root.
    func apply(_ operations: Operations, to root: NodeReference) throws(StorageError) -> NodeReference {
        var level = 0
        var appends = true
        var children: [EntryChild] = []
        if root.isNull {
            guard operations.allSatisfy({ $0.delta > 0 }) else { throw EntryTree.damaged(root) }
            try write(operations, as: EntryLeaf.shapes(of: operations, limit: maxEntries, even: false), &children)
        } else {
            level = try EntryTree.level(of: root, nodes)
            appends = try change(root, level: level, operations, isLast: true, &children)
        }
        while children.count > 1 {
            level += 1
            let below = children
            children.removeAll(keepingCapacity: true)
            try write(below, level: level, even: !appends, &children)
        }
        guard var top = children.first?.reference else { return .null }
        while level > 0 {
            let branch = try EntryTree.branch(top, level: level, nodes)
            guard branch.count == 1 else { break }
            let child = branch.reference(0)
            nodes.drop(top)
            top = child
            level -= 1
        }
        return top
    }

    /// Appends the result for one node to `result`: no node, the changed one, or several.
    ///
    /// - Parameter isLast: no node follows in the tree.
    /// - Returns: whether entries were only added behind the tree's last one.
    private func change(
        _ reference: NodeReference, level: Int, _ operations: Operations, isLast: Bool, _ result: inout [EntryChild]
    ) throws(StorageError) -> Bool {
        if level == 0 { return try changeLeaf(reference, operations, isLast: isLast, &result) }
        let branch = try EntryTree.branch(reference, level: level, nodes)
        var changed: [EntryChild] = []
        var runs: [Run] = []
        var rest = operations
        var appends = false
        var isInPlace = true
        while let next = rest.first {
            let i = branch.position(of: next.key)
            let isEnd = i + 1 == branch.count
            let end = isEnd ? rest.count : Self.count(rest, before: branch.key(i + 1))
            let start = changed.count
            let appended = try change(
                branch.reference(i), level: level - 1, Operations(rebasing: rest[..<end]), isLast: isLast && isEnd,
                &changed)
            // An append changes the last child and no other.
            appends = appended && rest.count == operations.count
            isInPlace = isInPlace && changed.count == start + 1 && !changed[start].isUnderfull
            runs.append(Run(position: i, start: start, end: changed.count))
            rest = Operations(rebasing: rest[end...])
        }
        if isInPlace {
            result.append(try replace(changed, runs, in: reference))
            return appends
        }
        var children: [EntryChild] = []
        children.reserveCapacity(branch.count + changed.count)
        var position = 0
        for run in runs {
            while position < run.position {
                children.append(branch.child(position))
                position += 1
            }
            children.append(contentsOf: changed[run.start..<run.end])
            position += 1
        }
        for i in position..<max(branch.count, position) { children.append(branch.child(i)) }
        try joinUnderfull(&children, level: level - 1, isLast: isLast)
        if children.isEmpty {
            nodes.drop(reference)
        } else {
            try write(children, level: level, even: !appends, reusing: reference, &result)
        }
        return appends
    }

    /// Result for one child of a branch: a range of the changed children.
    private struct Run {
        var position: Int
        var start: Int
        var end: Int
    }

    /// Replaces each changed child in its branch.
    private func replace(
        _ changed: [EntryChild], _ runs: [Run], in reference: NodeReference
    ) throws(StorageError) -> EntryChild {
        var reference = reference
        let node = try nodes.mutable(&reference)
        for run in runs { EntryBranch.set(changed[run.start], at: run.position, in: node) }
        let branch = EntryBranch(UnsafeRawPointer(node))
        return EntryChild(
            high: branch.high(0), low: branch.low(0), reference: reference, total: branch.total,
            isUnderfull: isUnderfull(children: branch.count))
    }

    /// Number of operations before `key`. Complexity: O(log result), so that a merge of many stays linear.
    private static func count(_ operations: Operations, before key: EntryKey) -> Int {
        var start = 0
        var end = 1
        while end <= operations.count && EntryOperation.precedes(operations[end - 1].key, key) {
            start = end
            end *= 2
        }
        end = min(end - 1, operations.count)
        while start < end {
            let middle = (start + end) >> 1
            if EntryOperation.precedes(operations[middle].key, key) { start = middle + 1 } else { end = middle }
        }
        return start
    }

    private func changeLeaf(
        _ old: NodeReference, _ operations: Operations, isLast: Bool, _ result: inout [EntryChild]
    ) throws(StorageError) -> Bool {
        var leaf = EntryLeaf(try nodes.node(old, .entryLeaf))
        let appends = isLast && EntryOperation.precedes(leaf.key(leaf.count - 1), operations[0].key)
        var reference = old
        var rest = operations
        if operations.count <= Self.editsInPlace {
            let node = try nodes.mutable(&reference)
            var done = 0
            edits: while done < operations.count {
                switch EntryLeaf.edit(node, operations[done], limit: maxEntries) {
                case .done: done += 1
                case .rebuild: break edits
                case .broken: throw EntryTree.damaged(old)
                }
            }
            leaf = EntryLeaf(UnsafeRawPointer(node))
            rest = Operations(rebasing: operations[done...])
            if rest.isEmpty {
                result.append(child(leaf, reference))
                return appends
            }
        }
        let entries = try merge(leaf, with: rest, old)
        if entries.isEmpty {
            nodes.drop(reference)
        } else {
            let shapes = EntryLeaf.shapes(of: entries, limit: maxEntries, even: !appends)
            try write(entries, as: shapes, reusing: reference, &result)
        }
        return appends
    }

    /// The entries of a leaf after `operations`, in the scratch buffer.
    private func merge(
        _ leaf: EntryLeaf, with operations: Operations, _ reference: NodeReference
    ) throws(StorageError) -> Operations {
        let room = leaf.count + operations.count
        let target = reserve(room)
        // Decoded at the end of the buffer and merged to its start: writing never overtakes reading.
        let old = target + operations.count
        leaf.decode(into: old)
        var read = 0
        var written = 0
        for operation in operations {
            let kept = Self.count(Operations(start: old + read, count: leaf.count - read), before: operation.key)
            (target + written).update(from: old + read, count: kept)
            written += kept
            read += kept
            var entry = operation
            if read < leaf.count && old[read].key == operation.key {
                let count = Int64(old[read].count) + Int64(operation.delta)
                read += 1
                if count == 0 { continue }
                if count < 0 { throw EntryTree.damaged(reference) }
                guard let count = UInt32(exactly: count) else { throw .limit(.valueSize) }
                entry.delta = Int32(bitPattern: count)
            } else if operation.delta < 0 {
                throw EntryTree.damaged(reference)
            }
            target[written] = entry
            written += 1
        }
        (target + written).update(from: old + read, count: leaf.count - read)
        return Operations(start: target, count: written + leaf.count - read)
    }

    private func reserve(_ count: Int) -> UnsafeMutablePointer<EntryOperation> {
        if let base = scratch.baseAddress, scratch.count >= count { return base }
        scratch.deallocate()
        let base = UnsafeMutablePointer<EntryOperation>.allocate(capacity: max(count, 1024))
        base.initialize(repeating: EntryOperation(high: 0, low: 0, delta: 0), count: max(count, 1024))
        scratch = UnsafeMutableBufferPointer(start: base, count: max(count, 1024))
        return base
    }

    // MARK: Writing nodes

    private func child(_ leaf: EntryLeaf, _ reference: NodeReference) -> EntryChild {
        EntryChild(
            high: leaf.high(0), low: leaf.low(0), reference: reference, total: UInt64(leaf.count),
            isUnderfull: leaf.isUnderfull(limit: maxEntries))
    }

    /// A node for new content: at the first call the node of `reference`, which becomes nil; a new node from then on.
    private func place(
        _ kind: NodeKind, _ reference: inout NodeReference?
    ) throws(StorageError) -> (NodeReference, UnsafeMutableRawPointer) {
        guard var reused = reference else { return try nodes.makeNode(kind, pages: 1, table: table) }
        reference = nil
        let node = try nodes.mutable(&reused)
        return (reused, node)
    }

    private func write(
        _ entries: Operations, as shapes: [EntryLeaf.Shape], reusing reference: NodeReference? = nil,
        _ result: inout [EntryChild]
    ) throws(StorageError) {
        var reused = reference
        var start = entries.baseAddress
        for shape in shapes {
            guard let from = start else { return }
            let (reference, node) = try place(.entryLeaf, &reused)
            EntryLeaf.encode(from, shape, into: node)
            result.append(child(EntryLeaf(UnsafeRawPointer(node)), reference))
            start = from + shape.count
        }
    }

    private func write(
        _ children: [EntryChild], level: Int, even: Bool, reusing reference: NodeReference? = nil,
        _ result: inout [EntryChild]
    ) throws(StorageError) {
        guard level <= EntryBranch.maxLevel else { throw .limit(.pages) }
        var reused = reference
        var parts = (children.count + maxChildren - 1) / maxChildren
        var start = 0
        while start < children.count {
            let left = children.count - start
            let part = children[start..<start + (even ? (left + parts - 1) / parts : min(left, maxChildren))]
            let (reference, node) = try place(.entryBranch, &reused)
            EntryBranch.encode(part, level: level, into: node)
            let total = part.reduce(0) { $0 &+ $1.total }
            result.append(
                EntryChild(
                    high: children[start].high, low: children[start].low, reference: reference, total: total,
                    isUnderfull: isUnderfull(children: part.count)))
            start += part.count
            parts -= 1
        }
    }

    private func isUnderfull(children: Int) -> Bool { children < 2 || 4 * children < maxChildren }

    // MARK: Joining

    /// Joins each underfull node of `level` with a neighbour, or makes the two about equally full. If the tree's last
    /// node is underfull, it is joined only if the two fit one node: appends leave full nodes behind (invariant 3).
    private func joinUnderfull(
        _ children: inout [EntryChild], level: Int, isLast: Bool
    ) throws(StorageError) {
        var i = 0
        while i < children.count && children.count > 1 {
            guard children[i].isUnderfull else {
                i += 1
                continue
            }
            let atEnd = i + 1 == children.count
            let takesNext = i == 0 || (!atEnd && children[i + 1].total < children[i - 1].total)
            let first = takesNext ? i : i - 1
            let pair = (children[first], children[first + 1])
            let mustFit = isLast && atEnd
            let joined =
                level == 0
                ? try joinLeaves(pair.0, pair.1, mustFit: mustFit)
                : try joinBranches(
                    pair.0, pair.1, level: level, mustFit: mustFit, isLast: isLast && first + 2 == children.count)
            guard let joined else {
                i += 1
                continue
            }
            children.replaceSubrange(first...first + 1, with: joined)
            i = joined.count == 1 ? first : first + joined.count
        }
    }

    /// - Parameter mustFit: one leaf must result, else one or two.
    /// - Returns: nil, with the nodes unchanged, if the entries need more leaves.
    private func joinLeaves(
        _ first: EntryChild, _ second: EntryChild, mustFit: Bool
    ) throws(StorageError) -> [EntryChild]? {
        if mustFit && first.total &+ second.total > UInt64(maxEntries) { return nil }
        let left = EntryLeaf(try nodes.node(first.reference, .entryLeaf))
        let right = EntryLeaf(try nodes.node(second.reference, .entryLeaf))
        let base = reserve(left.count + right.count)
        left.decode(into: base)
        right.decode(into: base + left.count)
        let entries = Operations(start: base, count: left.count + right.count)
        let shapes = EntryLeaf.shapes(of: entries, limit: maxEntries, even: true)
        if shapes.count > (mustFit ? 1 : 2) { return nil }
        mark(.joinedLeaves)
        var result: [EntryChild] = []
        if shapes.count == 1 {
            nodes.drop(second.reference)
            try write(entries, as: shapes, reusing: first.reference, &result)
        } else {
            let rest = Operations(rebasing: entries[shapes[0].count...])
            let head = Operations(rebasing: entries[..<shapes[0].count])
            try write(head, as: [shapes[0]], reusing: first.reference, &result)
            try write(rest, as: [shapes[1]], reusing: second.reference, &result)
        }
        return result
    }

    /// - Parameter mustFit: one branch must result, else one or two.
    /// - Returns: nil, with the nodes unchanged, if the children need more branches.
    private func joinBranches(
        _ first: EntryChild, _ second: EntryChild, level: Int, mustFit: Bool, isLast: Bool
    ) throws(StorageError) -> [EntryChild]? {
        let left = try EntryTree.branch(first.reference, level: level, nodes)
        let right = try EntryTree.branch(second.reference, level: level, nodes)
        if mustFit && left.count + right.count > maxChildren { return nil }
        mark(.joinedBranches)
        var children: [EntryChild] = []
        for branch in [left, right] {
            for i in 0..<branch.count {
                var child = branch.child(i)
                // An only child had no neighbour to join, but has one now.
                if branch.count == 1 { child.isUnderfull = try isUnderfull(child.reference, level: level - 1) }
                children.append(child)
            }
        }
        try joinUnderfull(&children, level: level - 1, isLast: isLast)
        var result: [EntryChild] = []
        if children.count <= maxChildren {
            nodes.drop(second.reference)
            try write(children, level: level, even: true, reusing: first.reference, &result)
        } else {
            let middle = children.count / 2
            try write(Array(children[..<middle]), level: level, even: true, reusing: first.reference, &result)
            try write(Array(children[middle...]), level: level, even: true, reusing: second.reference, &result)
        }
        return result
    }

    private func isUnderfull(_ reference: NodeReference, level: Int) throws(StorageError) -> Bool {
        if level == 0 { return EntryLeaf(try nodes.node(reference, .entryLeaf)).isUnderfull(limit: maxEntries) }
        return isUnderfull(children: try EntryTree.branch(reference, level: level, nodes).count)
    }
}
