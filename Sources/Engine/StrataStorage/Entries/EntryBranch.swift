/// A child of an entry branch: its first key, its reference, and the number of entries below it.
struct EntryChild {
    var high: Int64
    var low: Int64
    var reference: NodeReference
    var total: UInt64
    /// The node was just written with few entries, so it should join a neighbour. Not stored on disk.
    var isUnderfull = false

    @inline(__always) var key: EntryKey { (high, low) }
}

/// Reads a branch of an entry tree.
///
/// Layout behind the node header: count u16, level u8, zero u8 x 5; then arrays with room for ``capacity`` children:
/// first high i64 from 32, first low i64 from 704, entries below u64 from 1376, references of 24 bytes from 2048.
/// Unused bytes are zero.
///
/// 1. A branch has at least one child. Children of a branch of level 1 are leaves, those of a higher one are branches
///    of the level below.
/// 2. First keys ascend strictly; each equals the first key of the first leaf below.
/// 3. Entries below are those that a walk would count.
package struct EntryBranch {
    static let capacity = 84
    static let highsOffset = 32
    static let lowsOffset = highsOffset + 8 * capacity
    static let totalsOffset = lowsOffset + 8 * capacity
    static let referencesOffset = totalsOffset + 8 * capacity
    /// Higher than any tree that fits a file. It bounds walks in a damaged one.
    static let maxLevel = 40
    private static let maxTotal: UInt64 = 1 << 48

    let node: UnsafeRawPointer
    package let count: Int

    /// - Parameter node: a node that passed ``validate(_:bytes:)``.
    @inline(__always)
    package init(_ node: UnsafeRawPointer) {
        self.node = node
        count = node.u16(24)
    }

    @inline(__always) package var level: Int { node.u8(26) }
    @inline(__always) func high(_ i: Int) -> Int64 { node.i64(Self.highsOffset + 8 * i) }
    @inline(__always) func low(_ i: Int) -> Int64 { node.i64(Self.lowsOffset + 8 * i) }
    @inline(__always) func key(_ i: Int) -> EntryKey { (high(i), low(i)) }
    @inline(__always) func total(_ i: Int) -> UInt64 { node.u64(Self.totalsOffset + 8 * i) }
    @inline(__always) package func reference(_ i: Int) -> NodeReference {
        NodeReference(node, Self.referencesOffset + NodeReference.size * i)
    }

    @inline(__always) func child(_ i: Int) -> EntryChild {
        EntryChild(high: high(i), low: low(i), reference: reference(i), total: total(i))
    }

    /// Entries below all children.
    var total: UInt64 {
        var sum: UInt64 = 0
        for i in 0..<count { sum &+= total(i) }
        return sum
    }

    /// The child that would hold `key`: the last one that starts at or before it, or the first.
    @inline(__always)
    func position(of key: EntryKey) -> Int {
        var start = 0
        var end = count
        while start < end {
            let middle = (start + end) >> 1
            if EntryOperation.precedes(key, self.key(middle)) { end = middle } else { start = middle + 1 }
        }
        return max(start - 1, 0)
    }

    /// Whether a branch is well-formed, so that reading it is memory-safe without further checks.
    ///
    /// Complexity: O(children).
    static func validate(_ node: UnsafeRawPointer, bytes: Int) -> Bool {
        guard bytes == Format.pageSize else { return false }
        let branch = EntryBranch(node)
        guard branch.count >= 1, branch.count <= capacity, branch.level >= 1, branch.level <= maxLevel,
            node.u8(27) == 0, node.u32(28) == 0, branch.count == capacity || branch.total(branch.count) == 0
        else { return false }
        let kind: NodeKind = branch.level == 1 ? .entryLeaf : .entryBranch
        for i in 0..<branch.count {
            if i > 0 && !EntryOperation.precedes(branch.key(i - 1), branch.key(i)) { return false }
            if branch.total(i) == 0 || branch.total(i) > maxTotal { return false }
            if !branch.reference(i).isOnDisk(kind, maxPages: 1) { return false }
        }
        return true
    }

    /// Replaces the reference of a child that has got its pages in the file.
    static func setReference(_ node: UnsafeMutableRawPointer, _ i: Int, _ reference: NodeReference) {
        reference.store(node, referencesOffset + NodeReference.size * i)
    }

    /// Encodes `children` into a node that has its header.
    static func encode(_ children: ArraySlice<EntryChild>, level: Int, into node: UnsafeMutableRawPointer) {
        (node + Format.nodeHeaderSize).initializeMemory(
            as: UInt8.self, repeating: 0, count: Format.pageSize - Format.nodeHeaderSize)
        node.put16(24, children.count)
        node.put8(26, level)
        var i = 0
        for child in children {
            set(child, at: i, in: node)
            i += 1
        }
    }

    @inline(__always)
    static func set(_ child: EntryChild, at i: Int, in node: UnsafeMutableRawPointer) {
        node.putI64(highsOffset + 8 * i, child.high)
        node.putI64(lowsOffset + 8 * i, child.low)
        node.put64(totalsOffset + 8 * i, child.total)
        setReference(node, i, child.reference)
    }
}
