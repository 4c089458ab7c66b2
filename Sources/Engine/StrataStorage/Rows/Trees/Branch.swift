/// An inner node of a table's row tree: separator keys, rows below, references.
///
/// Layout behind the node header: count u16 at 24, level u16 at 26 (1 above groups), zero u32, then keys i64 x 101 at
/// 32, rows below u64 x 101, references 24 bytes x 101. The first key of the leftmost branch is no bound: a lower key
/// belongs to the first child.
package struct Branch {
    /// Offsets of the fields in front of the keys, from the node's start.
    enum Field {
        static let count = 24
        static let level = 26
    }

    static let capacity = 101
    static let keysOffset = 32
    static let rowsOffset = keysOffset + 8 * capacity
    static let referencesOffset = rowsOffset + 8 * capacity
    static let maxLevel = 12

    let base: UnsafeRawPointer

    @inline(__always) package init(_ base: UnsafeRawPointer) { self.base = base }

    @inline(__always) package var count: Int { base.u16(Field.count) }
    @inline(__always) package var level: Int { base.u16(Field.level) }
    @inline(__always) package func key(_ index: Int) -> Int64 { base.i64(Self.keysOffset + 8 * index) }
    @inline(__always) package func rows(_ index: Int) -> Int {
        Int(truncatingIfNeeded: base.u64(Self.rowsOffset + 8 * index))
    }
    @inline(__always)
    package func reference(_ index: Int) -> NodeReference {
        NodeReference(base, Self.referencesOffset + NodeReference.size * index)
    }

    /// The child for `key`. The node is not empty.
    @inline(__always)
    func find(_ key: Int64) -> Int {
        var low = 0
        var n = count
        while n > 1 {
            let half = n >> 1
            low = self.key(low + half) <= key ? low + half : low
            n -= half
        }
        #if Zoo
            if level > 1, low > 0, self.key(low) == key, PlantedMistake.branchSearch.isPlanted { return low - 1 }
            if level == 1, low > 0, self.key(low) == key, PlantedMistake.leafSearch.isPlanted { return low - 1 }
        #endif
        return low
    }

    var totalRows: Int {
        var total = 0
        for index in 0..<count { total &+= rows(index) }
        return total
    }

    static func validate(_ node: UnsafeRawPointer, bytes: Int) -> Bool {
        let branch = Branch(node)
        guard bytes == Format.pageSize, branch.count >= 1, branch.count <= capacity, branch.level >= 1,
            branch.level <= maxLevel
        else { return false }
        for index in 0..<branch.count {
            if index > 0 && branch.key(index) <= branch.key(index - 1) { return false }
            let reference = branch.reference(index)
            let isRight =
                branch.level == 1
                ? reference.isOnDisk(.group, maxPages: Group.maxPages) : reference.isOnDisk(.branch, maxPages: 1)
            guard isRight, branch.base.u64(rowsOffset + 8 * index) < 1 << 48 else {
                return false
            }
        }
        return true
    }
}

extension PageReader {
    /// Reads a branch on a descent.
    /// - Parameter level: that of the parent; then that of the branch, which must be lower, so that the descent ends.
    @inline(__always)
    func branch(_ reference: NodeReference, below level: inout Int) throws(StorageError) -> Branch {
        let branch = Branch(try node(reference, .branch))
        guard branch.level < level else { throw damage(at: branch.base) }
        level = branch.level
        return branch
    }
}

/// A child to be put in a branch.
struct BranchEntry {
    var key: Int64
    var rows: Int
    var reference: NodeReference
}

extension Branch {
    static func set(_ node: UnsafeMutableRawPointer, _ index: Int, _ entry: BranchEntry) {
        node.putI64(keysOffset + 8 * index, entry.key)
        setRows(node, index, entry.rows)
        setReference(node, index, entry.reference)
    }

    static func setRows(_ node: UnsafeMutableRawPointer, _ index: Int, _ rows: Int) {
        node.putI64(rowsOffset + 8 * index, Int64(rows))
    }

    static func setReference(_ node: UnsafeMutableRawPointer, _ index: Int, _ reference: NodeReference) {
        reference.store(node, referencesOffset + NodeReference.size * index)
    }

    func entry(_ index: Int) -> BranchEntry {
        BranchEntry(key: key(index), rows: rows(index), reference: reference(index))
    }

    var entries: [BranchEntry] { (0..<count).map(entry) }

    /// Fills a node; unused bytes are zeroed, so that equal trees have equal bytes.
    static func fill(_ node: UnsafeMutableRawPointer, _ entries: ArraySlice<BranchEntry>, level: Int) {
        (node + Format.nodeHeaderSize).initializeMemory(
            as: UInt8.self, repeating: 0, count: Format.pageSize - Format.nodeHeaderSize)
        node.put16(Field.count, entries.count)
        node.put16(Field.level, level)
        for (index, entry) in entries.enumerated() { set(node, index, entry) }
    }
}
