/// Goes through the groups of a table in key order, one at a time.
///
/// Valid as long as the nodes that it walks: a version's pin, or a transaction's next write.
struct GroupWalk {
    private let reader: PageReader
    /// Inner nodes on the way to the next group, each with the child to visit next.
    private var path: [(branch: Branch, next: Int)] = []
    /// A table whose root is a group, or the start of the walk.
    private var pending: NodeReference?
    private var key: Int64

    /// - Parameter key: the walk begins with the group that it belongs to.
    init(_ root: NodeReference, from key: Int64, _ reader: PageReader) {
        self.reader = reader
        self.key = key
        pending = root.isNull ? nil : root
    }

    /// The next group, or nil at the end.
    mutating func next() throws(StorageError) -> Group? {
        while true {
            if let reference = pending {
                pending = nil
                if reference.is(.group) { return Group(try reader.node(reference, .group)) }
                let branch = Branch(try reader.node(reference, .branch))
                guard path.count < Branch.maxLevel else { throw Group.structure(reference) }
                path.append((branch, key == .min ? 0 : branch.find(key)))
            }
            guard let last = path.last else { return nil }
            if last.next == last.branch.count {
                path.removeLast()
                // Only the first way down follows the key.
                key = .min
                continue
            }
            path[path.count - 1].next += 1
            let child = last.branch.reference(last.next)
            if child.is(.group) {
                key = .min
                if last.next + 1 < last.branch.count { reader.prefetch(last.branch.reference(last.next + 1)) }
                return Group(try reader.node(child, .group))
            }
            pending = child
        }
    }
}

extension ReadView {
    /// Visits the groups of a table in key order, from the one that `key` belongs to, until `body` returns false.
    func forEachGroup(
        _ table: Int, from key: Int64, _ body: (Group) throws(StorageError) -> Bool
    ) throws(StorageError) {
        var walk = GroupWalk(state.tables[table].tree, from: key, reader)
        while let group = try walk.next() {
            if try !body(group) { return }
        }
    }
}
