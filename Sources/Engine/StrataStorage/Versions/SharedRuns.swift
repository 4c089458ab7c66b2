/// Elements that two versions of a collection share: those in nodes that both trees reach.
///
/// Trees are compared level by level, after the taller one was expanded to the level of the other. Shared nodes become
/// runs, other nodes are replaced by their children. So the cost is that of the nodes on the paths to the changes.
struct SharedRuns {
    struct Run: Equatable {
        var old: Int
        var new: Int
        var count: Int
    }

    /// Ascending in both versions. Two neighbours adjoin in one of them at most.
    private(set) var runs: [Run] = []

    /// - Throws: `corrupt`.
    init(_ earlier: CollectionReader, _ later: CollectionReader) throws(StorageError) {
        guard var old = try TreeLevel(earlier), var new = try TreeLevel(later) else { return }
        // A node of the later tree that is not younger than the root of the earlier one is below that root, too.
        let birth = old.nodes[0].reference.birth
        while old.level > new.level { try old.expand() }
        while new.level > old.level { try new.expand() }
        while true {
            match(&old, &new, birth)
            if old.level == 0 || old.nodes.isEmpty || new.nodes.isEmpty { break }
            try old.expand()
            try new.expand()
        }
        putInOrder()
    }

    /// Makes runs of the nodes that both levels have, and removes these nodes from both.
    private mutating func match(_ old: inout TreeLevel, _ new: inout TreeLevel, _ birth: UInt64) {
        let pairs = Self.inOrder(old.nodes, new.nodes, birth) ?? Self.inAnyOrder(old.nodes, new.nodes)
        if pairs.isEmpty { return }
        for (mine, others) in pairs {
            runs.append(Run(old: old.nodes[mine].first, new: new.nodes[others].first, count: old.nodes[mine].count))
        }
        old.remove(pairs.map(\.old))
        new.remove(pairs.map(\.new))
    }

    /// Finds the shared nodes by one pass over both levels, in which they normally have the same order.
    /// - Returns: nil if a node that is old enough to be shared is not found after the last match: a recovery may have
    ///   repeated versions of a process that died on other pages.
    private static func inOrder(
        _ old: [TreeLevel.Node], _ new: [TreeLevel.Node], _ birth: UInt64
    ) -> [(old: Int, new: Int)]? {
        var pairs: [(old: Int, new: Int)] = []
        var next = 0
        for (place, node) in new.enumerated() where node.reference.birth <= birth && !node.reference.isInArena {
            while next < old.count, old[next].reference != node.reference { next += 1 }
            if next == old.count || old[next].count != node.count { return nil }
            pairs.append((next, place))
            next += 1
        }
        return pairs
    }

    private static func inAnyOrder(_ old: [TreeLevel.Node], _ new: [TreeLevel.Node]) -> [(old: Int, new: Int)] {
        var known: [UInt32: Int] = [:]
        for (place, node) in old.enumerated() { known[node.reference.page] = place }
        var pairs: [(old: Int, new: Int)] = []
        for (place, node) in new.enumerated() {
            guard let found = known[node.reference.page], old[found].reference == node.reference,
                old[found].count == node.count
            else { continue }
            pairs.append((found, place))
        }
        return pairs
    }

    /// Drops runs that cross others, and merges runs that adjoin in both versions.
    private mutating func putInOrder() {
        runs.sort { $0.new < $1.new }
        let olds = runs.map(\.old)
        if zip(olds, olds.dropFirst()).contains(where: { $0 >= $1 }) {
            runs = AscendingChain.longest(olds).map { runs[$0] }
        }
        var joined: [Run] = []
        for run in runs {
            if let last = joined.last, last.old + last.count == run.old, last.new + last.count == run.new {
                joined[joined.count - 1].count += run.count
            } else {
                joined.append(run)
            }
        }
        runs = joined
    }
}

/// Nodes of one level of a tree, from left to right.
private struct TreeLevel {
    struct Node {
        var reference: NodeReference
        /// The place of its first element.
        var first: Int
        var count: Int
    }

    private(set) var nodes: [Node]
    private(set) var level: Int
    private let shape: CollectionShape
    private let reader: PageReader

    /// The root level; nil if the collection is no tree.
    init?(_ collection: CollectionReader) throws(StorageError) {
        guard let root = collection.root else { return nil }
        shape = collection.shape
        reader = collection.reader
        level = try CollectionTree.level(of: root, shape, reader)
        nodes = [Node(reference: root, first: 0, count: collection.count)]
    }

    /// Replaces all nodes by their children.
    mutating func expand() throws(StorageError) {
        var children: [Node] = []
        children.reserveCapacity(nodes.count * CollectionBranch.capacity)
        for node in nodes {
            let branch = try CollectionTree.branch(node.reference, level: level, shape, reader)
            guard branch.total == node.count else { throw CollectionTree.damaged(node.reference) }
            var first = node.first
            for i in 0..<branch.count {
                children.append(Node(reference: branch.reference(i), first: first, count: branch.elements(i)))
                first += branch.elements(i)
            }
        }
        nodes = children
        level -= 1
    }

    /// Removes the nodes at some indices.
    mutating func remove(_ places: [Int]) {
        var gone = [Bool](repeating: false, count: nodes.count)
        for place in places { gone[place] = true }
        var left: [Node] = []
        left.reserveCapacity(nodes.count - places.count)
        for (place, node) in nodes.enumerated() where !gone[place] { left.append(node) }
        nodes = left
    }
}

/// Longest ascending subsequences.
enum AscendingChain {
    /// Indices of a longest strictly ascending subsequence.
    /// - Complexity: O(n log n).
    static func longest(_ numbers: [Int]) -> [Int] {
        var ends: [Int] = []
        var before = [Int](repeating: -1, count: numbers.count)
        for (place, number) in numbers.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) >> 1
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var chain: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            chain.append(place)
            place = before[place]
        }
        return chain.reversed()
    }
}
