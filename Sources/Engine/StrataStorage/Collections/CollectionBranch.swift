/// A child of a collection branch.
struct CollectionEntry {
    /// In a set or a map: the order key of its first element. 0 in a list.
    var key: Int64
    /// Elements below.
    var count: Int
    var reference: NodeReference
    /// Union of the flags of its leaves, as in ``CollectionLeaf``.
    var flags: Int
    /// The node was just written with few elements or children, so it should join a neighbour. Not stored on disk.
    var isUnderfull = false
}

/// A branch of a collection tree.
///
/// Layout behind the node header: children u16 at 24, level u16 at 26, form u8 at 28, flags u8 at 29, column id u16 at
/// 30; then, for up to ``capacity`` children, order keys i64 from 32, elements below u64 from 840, references of 24
/// bytes from 1648; key of the owner's row i64 at 4072. Unused bytes are zero.
///
/// 1. A branch has at least one child. Children of a branch of level 1 are leaves, those of a higher one are branches
///    of the level below.
/// 2. The counts of elements below are right. Flags include those of all leaves below.
/// 3. Keys are those of the first elements below, and never descend; a list has none.
struct CollectionBranch {
    static let capacity = 101
    static let keysOffset = 32
    static let countsOffset = keysOffset + 8 * capacity
    static let referencesOffset = countsOffset + 8 * capacity
    static let ownerOffset = referencesOffset + NodeReference.size * capacity
    static let maxLevel = 12
    static let maxElements = LongValue.maxElements

    let node: UnsafeRawPointer
    let count: Int

    /// - Parameter node: a node that passed ``validate(_:bytes:)``.
    @inline(__always)
    init(_ node: UnsafeRawPointer) {
        self.node = node
        count = node.u16(24)
    }

    @inline(__always) var level: Int { node.u16(26) }
    @inline(__always) var formCode: Int { node.u8(28) }
    @inline(__always) var flags: Int { node.u8(29) }
    @inline(__always) var column: UInt16 { UInt16(node.u16(30)) }
    @inline(__always) var owner: Int64 { node.i64(Self.ownerOffset) }
    @inline(__always) func key(_ i: Int) -> Int64 { node.i64(Self.keysOffset + 8 * i) }
    @inline(__always) func elements(_ i: Int) -> Int {
        Int(truncatingIfNeeded: node.u64(Self.countsOffset + 8 * i))
    }
    @inline(__always) func reference(_ i: Int) -> NodeReference {
        NodeReference(node, Self.referencesOffset + NodeReference.size * i)
    }

    func entry(_ i: Int) -> CollectionEntry {
        CollectionEntry(key: key(i), count: elements(i), reference: reference(i), flags: flags)
    }

    var entries: [CollectionEntry] { (0..<count).map(entry) }

    /// Elements below all children.
    var total: Int {
        var sum = 0
        for i in 0..<count { sum &+= elements(i) }
        return sum
    }

    /// The child with the element at `place`, and the number of elements before that child.
    ///
    /// - Parameters:
    ///   - place: below ``total``; with `isBorder` at most ``total``.
    ///   - isBorder: a place between two children belongs to the first of them, and the end to the last child.
    @inline(__always)
    func find(_ place: Int, isBorder: Bool) -> (child: Int, first: Int) {
        var first = 0
        let wanted = isBorder ? place - 1 : place
        for i in 0..<(count - 1) {
            let next = first &+ elements(i)
            if wanted < next { return (i, first) }
            first = next
        }
        return (count - 1, first)
    }

    /// Whether a branch is well-formed, so that reading it is memory-safe without further checks.
    ///
    /// Complexity: O(children).
    static func validate(_ node: UnsafeRawPointer, bytes: Int) -> Bool {
        guard bytes == Format.pageSize else { return false }
        let branch = CollectionBranch(node)
        guard branch.count >= 1, branch.count <= capacity, branch.level >= 1, branch.level <= maxLevel,
            branch.formCode <= Int(CollectionForm.map.rawValue),
            branch.flags & ~CollectionLeaf.allFlags == 0
        else { return false }
        let isList = branch.formCode == Int(CollectionForm.list.rawValue)
        let kind: NodeKind = branch.level == 1 ? .collectionLeaf : .collectionBranch
        for i in 0..<branch.count {
            let key = branch.key(i)
            if isList ? key != 0 : i > 0 && key < branch.key(i - 1) { return false }
            let elements = node.u64(countsOffset + 8 * i)
            if elements == 0 || elements > maxElements { return false }
            if !branch.reference(i).isOnDisk(kind, maxPages: 1) { return false }
        }
        return true
    }

    // MARK: Writing

    /// Replaces the reference of a child.
    static func setReference(_ node: UnsafeMutableRawPointer, _ i: Int, _ reference: NodeReference) {
        reference.store(node, referencesOffset + NodeReference.size * i)
    }

    @inline(__always)
    static func setKey(_ node: UnsafeMutableRawPointer, _ i: Int, _ key: Int64) { node.putI64(keysOffset + 8 * i, key) }

    @inline(__always)
    static func add(_ elements: Int, _ node: UnsafeMutableRawPointer, _ i: Int) {
        let at = countsOffset + 8 * i
        node.put64(at, node.u64(at) &+ UInt64(bitPattern: Int64(elements)))
    }

    @inline(__always)
    static func addFlags(_ node: UnsafeMutableRawPointer, _ flags: Int) {
        node.put8(29, UnsafeRawPointer(node).u8(29) | flags)
    }

    static func set(_ node: UnsafeMutableRawPointer, _ i: Int, _ entry: CollectionEntry) {
        setKey(node, i, entry.key)
        node.put64(countsOffset + 8 * i, UInt64(entry.count))
        setReference(node, i, entry.reference)
        addFlags(node, entry.flags)
    }

    /// Encodes `entries` into a node that has its header.
    static func fill(
        _ node: UnsafeMutableRawPointer, _ entries: ArraySlice<CollectionEntry>, level: Int, _ shape: CollectionShape
    ) {
        (node + Format.nodeHeaderSize).initializeMemory(
            as: UInt8.self, repeating: 0, count: Format.pageSize - Format.nodeHeaderSize)
        node.put16(24, entries.count)
        node.put16(26, level)
        node.put8(28, Int(shape.form.rawValue))
        node.put8(29, shape.nodeFlags)
        node.put16(30, Int(shape.column))
        node.putI64(ownerOffset, shape.owner)
        var i = 0
        for entry in entries {
            set(node, i, entry)
            i += 1
        }
    }
}
