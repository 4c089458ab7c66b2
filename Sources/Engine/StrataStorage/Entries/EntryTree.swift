/// A tree of entries (high, low) -> count, ordered by high, then low: one structure for indexes and backlinks.
///
/// An index holds (value or hash, row key) -> 1; backlinks hold (target key, origin key) -> number of links. The empty
/// tree is the null reference; a tree of one leaf has no branch. All functions throw `corrupt` for nodes that differ
/// from their parent's reference, and never read beyond a node.
enum EntryTree {
    /// Calls `body` with all entries between two keys, both included, in order, until it returns false.
    ///
    /// `body` must not change the tree.
    /// - Returns: false if `body` ended it.
    /// Complexity: O(log n) and the entries visited.
    @discardableResult
    static func forEach(
        in root: NodeReference, from: EntryKey = (.min, .min), through: EntryKey = (.max, .max),
        reading nodes: some NodeReading, _ body: (Int64, Int64, UInt32) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        try forEachLeaf(in: root, from: from, through: through, reading: nodes) {
            (leaf, entries) throws(StorageError) in
            var i = entries.lowerBound
            while i < entries.upperBound {
                if !(try body(leaf.high(i), leaf.low(i), leaf.count(i))) { return false }
                i += 1
            }
            return true
        }
    }

    /// Calls `body` with each leaf that has entries between two keys, both included, and with the indexes of these
    /// entries in the leaf, in order, until it returns false.
    ///
    /// `body` must not change the tree.
    /// - Returns: false if `body` ended it.
    /// Complexity: O(log n) and the leaves visited.
    @discardableResult
    static func forEachLeaf(
        in root: NodeReference, from: EntryKey, through: EntryKey, reading nodes: some NodeReading,
        _ body: (EntryLeaf, Range<Int>) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        if root.isNull || EntryOperation.precedes(through, from) { return true }
        return try visit(
            root, level: try level(of: root, nodes), bounds: (nil, nil), from: from, through: through, in: nodes, body)
    }

    /// Calls `body` with low and count of all entries of one `high`, in order, until it returns false.
    /// - Returns: false if `body` ended it.
    @discardableResult
    static func lookup(
        _ high: Int64, in root: NodeReference, reading nodes: some NodeReading,
        _ body: (Int64, UInt32) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        try forEach(in: root, from: (high, .min), through: (high, .max), reading: nodes) {
            (_, low, count) throws(StorageError) in try body(low, count)
        }
    }

    /// The count of one entry; 0 if it is missing.
    static func count(
        at key: EntryKey, in root: NodeReference, reading nodes: some NodeReading
    ) throws(StorageError) -> UInt32 {
        guard let leaf = try leaf(for: key, in: root, nodes)?.leaf else { return 0 }
        let i = leaf.lowerBound(key)
        return i < leaf.count && leaf.key(i) == key ? leaf.count(i) : 0
    }

    /// The number of entries (not the sum of their counts) of one `high`. Complexity: O(log n).
    static func count(
        of high: Int64, in root: NodeReference, reading nodes: some NodeReading
    ) throws(StorageError) -> UInt64 {
        try count(in: root, from: (high, .min), through: (high, .max), reading: nodes)
    }

    /// The number of entries between two keys, both included. Complexity: O(log n).
    static func count(
        in root: NodeReference, from: EntryKey, through: EntryKey, reading nodes: some NodeReading
    ) throws(StorageError) -> UInt64 {
        if EntryOperation.precedes(through, from) { return 0 }
        guard let end = try leaf(for: through, in: root, nodes), let start = try leaf(for: from, in: root, nodes)
        else { return 0 }
        let last = end.before &+ UInt64(end.leaf.upperBound(through))
        let first = start.before &+ UInt64(start.leaf.lowerBound(from))
        return last < first ? 0 : last - first
    }

    /// The sum of the counts of all entries between two keys, both included.
    /// Complexity: O(log n) and the leaves between the keys. The entries of a leaf are read only if one has a count
    /// other than 1.
    static func sum(
        in root: NodeReference, from: EntryKey, through: EntryKey, reading nodes: some NodeReading
    ) throws(StorageError) -> UInt64 {
        var sum: UInt64 = 0
        try forEachLeaf(in: root, from: from, through: through, reading: nodes) { (leaf, entries) in
            sum &+= leaf.sum(entries)
            return true
        }
        return sum
    }

    /// Number of entries before a key. Complexity: O(log n).
    static func rank(
        of key: EntryKey, in root: NodeReference, reading nodes: some NodeReading
    ) throws(StorageError) -> UInt64 {
        guard let found = try leaf(for: key, in: root, nodes) else { return 0 }
        return found.before &+ UInt64(found.leaf.lowerBound(key))
    }

    /// The `ordinal`-th of all entries; nil beyond the last. Complexity: O(log n).
    static func entry(
        at ordinal: UInt64, in root: NodeReference, reading nodes: some NodeReading
    ) throws(StorageError) -> EntryKey? {
        if root.isNull { return nil }
        var level = try level(of: root, nodes)
        var reference = root
        var left = ordinal
        while level > 0 {
            let branch = try branch(reference, level: level, nodes)
            var i = 0
            while i < branch.count && left >= branch.total(i) {
                left &-= branch.total(i)
                i += 1
            }
            if i == branch.count { return nil }
            reference = branch.reference(i)
            level -= 1
        }
        let leaf = EntryLeaf(try nodes.node(reference, .entryLeaf))
        return left < UInt64(leaf.count) ? leaf.key(Int(left)) : nil
    }

    /// The number of all entries (not the sum of their counts). Complexity: one node.
    static func totalEntries(
        in root: NodeReference, reading nodes: some NodeReading
    ) throws(StorageError) -> UInt64 {
        if root.isNull { return 0 }
        if root.is(.entryLeaf) { return UInt64(EntryLeaf(try nodes.node(root, .entryLeaf)).count) }
        return EntryBranch(try nodes.node(root, .entryBranch)).total
    }

    /// The height of a tree: 0 for a leaf, else the root branch's level. Callers that descend check each branch's level
    /// against the one above.
    static func level(of root: NodeReference, _ nodes: some NodeReading) throws(StorageError) -> Int {
        root.is(.entryLeaf) ? 0 : EntryBranch(try nodes.node(root, .entryBranch)).level
    }

    /// Reads a branch, and checks its level.
    @inline(__always)
    static func branch(
        _ reference: NodeReference, level: Int, _ nodes: some NodeReading
    ) throws(StorageError) -> EntryBranch {
        let branch = EntryBranch(try nodes.node(reference, .entryBranch))
        guard branch.level == level else { throw damaged(reference) }
        return branch
    }

    static func damaged(_ reference: NodeReference) -> StorageError {
        .corrupt(page: PageNumber(reference.page & ~Format.arenaBit), offset: 0, reason: .structure)
    }

    /// The leaf that holds `key` or would hold it, and the number of entries before that leaf; nil in the empty tree.
    private static func leaf(
        for key: EntryKey, in root: NodeReference, _ nodes: some NodeReading
    ) throws(StorageError) -> (leaf: EntryLeaf, before: UInt64)? {
        if root.isNull { return nil }
        var level = try level(of: root, nodes)
        var reference = root
        var before: UInt64 = 0
        while level > 0 {
            let branch = try branch(reference, level: level, nodes)
            let position = branch.position(of: key)
            for i in 0..<position { before &+= branch.total(i) }
            reference = branch.reference(position)
            level -= 1
        }
        return (EntryLeaf(try nodes.node(reference, .entryLeaf)), before)
    }

    /// - Parameter bounds: the node's first key, and a key that follows all of the node's, as the branches above have
    ///   them; each nil if they have none. This checks the node against the bounds, and so visits no node twice, even
    ///   in a damaged tree.
    private static func visit(
        _ reference: NodeReference, level: Int, bounds: (first: EntryKey?, end: EntryKey?), from: EntryKey,
        through: EntryKey, in nodes: some NodeReading, _ body: (EntryLeaf, Range<Int>) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        if level == 0 {
            let leaf = EntryLeaf(try nodes.node(reference, .entryLeaf))
            try check(first: leaf.key(0), last: leaf.key(leaf.count - 1), bounds: bounds, in: reference)
            let start = EntryOperation.precedes(leaf.key(0), from) ? leaf.lowerBound(from) : 0
            let isCut = EntryOperation.precedes(through, leaf.key(leaf.count - 1))
            let end = isCut ? leaf.upperBound(through) : leaf.count
            return start < end ? try body(leaf, start..<end) : true
        }
        let branch = try branch(reference, level: level, nodes)
        try check(first: branch.key(0), last: branch.key(branch.count - 1), bounds: bounds, in: reference)
        for i in branch.position(of: from)..<branch.count {
            if EntryOperation.precedes(through, branch.key(i)) { break }
            let below = (first: branch.key(i), end: i + 1 < branch.count ? branch.key(i + 1) : bounds.end)
            let goesOn = try visit(
                branch.reference(i), level: level - 1, bounds: below, from: from, through: through, in: nodes, body)
            if !goesOn { return false }
        }
        return true
    }

    @inline(__always)
    static func check(
        first: EntryKey, last: EntryKey, bounds: (first: EntryKey?, end: EntryKey?), in reference: NodeReference
    ) throws(StorageError) {
        if let expected = bounds.first, expected != first { throw damaged(reference) }
        if let end = bounds.end, !EntryOperation.precedes(last, end) { throw damaged(reference) }
    }
}
