/// Writes some columns of a wide group anew. The segments of other columns stay.
struct ColumnRewriter {
    private let group: Group
    private let entry: BranchEntry
    private let layout: TableLayout
    private let nodes: TransactionNodes
    private let old: GroupImage

    init(_ group: Group, entry: BranchEntry, layout: TableLayout, nodes: TransactionNodes) {
        self.group = group
        self.entry = entry
        self.layout = layout
        self.nodes = nodes
        old = GroupImage(group)
    }

    /// - Returns: the new group; nil, with the group unchanged, if it must be rebuilt.
    func rewritten(_ changes: PendingChanges) throws(StorageError) -> BranchEntry? {
        guard !group.isSmall, group.inserted == 0 else { return nil }
        // The new group keeps parts of the old one, which later changes edit in place. In a forged file they may
        // overlap.
        guard entry.reference.isInArena || GroupDraft.isPacked(group) else { return nil }
        let changed = Set(changes.changed)
        var image = GroupImage()
        image.rows = old.rows
        image.baseKey = old.baseKey
        image.isDense = old.isDense
        image.deleted = old.deleted
        let kept = try keptNodes(without: changed, &image)
        let heap = ByteHeap()
        let builder = GroupBuilder(layout: layout, nodes: nodes)
        var packer = SegmentPacker(nodes: nodes, table: layout.table)
        for column in layout.kinds.indices {
            let first = image.segments.count
            let position = group.position(of: layout.ids[column], near: column)
            if let position, !changed.contains(column) {
                try keep(position, as: column, kept, &image)
            } else {
                let values = ColumnBuffer(layout.kinds[column], capacity: max(group.rows, 1))
                try group.decodeMain(column, layout: layout, into: values, from: nodes.reader)
                changes.apply(column, to: values)
                for plan in GroupBuilder.plan(values, 0..<values.count) {
                    try builder.place(
                        plan, values, firstSlot: plan.rows.lowerBound, into: &image, packer: &packer, heap: heap)
                }
            }
            image.columns.append(.init(id: layout.ids[column], first: first, count: image.segments.count - first))
        }
        try packer.finish(&image)
        let most = min(max(nodes.limits.segmentNodes, layout.kinds.count) + Self.spareNodes, Group.inThisNode - 1)
        let released = old.references.filter { !image.references.contains($0) }
        if image.references.isEmpty || image.references.count > most || image.size > image.capacity {
            for reference in image.references where !old.references.contains(reference) { nodes.drop(reference) }
            return nil
        }
        let reference = try GroupBuilder.write(image, table: layout.table, nodes)
        for reference in released { nodes.drop(reference) }
        nodes.drop(entry.reference)
        return BranchEntry(key: entry.key, rows: image.liveRows, reference: reference)
    }

    /// How many more nodes of segments a rewritten group may have than a newly built one.
    private static let spareNodes = 8

    /// Where the segments of an old node are in the new group.
    private struct KeptNode {
        /// Its index among the references of the new group.
        var node: Int
        /// New index of each segment, by its index in the old node.
        var places: [Int: Int]
    }

    /// Keeps the nodes of unchanged columns: as they are, or without the segments of changed ones.
    private func keptNodes(
        without changed: Set<Int>, _ image: inout GroupImage
    ) throws(StorageError) -> [Int: KeptNode] {
        let gone = Set(
            changed.compactMap { group.position(of: layout.ids[$0], near: $0) }
                + old.columns.indices.filter { !layout.ids.contains(old.columns[$0].id) })
        var staying: [Int: [Int]] = [:]
        var all: [Int: Int] = [:]
        for (position, column) in old.columns.enumerated() {
            for number in column.first..<(column.first + column.count) {
                let segment = old.segments[number]
                if segment.node == Group.inThisNode { continue }
                all[segment.node, default: 0] += 1
                if !gone.contains(position) { staying[segment.node, default: []].append(segment.index) }
            }
        }
        var kept: [Int: KeptNode] = [:]
        for (node, indices) in staying.sorted(by: { $0.key < $1.key }) {
            let places = Set(indices).sorted()
            var reference = old.references[node]
            if indices.count < all[node, default: 0] {
                let packer = SegmentPacker(nodes: nodes, table: layout.table)
                reference = try packer.makeShared(reference, keeping: places)
                kept[node] = KeptNode(
                    node: image.references.count,
                    places: Dictionary(uniqueKeysWithValues: places.enumerated().map { ($1, $0) }))
            } else {
                kept[node] = KeptNode(
                    node: image.references.count, places: Dictionary(uniqueKeysWithValues: places.map { ($0, $0) }))
            }
            image.references.append(reference)
        }
        return kept
    }

    private func keep(
        _ position: Int, as column: Int, _ kept: [Int: KeptNode], _ image: inout GroupImage
    ) throws(StorageError) {
        let known = old.columns[position]
        let kind = layout.kinds[column].rawValue
        for number in known.first..<(known.first + known.count) {
            var segment = old.segments[number]
            if segment.node != Group.inThisNode, let place = kept[segment.node] {
                segment.index = place.places[segment.index] ?? segment.index
                segment.node = place.node
            }
            if let blob = old.blobs[number], Segment(blob.base).kindCode != kind {
                throw nodes.reader.damage(at: group.base)
            }
            image.segments.append(segment)
            image.blobs.append(old.blobs[number])
        }
        for var patch in old.patches where patch.column == position {
            if Segment(patch.values.base).kindCode != kind { throw nodes.reader.damage(at: group.base) }
            patch.column = column
            image.patches.append(patch)
        }
    }
}
