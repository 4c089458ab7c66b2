/// Reads an inner node of a table's tree: separator keys, rows below, references.
///
/// Layout behind the node header: count u16 at 24, level u16 at 26 (1 above groups), zero u32, then keys i64 x 101
/// at 32, rows below u64 x 101, references 24 bytes x 101. The first key of the leftmost branch bounds nothing: a key
/// below it belongs to the first child.
struct Branch {
    static let capacity = 101
    static let keysOffset = 32
    static let rowsOffset = keysOffset + 8 * capacity
    static let referencesOffset = rowsOffset + 8 * capacity
    static let maxLevel = 12

    let base: UnsafeRawPointer

    @inline(__always) init(_ base: UnsafeRawPointer) { self.base = base }

    @inline(__always) var count: Int { base.u16(24) }
    @inline(__always) var level: Int { base.u16(26) }
    @inline(__always) func key(_ index: Int) -> Int64 { base.i64(Self.keysOffset + 8 * index) }
    @inline(__always) func rows(_ index: Int) -> Int { Int(truncatingIfNeeded: base.u64(Self.rowsOffset + 8 * index)) }
    @inline(__always)
    func reference(_ index: Int) -> NodeReference {
        NodeReference(base, Self.referencesOffset + NodeReference.size * index)
    }

    /// The child that `key` belongs to. The node is not empty.
    @inline(__always)
    func find(_ key: Int64) -> Int {
        var low = 0
        var n = count
        while n > 1 {
            let half = n >> 1
            low = self.key(low + half) <= key ? low + half : low
            n -= half
        }
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

/// A child of a branch, on its way in.
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
        node.put64(rowsOffset + 8 * index, UInt64(rows))
    }

    static func setReference(_ node: UnsafeMutableRawPointer, _ index: Int, _ reference: NodeReference) {
        reference.store(node, referencesOffset + NodeReference.size * index)
    }

    func entry(_ index: Int) -> BranchEntry {
        BranchEntry(key: key(index), rows: rows(index), reference: reference(index))
    }

    var entries: [BranchEntry] { (0..<count).map(entry) }

    /// Fills a node; unused places are zeroed, so that equal trees have equal bytes.
    static func fill(_ node: UnsafeMutableRawPointer, _ entries: ArraySlice<BranchEntry>, level: Int) {
        (node + Format.nodeHeaderSize).initializeMemory(
            as: UInt8.self, repeating: 0, count: Format.pageSize - Format.nodeHeaderSize)
        node.put16(24, entries.count)
        node.put16(26, level)
        for (index, entry) in entries.enumerated() { set(node, index, entry) }
    }
}
