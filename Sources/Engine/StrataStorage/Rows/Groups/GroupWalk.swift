/// Visits the groups of a table in key order.
///
/// Valid as long as its nodes: while the version is pinned, or until the transaction's next write.
struct GroupWalk {
    private let reader: PageReader
    /// An inner node on the path to the next group.
    private struct Step {
        let branch: Branch
        /// The child to visit next.
        var next: Int
        /// Bounds from the branches above: no key below this branch is less than `low`, and each is less than `end`.
        /// The walk checks them, so that it visits no node twice, even in a damaged tree.
        let low: Int64?
        let end: Int64?
    }

    private var path: [Step] = []
    /// The node to visit next that is not on the path yet: at first the root, then a branch.
    private var pending: NodeReference?
    private var key: Int64

    /// - Parameter key: the walk begins with the group of this key.
    init(_ root: NodeReference, from key: Int64, _ reader: PageReader) {
        self.reader = reader
        self.key = key
        pending = root.isNull ? nil : root
    }

    /// Descends to a branch, which must be on a lower level than its parent, and within its bounds.
    private func step(_ reference: NodeReference) throws(StorageError) -> Step {
        var level = Branch.maxLevel + 1
        var low: Int64?
        var end: Int64?
        if let above = path.last {
            level = above.branch.level
            let index = above.next - 1
            low = index == 0 ? above.low : above.branch.key(index)
            end = above.next < above.branch.count ? above.branch.key(above.next) : above.end
        }
        let branch = try reader.branch(reference, below: &level)
        if let low, branch.key(0) < low { throw reader.damage(at: branch.base) }
        if let end, branch.key(branch.count - 1) >= end { throw reader.damage(at: branch.base) }
        return Step(branch: branch, next: key == .min ? 0 : branch.find(key), low: low, end: end)
    }

    /// The next group; nil at the end.
    mutating func next() throws(StorageError) -> Group? {
        guard let reference = try nextReference() else { return nil }
        return Group(try reader.node(reference, .group))
    }

    /// The reference of the next group; nil at the end. The group is not read.
    mutating func nextReference() throws(StorageError) -> NodeReference? {
        while true {
            if let reference = pending {
                pending = nil
                if reference.is(.group) { return reference }
                path.append(try step(reference))
            }
            guard let last = path.last else { return nil }
            if last.next == last.branch.count {
                path.removeLast()
                // Only the first descent follows the key.
                key = .min
                continue
            }
            path[path.count - 1].next += 1
            let child = last.branch.reference(last.next)
            if child.is(.group) {
                key = .min
                if last.next + 1 < last.branch.count { reader.prefetch(last.branch.reference(last.next + 1)) }
                return child
            }
            pending = child
        }
    }
}
