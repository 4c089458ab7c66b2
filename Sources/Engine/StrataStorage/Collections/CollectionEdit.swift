/// A change within one leaf: some elements replace others.
struct CollectionEdit {
    /// The first removed element, counted from the start of the current node; new elements are inserted before it.
    var place: Int
    /// Number of removed elements.
    var removed: Int
    /// New elements: a range of this buffer.
    var elements: CollectionElements?
    var range: Range<Int>
    /// The map's keys stay: as many values are set as are removed.
    var keepsKeys = false

    init(removing range: Range<Int>) {
        place = range.lowerBound
        removed = range.count
        self.range = 0..<0
    }

    init(_ elements: CollectionElements, _ range: Range<Int>, at place: Int, replacing removed: Int) {
        self.place = place
        self.removed = removed
        self.elements = elements
        self.range = range
    }

    /// An insertion at a border belongs to the leaf on its left, a removal to the leaf on its right.
    @inline(__always) var isBorder: Bool { removed == 0 }
    @inline(__always) var added: Int { range.count - removed }

    /// The same change, relative to a node that starts this many elements later.
    func moved(by elements: Int) -> CollectionEdit {
        var edit = self
        edit.place -= elements
        return edit
    }

    // MARK: In place

    /// Changes a leaf in place, if its encoding permits; else the leaf is unchanged.
    ///
    /// Long values are neither inserted nor removed this way, and a leaf never becomes empty.
    @inline(__always)
    func apply(to node: UnsafeMutableRawPointer, most: Int) -> Bool {
        let leaf = CollectionLeaf(UnsafeRawPointer(node))
        if leaf.flags & CollectionLeaf.hasLong != 0 { return false }
        if removed == 0 { return insert(node, leaf, most) }
        if range.isEmpty { return remove(node, leaf) }
        return set(node, leaf)
    }

    @inline(__always)
    private func insert(_ node: UnsafeMutableRawPointer, _ leaf: CollectionLeaf, _ most: Int) -> Bool {
        guard range.count == 1, let elements, leaf.count < most else { return false }
        let value = elements.values.cellValue(range.lowerBound)
        let values = leaf.values
        // A leaf of equal integers takes no bytes for them, so it could take more elements here than a rebuilt leaf
        // could: `SegmentMeasure` counts at least a byte for each.
        if values.kind == .integer && values.width == 0 { return false }
        guard SegmentEdit.takes(values, value) else { return false }
        let size = SegmentEdit.sizeWith(values, value)
        let base = node + (values.base - leaf.node)
        guard let keys = leaf.keys else {
            guard CollectionLeaf.segmentOffset + size <= Format.pageSize else { return false }
            SegmentEdit.insert(base, place, value)
            CollectionLeaf.update(node)
            return true
        }
        guard let key = elements.keys?.cellValue(range.lowerBound), SegmentEdit.takes(keys, key) else { return false }
        let offset = CollectionLeaf.segmentOffset + aligned8(SegmentEdit.sizeWith(keys, key))
        guard offset + size <= Format.pageSize else { return false }
        SegmentEdit.insert(base, place, value)
        let old = values.base - leaf.node
        (node + offset).copyMemory(from: base, byteCount: size)
        SegmentEdit.zero(base, offset - old)
        SegmentEdit.insert(node + CollectionLeaf.segmentOffset, place, key)
        CollectionLeaf.update(node)
        return true
    }

    private func remove(_ node: UnsafeMutableRawPointer, _ leaf: CollectionLeaf) -> Bool {
        let gone = place..<(place + removed)
        let values = leaf.values
        guard removed < leaf.count, SegmentEdit.isPlain(values) else { return false }
        guard let keys = leaf.keys else {
            SegmentEdit.remove(node + CollectionLeaf.segmentOffset, gone)
            CollectionLeaf.update(node)
            return true
        }
        guard SegmentEdit.isPlain(keys) else { return false }
        let old = values.base - leaf.node
        SegmentEdit.remove(node + old, gone)
        let size = values.size
        SegmentEdit.remove(node + CollectionLeaf.segmentOffset, gone)
        let new = CollectionLeaf.segmentOffset + aligned8(keys.size)
        if new < old {
            (node + new).copyMemory(from: node + old, byteCount: size)
            SegmentEdit.zero(node + (new + size), old - new)
        }
        CollectionLeaf.update(node)
        return true
    }

    private func set(_ node: UnsafeMutableRawPointer, _ leaf: CollectionLeaf) -> Bool {
        guard range.count == 1, removed == 1, let elements, leaf.keys == nil || keepsKeys else { return false }
        let values = leaf.values
        let offset = values.base - leaf.node
        let room = Format.pageSize - offset - values.size
        let value = elements.values.cellValue(range.lowerBound)
        guard SegmentEdit.set(node + offset, place, value, room: room) else { return false }
        CollectionLeaf.update(node)
        return true
    }
}
