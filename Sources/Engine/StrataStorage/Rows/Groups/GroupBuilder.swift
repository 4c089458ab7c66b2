/// Builds groups from decoded rows.
///
/// Few rows become small groups, one node each; many become wide ones, with segments in nodes of their own. A segment
/// smaller than half a page shares one; a segment of a few bytes is put in the group.
struct GroupBuilder {
    let layout: TableLayout
    let nodes: TransactionNodes

    /// Segments up to this size share a node.
    static let sharedLimit = SegmentNode.capacity / 2
    private static let embedLimit = 64

    private var limits: StoreLimits { nodes.limits }

    /// Builds groups for all rows of the range.
    /// - Parameter wide: even few rows become a wide group.
    func build(
        _ rows: RowSet, _ range: Range<Int>, wide: Bool = false
    ) throws(StorageError) -> [BranchEntry] {
        var entries: [BranchEntry] = []
        var next = range.lowerBound
        while next < range.upperBound {
            let left = range.upperBound - next
            let made =
                !wide && left < 4 * limits.smallRows
                ? try buildSmall(rows, next, min(left, limits.smallRows))
                : try buildWide(rows, next, left)
            entries.append(made)
            next += made.rows
        }
        return entries
    }

    // MARK: Small groups

    /// Builds one node with as many rows as fit; a wide group if not even one fits.
    private func buildSmall(_ rows: RowSet, _ start: Int, _ most: Int) throws(StorageError) -> BranchEntry {
        var n = most
        while n >= 1 {
            var heap = ByteHeap()
            let image = smallImage(rows, start..<(start + n), &heap)
            let size = image.size
            if size <= Format.pageSize || (n == 1 && size <= Group.maxPages * Format.pageSize) {
                return try finish(image, rows, start..<(start + n))
            }
            if n == 1 { break }
            n = max(1, min(n - 1, n * Format.pageSize / size))
        }
        return try buildWide(rows, start, 1)
    }

    private func smallImage(_ rows: RowSet, _ range: Range<Int>, _ heap: inout ByteHeap) -> GroupImage {
        var image = start(rows, range)
        for column in 0..<layout.kinds.count {
            if column == RowSet.keyColumn && image.isDense {
                image.columns.append(.init(id: layout.ids[column], first: 0, count: 0))
                continue
            }
            image.columns.append(.init(id: layout.ids[column], first: image.segments.count, count: 1))
            let plan = SegmentPlan(rows.columns[column], range)
            embed(plan, rows.columns[column], firstSlot: 0, into: &image, heap: heap)
        }
        return image
    }

    private func start(_ rows: RowSet, _ range: Range<Int>) -> GroupImage {
        var image = GroupImage()
        image.rows = range.count
        image.isDense = rows.isDense(range)
        image.baseKey = range.isEmpty ? 0 : rows.key(range.lowerBound)
        return image
    }

    private func embed(
        _ plan: SegmentPlan, _ column: ColumnBuffer, firstSlot: Int, into image: inout GroupImage, heap: ByteHeap
    ) {
        image.blobs.append(heap.encode(plan, column))
        image.segments.append(
            SegmentDescriptor(
                firstSlot: firstSlot, rows: plan.rows.count, node: Group.inThisNode, index: 0, offset: 0))
    }

    // MARK: Wide groups

    private func buildWide(_ rows: RowSet, _ start: Int, _ left: Int) throws(StorageError) -> BranchEntry {
        var n = min(left, limits.wideRows, Group.maxRows)
        while true {
            let range = start..<(start + n)
            let plans = planColumns(rows, range)
            let own = plans.reduce(0) { $0 + $1.count { $0.size > Self.sharedLimit } }
            let most = max(limits.segmentNodes, layout.kinds.count)
            if n == 1 || (own <= most && own + Self.sharedNodes(plans) < Group.inThisNode) {
                return try writeWide(rows, range, plans)
            }
            n = max(1, min(n - 1, n * limits.segmentNodes / max(own, limits.segmentNodes + 1)))
        }
    }

    /// Upper bound of nodes with several segments: all but the last are at least half full.
    private static func sharedNodes(_ plans: [[SegmentPlan]]) -> Int {
        let bytes = plans.joined().reduce(0) { $1.size > sharedLimit || $1.size <= embedLimit ? $0 : $0 + $1.size + 8 }
        return bytes == 0 ? 0 : bytes / (SegmentNode.capacity / 2) + 1
    }

    /// Cuts the rows into segments, for each column.
    private func planColumns(_ rows: RowSet, _ range: Range<Int>) -> [[SegmentPlan]] {
        let isDense = rows.isDense(range)
        return (0..<layout.kinds.count).map { column in
            column == RowSet.keyColumn && isDense ? [] : Self.plan(rows.columns[column], range)
        }
    }

    /// Cuts rows of a column into segments of at most a page.
    static func plan(_ column: ColumnBuffer, _ range: Range<Int>) -> [SegmentPlan] {
        var plans: [SegmentPlan] = []
        var next = range.lowerBound
        while next < range.upperBound {
            let (whole, most) = SegmentPlan.fitting(
                column, from: next, to: range.upperBound, capacity: SegmentNode.capacity)
            var n = most
            var plan = whole ?? SegmentPlan(column, next..<(next + n))
            while plan.size > SegmentNode.capacity && n > 1 {
                n = max(1, n * 3 / 4)
                plan = SegmentPlan(column, next..<(next + n))
            }
            plans.append(plan)
            next += n
        }
        return plans
    }

    private func writeWide(
        _ rows: RowSet, _ range: Range<Int>, _ plans: [[SegmentPlan]]
    ) throws(StorageError) -> BranchEntry {
        var image = start(rows, range)
        let heap = ByteHeap()
        var packer = SegmentPacker(nodes: nodes, table: layout.table)
        for column in 0..<layout.kinds.count {
            image.columns.append(
                .init(id: layout.ids[column], first: image.segments.count, count: plans[column].count))
            for plan in plans[column] {
                let firstSlot = plan.rows.lowerBound - range.lowerBound
                try place(plan, rows.columns[column], firstSlot: firstSlot, into: &image, packer: &packer, heap: heap)
            }
        }
        try packer.finish(&image)
        if nodes.arena.byteCount > limits.memoryBudget { try nodes.spill(&image.references) }
        return try finish(image, rows, range)
    }

    /// Places a segment by its size: in the group, in a node of its own, or in a shared one.
    func place(
        _ plan: SegmentPlan, _ buffer: ColumnBuffer, firstSlot: Int, into image: inout GroupImage,
        packer: inout SegmentPacker, heap: ByteHeap
    ) throws(StorageError) {
        if plan.size <= Self.embedLimit { return embed(plan, buffer, firstSlot: firstSlot, into: &image, heap: heap) }
        image.blobs.append(nil)
        image.segments.append(
            SegmentDescriptor(firstSlot: firstSlot, rows: plan.rows.count, node: 0, index: 0, offset: 0))
        let number = image.segments.count - 1
        if plan.size > Self.sharedLimit {
            image.segments[number].node = image.references.count
            image.references.append(try packer.makeSingle(plan, buffer))
        } else {
            try packer.add(number, plan: plan, column: buffer, to: &image)
        }
    }

    private func finish(_ image: GroupImage, _ rows: RowSet, _ range: Range<Int>) throws(StorageError) -> BranchEntry {
        let reference = try GroupBuilder.write(image, table: layout.table, nodes)
        return BranchEntry(key: rows.key(range.lowerBound), rows: range.count, reference: reference)
    }

    /// Writes an image as a new node.
    static func write(
        _ image: GroupImage, table: UInt32, _ nodes: TransactionNodes
    ) throws(StorageError) -> NodeReference {
        let pages = (image.size + Format.pageSize - 1) / Format.pageSize
        guard pages <= Group.maxPages, image.references.count < Group.inThisNode else { throw .limit(.columns) }
        let (reference, node) = try nodes.makeNode(.group, pages: pages, table: table)
        image.write(to: node)
        return reference
    }
}

/// Packs small segments into shared nodes.
struct SegmentPacker {
    let nodes: TransactionNodes
    let table: UInt32
    private var waiting: [(number: Int, plan: SegmentPlan, column: ColumnBuffer)] = []
    private var bytes = 0

    init(nodes: TransactionNodes, table: UInt32) {
        self.nodes = nodes
        self.table = table
    }

    /// A node with one segment.
    func makeSingle(_ plan: SegmentPlan, _ column: ColumnBuffer) throws(StorageError) -> NodeReference {
        let pages = (SegmentNode.firstOffset(1) + plan.size + Format.pageSize - 1) / Format.pageSize
        let (reference, node) = try nodes.makeNode(.segments, pages: pages, table: table)
        node.put16(SegmentNode.directoryOffset, 1)
        let offset = SegmentNode.firstOffset(1)
        node.put16(SegmentNode.directoryOffset + 2, offset / 8)
        plan.write(column, to: node + offset)
        return reference
    }

    /// A node with some segments of another node, in their order.
    func makeShared(_ reference: NodeReference, keeping places: [Int]) throws(StorageError) -> NodeReference {
        let old = try nodes.node(reference, .segments)
        let (made, node) = try nodes.makeNode(.segments, pages: Int(reference.pages), table: table)
        node.put16(SegmentNode.directoryOffset, places.count)
        var offset = SegmentNode.firstOffset(places.count)
        for (index, place) in places.enumerated() {
            guard place < SegmentNode.count(old) else { throw .structure(reference) }
            let segment = SegmentNode.segment(old, place)
            let available = reference.byteCount - (segment.base - old)
            guard let size = Segment.validatedSize(segment.base, available: available),
                offset + size <= reference.byteCount
            else { throw .structure(reference) }
            node.put16(SegmentNode.directoryOffset + 2 + 2 * index, offset / 8)
            (node + offset).copyMemory(from: segment.base, byteCount: size)
            offset += aligned8(size)
        }
        return made
    }

    mutating func add(
        _ number: Int, plan: SegmentPlan, column: ColumnBuffer, to image: inout GroupImage
    ) throws(StorageError) {
        let size = aligned8(plan.size)
        let first = SegmentNode.firstOffset(waiting.count + 1)
        if first + bytes + size > Format.pageSize || waiting.count == SegmentNode.maxSegments {
            try finish(&image)
        }
        waiting.append((number, plan, column))
        bytes += size
    }

    /// Writes the waiting segments.
    mutating func finish(_ image: inout GroupImage) throws(StorageError) {
        if waiting.isEmpty { return }
        let (reference, node) = try nodes.makeNode(.segments, pages: 1, table: table)
        node.put16(SegmentNode.directoryOffset, waiting.count)
        var offset = SegmentNode.firstOffset(waiting.count)
        for (index, entry) in waiting.enumerated() {
            node.put16(SegmentNode.directoryOffset + 2 + 2 * index, offset / 8)
            entry.plan.write(entry.column, to: node + offset)
            offset += aligned8(entry.plan.size)
            image.segments[entry.number].node = image.references.count
            image.segments[entry.number].index = index
        }
        image.references.append(reference)
        waiting.removeAll(keepingCapacity: true)
        bytes = 0
    }
}

extension ByteHeap {
    /// Encodes a segment into this heap.
    func encode(_ plan: SegmentPlan, _ column: ColumnBuffer) -> Blob {
        let target = reserve(aligned8(plan.size))
        plan.write(column, to: target)
        return Blob(base: UnsafeRawPointer(target), count: plan.size)
    }
}
