/// Copies row groups segment by segment: segment nodes are copied as they are, and a new group node refers to the
/// copies.
struct SegmentCopy {
    private let layout: TableLayout
    private let reader: PageReader
    private let nodes: TransactionNodes
    private let met: MetNodes

    /// - Parameters:
    ///   - reader: of the source.
    ///   - nodes: of the copy.
    init(_ layout: TableLayout, reader: PageReader, nodes: TransactionNodes, met: MetNodes) {
        self.layout = layout
        self.reader = reader
        self.nodes = nodes
        self.met = met
    }

    /// Whether a group would be nearly the same if it were encoded anew: it is full, has no patches, inserted or
    /// deleted rows, no long values and exactly the layout's columns, and its nodes are well filled.
    func takes(_ group: Group) throws(StorageError) -> Bool {
        let limits = nodes.limits
        guard group.patched == 0, group.inserted == 0, group.deleted == 0, group.rows > 0,
            4 * group.rows >= 3 * limits.wideRows || 4 * group.nodes >= 3 * limits.segmentNodes,
            group.rows <= limits.wideRows, group.hasColumns(of: layout)
        else { return false }
        guard let needed = try pagesNeeded(group) else { return false }
        return (0..<group.nodes).reduce(0) { $0 + Int(group.reference($1).pages) } <= needed
    }

    /// Most pages that the segments take in a group that is built anew; nil if they have long values.
    private func pagesNeeded(_ group: Group) throws(StorageError) -> Int? {
        var pages = 0
        var shared = 0
        for column in layout.kinds.indices {
            let first = group.firstSegment(column)
            for number in first..<(first + group.segmentCount(column)) {
                let segment = try group.segment(number, reader)
                try segment.require(layout.kinds[column], reader)
                if layout.kinds[column] == .bytes, segment.flags & Segment.hasLong != 0 { return nil }
                if group.descriptor(number).node == Group.inThisNode { continue }
                let size = segment.size
                if size > GroupBuilder.sharedLimit {
                    pages += (SegmentNode.firstOffset(1) + size + Format.pageSize - 1) / Format.pageSize
                } else {
                    shared += aligned8(size)
                }
            }
        }
        return pages + (shared == 0 ? 0 : shared / (SegmentNode.capacity / 2) + 1)
    }

    /// - Parameter group: one that ``takes(_:)`` accepted.
    func copy(_ group: Group) throws(StorageError) -> (entry: BranchEntry, keys: ClosedRange<Int64>) {
        let first = try group.key(0, reader)
        let last = try group.key(Int32(truncatingIfNeeded: group.rows - 1), reader)
        guard first <= last else { throw reader.damage(at: group.base) }
        var image = GroupImage(group)
        for index in image.references.indices { image.references[index] = try copy(image.references[index]) }
        let made = try GroupBuilder.write(image, table: layout.table, nodes)
        return (BranchEntry(key: first, rows: image.rows, reference: made), first...last)
    }

    private func copy(_ reference: NodeReference) throws(StorageError) -> NodeReference {
        let old = try reader.node(reference, .segments)
        try met.meet(old)
        try met.count(bytes: reference.byteCount)
        let pages = Int(reference.pages)
        let made = try nodes.arena.make(.segments, pages: pages, table: layout.table, isFilled: true)
        (nodes.arena.pointer(made.arenaIndex) + Format.nodeHeaderSize).copyMemory(
            from: old + Format.nodeHeaderSize, byteCount: reference.byteCount - Format.nodeHeaderSize)
        return made
    }
}
