/// Changes one group: what a transaction does to rows that are there already.
///
/// Changes go beside the main rows, as patches, inserted rows and deleted slots, so that a commit costs this one node.
/// When they no longer fit, the segment with the most patch bytes is folded; when that is not enough, the group is
/// rebuilt. Every operation gives the old group up and returns what stands in its place.
///
/// Concurrency: confined to the write transaction.
struct GroupEditor {
    let layout: TableLayout
    let nodes: TransactionNodes
    /// The group's own reference and its key in the branch above.
    let entry: BranchEntry
    private let group: Group

    private var limits: StoreLimits { nodes.limits }

    init(_ entry: BranchEntry, _ layout: TableLayout, _ nodes: TransactionNodes) throws(StorageError) {
        self.entry = entry
        self.layout = layout
        self.nodes = nodes
        group = Group(try nodes.node(entry.reference, .group))
    }

    /// Small groups and groups of another schema are rebuilt with every change.
    private var isRebuilt: Bool { group.isSmall || !group.hasColumns(of: layout) }

    // MARK: Operations

    /// Sets one column of a row.
    func set(_ row: RowLocation, _ key: Int64, column: Int, _ cell: CellValue) throws(StorageError) -> [BranchEntry] {
        if isRebuilt {
            return try rebuild { rows in
                let place = rows.lowerBound(key)
                cell.set(rows.columns[column], place)
            }
        }
        var image = GroupImage(group)
        let heap = ByteHeap()
        if row.slot < 0 {
            let extra = try insertedRows()
            cell.set(extra.columns[column], Int(~row.slot))
            encodeInserted(extra, &image, heap)
        } else {
            try patch(&image, column, Int(row.slot), cell, heap)
        }
        return try finish(&image, heap)
    }

    /// Adds a row whose key is not there.
    func insert(_ key: Int64, created: UInt64, _ cells: [CellValue]) throws(StorageError) -> [BranchEntry] {
        if isRebuilt || group.inserted >= limits.insertedRows {
            return try rebuild { rows in Self.insert(into: rows, key, created, cells) }
        }
        var image = GroupImage(group)
        let heap = ByteHeap()
        let extra = try insertedRows()
        Self.insert(into: extra, key, created, cells)
        encodeInserted(extra, &image, heap)
        return try finish(&image, heap)
    }

    /// Takes rows out: main slots and places among inserted rows, each ascending.
    /// - Returns: what stands in the group's place, and whether it was rebuilt.
    func delete(slots: [Int], inserted: [Int]) throws(StorageError) -> (entries: [BranchEntry], isRebuilt: Bool) {
        let remaining = group.liveRows - slots.count - inserted.count
        if remaining == 0 {
            giveUp()
            return ([], true)
        }
        if isRebuilt || group.deleted + slots.count > limits.deletedSlots || remaining < group.rows / 4 {
            return (try rebuildWithout(slots, inserted), true)
        }
        var image = GroupImage(group)
        let heap = ByteHeap()
        image.deleted = Self.merged(image.deleted, slots)
        if !inserted.isEmpty {
            let extra = try insertedRows()
            for place in inserted.reversed() { extra.remove(at: place) }
            encodeInserted(extra, &image, heap)
        }
        return (try finish(&image, heap), false)
    }

    private static func merged(_ old: [UInt16], _ slots: [Int]) -> [UInt16] {
        (old + slots.map { UInt16($0) }).sorted()
    }

    private static func insert(into rows: RowSet, _ key: Int64, _ created: UInt64, _ cells: [CellValue]) {
        let place = rows.lowerBound(key)
        rows.columns[RowSet.keyColumn].insert(.integer(key), at: place)
        rows.columns[RowSet.createdColumn].insert(.integer(Int64(bitPattern: created)), at: place)
        for (index, cell) in cells.enumerated() {
            cell.insert(rows.columns[index + RowSet.firstUserColumn], place)
        }
    }

    // MARK: Inserted rows

    private func insertedRows() throws(StorageError) -> RowSet {
        let rows = RowSet(layout, capacity: group.inserted + 1)
        if group.inserted > 0 {
            for column in 0..<layout.kinds.count {
                try group.decodeInserted(column, layout, rows.columns[column])
            }
        }
        return rows
    }

    private func encodeInserted(_ rows: RowSet, _ image: inout GroupImage, _ heap: ByteHeap) {
        image.inserted = rows.count
        image.insertBlobs =
            rows.count == 0
            ? [] : rows.columns.map { heap.encode(SegmentPlan($0, 0..<$0.count), $0) }
    }

    // MARK: Patches

    private func patch(
        _ image: inout GroupImage, _ column: Int, _ slot: Int, _ cell: CellValue, _ heap: ByteHeap
    ) throws(StorageError) {
        let number = image.patches.firstIndex { $0.column == column }
        if let number, image.patches[number].slots.count >= limits.patches,
            !image.patches[number].slots.contains(UInt16(slot))
        {
            try fold(&image, only: column, heap)
            return try patch(&image, column, slot, cell, heap)
        }
        let values = ColumnBuffer(layout.kinds[column], capacity: limits.patches + 1)
        guard let number else {
            cell.insert(values, 0)
            image.patches.append(
                .init(column: column, slots: [UInt16(slot)], values: heap.encode(SegmentPlan(values, 0..<1), values)))
            return
        }
        Segment(image.patches[number].values.base).decode(into: values)
        let place = image.patches[number].slots.firstIndex { Int($0) >= slot } ?? image.patches[number].slots.count
        if place < image.patches[number].slots.count && Int(image.patches[number].slots[place]) == slot {
            cell.set(values, place)
        } else {
            image.patches[number].slots.insert(UInt16(slot), at: place)
            cell.insert(values, place)
        }
        image.patches[number].values = heap.encode(SegmentPlan(values, 0..<values.count), values)
    }

    /// Folds the segment with the most patch bytes into a new one.
    private func fold(_ image: inout GroupImage, only column: Int?, _ heap: ByteHeap) throws(StorageError) {
        var best = (bytes: -1, patch: 0, segment: 0)
        for (number, patch) in image.patches.enumerated() where column == nil || patch.column == column {
            let each = patch.values.count / max(patch.slots.count, 1) + 2
            let columnImage = image.columns[patch.column]
            for segment in columnImage.first..<(columnImage.first + columnImage.count) {
                let range = image.patchRange(number, segment)
                if range.count * each > best.bytes && !range.isEmpty {
                    best = (range.count * each, number, segment)
                }
            }
        }
        guard best.bytes >= 0 else { return }
        let patch = image.patches[best.patch]
        let range = image.patchRange(best.patch, best.segment)
        let descriptor = image.segments[best.segment]
        let buffer = ColumnBuffer(layout.kinds[patch.column], capacity: descriptor.rows)
        try mainSegment(image, best.segment).decode(into: buffer)
        let values = ColumnBuffer(buffer.kind, capacity: patch.slots.count)
        Segment(patch.values.base).decode(into: values)
        for place in range {
            buffer.copyValue(of: values, place, to: Int(patch.slots[place]) - descriptor.firstSlot)
        }
        var folder = SegmentReplacer(nodes: nodes, table: layout.table, heap: heap)
        try folder.replace(best.segment, of: patch.column, with: buffer, &image)
        if range.count == patch.slots.count {
            image.patches.remove(at: best.patch)
        } else {
            let left = ColumnBuffer(buffer.kind, capacity: patch.slots.count)
            left.append(values, 0..<range.lowerBound)
            left.append(values, range.upperBound..<values.count)
            image.patches[best.patch].slots.removeSubrange(range)
            image.patches[best.patch].values = heap.encode(SegmentPlan(left, 0..<left.count), left)
        }
    }

    private func mainSegment(_ image: GroupImage, _ number: Int) throws(StorageError) -> Segment {
        if let blob = image.blobs[number] { return Segment(blob.base) }
        let reference = image.references[image.segments[number].node]
        let node = try nodes.node(reference, .segments)
        guard image.segments[number].index < SegmentNode.count(node) else { throw Group.structure(reference) }
        return SegmentNode.segment(node, image.segments[number].index)
    }

    // MARK: Finishing

    private func finish(_ image: inout GroupImage, _ heap: ByteHeap) throws(StorageError) -> [BranchEntry] {
        while image.size > image.capacity && !image.patches.isEmpty { try fold(&image, only: nil, heap) }
        let reference = try GroupBuilder.write(image, table: layout.table, nodes)
        let made = BranchEntry(key: entry.key, rows: image.liveRows, reference: reference)
        nodes.drop(entry.reference)
        if image.size <= image.capacity { return [made] }
        return try GroupEditor(made, layout, nodes).rebuild { _ in }
    }

    /// Decodes everything, changes it, and builds new groups from it.
    func rebuild(_ change: (RowSet) -> Void) throws(StorageError) -> [BranchEntry] {
        let rows = RowSet(layout, capacity: group.liveRows + 1)
        try group.decode(into: rows, layout, nodes.reader)
        change(rows)
        return try build(rows)
    }

    private func build(_ rows: RowSet) throws(StorageError) -> [BranchEntry] {
        let builder = GroupBuilder(layout: layout, nodes: nodes)
        let n = rows.count
        // An even split leaves both halves room to grow.
        let cut = n > limits.wideRows ? n / 2 : group.isSmall && n > limits.smallRows ? n / 2 : n
        var made = try builder.build(rows, 0..<cut)
        if cut < n { made += try builder.build(rows, cut..<n) }
        if !made.isEmpty { made[0].key = min(made[0].key, entry.key) }
        giveUp()
        return made
    }

    private func rebuildWithout(_ slots: [Int], _ inserted: [Int]) throws(StorageError) -> [BranchEntry] {
        let doomed = try doomedKeys(slots, inserted)
        return try rebuild { rows in
            var bits = [UInt64](repeating: 0, count: rows.count / 64 + 1)
            for key in doomed {
                let row = rows.lowerBound(key)
                bits[row >> 6] |= 1 << UInt64(row & 63)
            }
            bits.withUnsafeBufferPointer { if let base = $0.baseAddress { rows.removeRows(marked: base) } }
        }
    }

    private func doomedKeys(_ slots: [Int], _ inserted: [Int]) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(slots.count + inserted.count)
        for slot in slots { keys.append(try group.key(Int32(slot), nodes.reader)) }
        for place in inserted { keys.append(try group.key(~Int32(place), nodes.reader)) }
        return keys
    }

    /// Drops the group and its segments; values in nodes of their own belong to the rows and stay.
    func giveUp() {
        for index in 0..<group.nodes { nodes.drop(group.reference(index)) }
        nodes.drop(entry.reference)
    }
}

extension GroupImage {
    /// The patches of one column that belong to one of its segments.
    func patchRange(_ patch: Int, _ segment: Int) -> Range<Int> {
        let slots = patches[patch].slots
        let first = segments[segment].firstSlot
        let end = first + segments[segment].rows
        let low = slots.firstIndex { Int($0) >= first } ?? slots.count
        let high = slots[low...].firstIndex { Int($0) >= end } ?? slots.count
        return low..<high
    }
}
