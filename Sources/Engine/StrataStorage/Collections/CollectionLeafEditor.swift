/// Encodes leaves of a collection tree anew, for changes that ``CollectionEdit/apply(to:most:)`` cannot make.
///
/// Concurrency: confined to its owner.
final class CollectionLeafEditor<Nodes: NodeWriting> {
    /// Distribution of elements that exceed one leaf.
    enum Packing {
        /// Full leaves from the left, so that appending leaves full leaves behind.
        case forward
        /// Full leaves from the right.
        case backward
        /// Two leaves with half of the bytes each; full ones from the left if two cannot hold the elements.
        case even
    }

    let nodes: Nodes
    let shape: CollectionShape
    /// Most elements of a leaf.
    let most: Int
    /// Nodes of removed long values are not dropped, since the caller inserts the values again elsewhere.
    @exclusivity(unchecked) var keepsLong = false

    private let old: CollectionElements
    private let work: CollectionElements
    /// Copies of the nodes whose bytes `old` and `work` borrow.
    private let scratch: UnsafeMutableRawPointer

    init(_ nodes: Nodes, _ shape: CollectionShape, _ limits: StoreLimits) {
        self.nodes = nodes
        self.shape = shape
        most = min(max(limits.elements, 2), CollectionLeaf.maxElements)
        old = CollectionElements(shape)
        work = CollectionElements(shape)
        scratch = .allocate(byteCount: 2 * Format.pageSize, alignment: 16)
    }

    deinit { scratch.deallocate() }

    // MARK: One leaf

    /// Changes a leaf of this transaction by encoding it anew.
    /// - Returns: nil if the result exceeds one leaf: the caller then calls ``spread(_:reusing:)``. An entry with a
    ///   count of 0 if no element is left: the node was dropped.
    func rebuild(_ reference: NodeReference, _ edit: CollectionEdit) throws(StorageError) -> CollectionEntry? {
        let leaf = try CollectionTree.leaf(reference, shape, nodes)
        let gone = edit.place..<(edit.place + edit.removed)
        try dropLong(leaf, gone, keepsKeys: edit.keepsKeys)
        work.removeAll()
        old.removeAll()
        borrow(leaf, page: 0, old)
        work.append(old, 0..<edit.place)
        if let elements = edit.elements {
            if edit.keepsKeys, let keys = work.keys, let others = old.keys {
                work.values.append(elements.values, edit.range)
                keys.append(others, gone)
            } else {
                work.append(elements, edit.range)
            }
        }
        work.append(old, gone.upperBound..<old.count)
        if work.count == 0 {
            nodes.drop(reference)
            return CollectionEntry(key: 0, count: 0, reference: .null, flags: 0)
        }
        guard fits(work, 0..<work.count) else { return nil }
        return try write(work, 0..<work.count, .roomy, into: reference)
    }

    /// Writes the result of ``rebuild(_:_:)`` to several leaves, the first of which is `reference`.
    func spread(_ packing: Packing, reusing reference: NodeReference) throws(StorageError) -> [CollectionEntry] {
        try write(pieces(work, packing), of: work, packing, reusing: [reference])
    }

    /// New leaves for elements, full from the left.
    func leaves(_ elements: CollectionElements, _ range: Range<Int>) throws(StorageError) -> [CollectionEntry] {
        work.removeAll()
        work.append(elements, range)
        return try write(pieces(work, .forward), of: work, .forward, reusing: [])
    }

    /// Balances the result of ``rebuild(_:_:)`` with a neighbour.
    /// - Returns: both; nil, with the nodes unchanged, if less than an eighth of the neighbour is free, or the two
    ///   cannot hold the elements.
    func even(
        _ reference: NodeReference, with neighbour: NodeReference, isLeft: Bool
    ) throws(StorageError) -> [CollectionEntry]? {
        let leaf = try CollectionTree.leaf(neighbour, shape, nodes)
        let used = leaf.used - CollectionLeaf.segmentOffset
        guard 8 * used <= 7 * CollectionLeaf.capacity, 8 * leaf.count <= 7 * most else { return nil }
        old.removeAll()
        if isLeft {
            borrow(leaf, page: 1, old)
            old.append(work, 0..<work.count)
        } else {
            old.append(work, 0..<work.count)
            borrow(leaf, page: 1, old)
        }
        guard let halves = halves(old) else { return nil }
        return try write(halves, of: old, .even, reusing: isLeft ? [neighbour, reference] : [reference, neighbour])
    }

    /// Joins two neighbours.
    /// - Returns: nil, with the nodes unchanged, if they fill more than three quarters of a leaf.
    func join(_ left: NodeReference, _ right: NodeReference) throws(StorageError) -> CollectionEntry? {
        let first = try CollectionTree.leaf(left, shape, nodes)
        let second = try CollectionTree.leaf(right, shape, nodes)
        let count = first.count + second.count
        guard 4 * count <= 3 * most else { return nil }
        work.removeAll()
        borrow(first, page: 0, work)
        borrow(second, page: 1, work)
        var measure = CollectionMeasure(work)
        for index in 0..<work.count { measure.add(work, index) }
        guard 4 * measure.size <= 3 * CollectionLeaf.capacity else { return nil }
        nodes.drop(right)
        return try write(work, 0..<work.count, .roomy, into: left)
    }

    /// Appends a leaf's elements; their bytes are in the scratch memory.
    private func borrow(_ leaf: CollectionLeaf, page: Int, _ elements: CollectionElements) {
        let copy = scratch + page * Format.pageSize
        copy.copyMemory(from: leaf.node, byteCount: Format.pageSize)
        elements.append(CollectionLeaf(UnsafeRawPointer(copy)))
    }

    // MARK: Long values

    /// Moves each value and key of more than `longest` bytes to a node of its own.
    func prepare(_ elements: CollectionElements, longest: Int) throws(StorageError) {
        for column in [elements.values, elements.keys].compactMap(\.self) where column.kind == .bytes {
            for row in 0..<column.count where !column.isLong(row) && Int(column.lengths[row]) > longest {
                column.setLong(row, try nodes.makeLong(column.bytes(row), table: shape.table))
            }
        }
    }

    /// Drops the nodes of the long values of some elements, inner collections included.
    func dropLong(_ leaf: CollectionLeaf, _ range: Range<Int>, keepsKeys: Bool = false) throws(StorageError) {
        if keepsLong || leaf.flags & CollectionLeaf.hasLong == 0 { return }
        try drop(leaf.values, range)
        if let keys = leaf.keys, !keepsKeys { try drop(keys, range) }
    }

    private func drop(_ segment: Segment, _ range: Range<Int>) throws(StorageError) {
        guard segment.kind == .bytes else { return }
        for slot in range where segment.isLong(slot) && !segment.isNull(slot) {
            guard let base = segment.bytes(slot).baseAddress else { continue }
            let long = LongValue(base)
            if long.isTree {
                let tree = CollectionNodes(nodes: nodes, shape: shape)
                try tree.forEachNested(long.reference) { nodes.drop($0) }
            } else {
                nodes.drop(long.reference)
            }
        }
    }

    // MARK: Pieces

    private func fits(_ elements: CollectionElements, _ range: Range<Int>) -> Bool {
        if range.count > most { return false }
        var measure = CollectionMeasure(elements)
        for index in range {
            measure.add(elements, index)
            if measure.size > CollectionLeaf.capacity { return false }
        }
        return true
    }

    private func pieces(_ elements: CollectionElements, _ packing: Packing) -> [Range<Int>] {
        if packing == .even, let halves = halves(elements) { return halves }
        var pieces: [Range<Int>] = []
        if packing == .backward {
            var end = elements.count
            while end > 0 {
                var start = end
                var measure = CollectionMeasure(elements)
                while start > 0 && end - start < most {
                    measure.add(elements, start - 1)
                    if measure.size > CollectionLeaf.capacity { break }
                    start -= 1
                }
                start = min(start, end - 1)
                pieces.append(start..<end)
                end = start
            }
            return pieces.reversed()
        }
        var start = 0
        while start < elements.count {
            var end = start
            var measure = CollectionMeasure(elements)
            while end < elements.count && end - start < most {
                measure.add(elements, end)
                if measure.size > CollectionLeaf.capacity { break }
                end += 1
            }
            end = max(end, start + 1)
            pieces.append(start..<end)
            start = end
        }
        return pieces
    }

    /// Two leaves with half of the bytes each; nil if one of them cannot hold its half.
    private func halves(_ elements: CollectionElements) -> [Range<Int>]? {
        let count = elements.count
        guard count > 1, count <= 2 * most else { return nil }
        var total = 0
        for index in 0..<count { total += weight(elements, index) }
        var cut = 0
        var weight = 0
        while cut < count && 2 * weight < total {
            weight += self.weight(elements, cut)
            cut += 1
        }
        cut = min(max(cut, 1), count - 1)
        guard fits(elements, 0..<cut), fits(elements, cut..<count) else { return nil }
        return [0..<cut, cut..<count]
    }

    @inline(__always)
    private func weight(_ elements: CollectionElements, _ index: Int) -> Int {
        var weight = elements.values.kind == .bytes ? 2 + Int(elements.values.lengths[index]) : 8
        if let keys = elements.keys { weight += 2 + Int(keys.lengths[index]) }
        return weight
    }

    // MARK: Writing

    private func write(
        _ pieces: [Range<Int>], of elements: CollectionElements, _ packing: Packing, reusing: [NodeReference]
    ) throws(StorageError) -> [CollectionEntry] {
        var entries: [CollectionEntry] = []
        entries.reserveCapacity(pieces.count)
        for (number, piece) in pieces.enumerated() {
            // Appends and bulk builds leave full leaves behind. These are encoded tightly, since changes are unlikely.
            let isFull = packing == .forward && number + 1 < pieces.count
            let target: NodeReference
            if number < reusing.count {
                target = reusing[number]
            } else {
                target = try nodes.makeNode(.collectionLeaf, pages: 1, table: shape.table).0
            }
            entries.append(try write(elements, piece, isFull ? .tight : .roomy, into: target))
        }
        return entries
    }

    private func write(
        _ elements: CollectionElements, _ range: Range<Int>, _ frame: SegmentPlan.Frame, into reference: NodeReference
    ) throws(StorageError) -> CollectionEntry {
        var reference = reference
        let node = try nodes.mutable(&reference)
        // Pieces fit a leaf. A single element may not, if it comes from a forged leaf that was full to the last byte.
        guard CollectionLeaf.encode(elements, in: range, frame: frame, shape: shape, into: node) else {
            throw CollectionTree.damaged(reference)
        }
        return try entry(CollectionLeaf(UnsafeRawPointer(node)), reference)
    }

    func entry(_ leaf: CollectionLeaf, _ reference: NodeReference) throws(StorageError) -> CollectionEntry {
        CollectionEntry(
            key: try CollectionTree.firstKey(leaf, shape, nodes), count: leaf.count, reference: reference,
            flags: leaf.flags, isUnderfull: isUnderfull(leaf))
    }

    /// Whether a leaf fills less than a quarter.
    @inline(__always)
    func isUnderfull(_ leaf: CollectionLeaf) -> Bool {
        4 * leaf.count < most && 4 * (leaf.used - CollectionLeaf.segmentOffset) < CollectionLeaf.capacity
    }
}
