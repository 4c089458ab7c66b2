/// Borrowed bytes that will be copied into a group.
struct Blob {
    var base: UnsafeRawPointer
    var count: Int
}

/// A decomposed group, to be changed and written as a new node.
///
/// Unchanged parts are borrowed from the old node, which must live until ``write(to:)`` returns.
struct GroupImage {
    /// A column's entry of the directory: its id, and its range in `segments`.
    struct Column {
        var id: UInt16
        var first: Int
        var count: Int
    }

    /// The patches of one column, which is named by its index in `columns`.
    struct PatchImage {
        var column: Int
        var slots: [UInt16]
        var values: Blob
    }

    var rows = 0
    var baseKey: Int64 = 0
    var isDense = false
    var references: [NodeReference] = []
    var columns: [Column] = []
    var segments: [SegmentDescriptor] = []
    /// The bytes of each segment that is in the group's own node; nil for a segment in another node.
    var blobs: [Blob?] = []
    var patches: [PatchImage] = []
    var deleted: [UInt16] = []
    var inserted = 0
    var insertBlobs: [Blob] = []

    init() {}

    init(_ group: Group) {
        rows = group.rows
        baseKey = group.baseKey
        isDense = group.isDense
        references = (0..<group.nodes).map(group.reference)
        columns = (0..<group.columns).map {
            Column(
                id: UInt16(group.columnID($0)), first: group.firstSegment($0), count: group.segmentCount($0))
        }
        segments = (0..<group.segments).map(group.descriptor)
        blobs = segments.map { $0.node == Group.inThisNode ? Self.blob(group.base + $0.offset, group) : nil }
        patches = (0..<group.patched).map { index in
            let patch = group.patch(index)
            return PatchImage(
                column: patch.column, slots: (0..<patch.count).map { UInt16(patch.slot($0)) },
                values: Self.blob(group.base + patch.segmentOffset, group))
        }
        deleted = (0..<group.deleted).map { UInt16(group.deletedSlot($0)) }
        inserted = group.inserted
        if inserted > 0 {
            insertBlobs = (0..<group.columns).map { Self.blob(group.insertedSegment($0).base, group) }
        }
    }

    private static func blob(_ base: UnsafeRawPointer, _ group: Group) -> Blob {
        let available = group.size - (base - group.base)
        return Blob(base: base, count: Segment.validatedSize(base, available: available) ?? 0)
    }

    /// Bytes of everything except changes.
    var directorySize: Int {
        var size =
            Group.referencesOffset + references.count * NodeReference.size
            + columns.count * Group.columnSize + segments.count * Group.segmentSize
        for case let blob? in blobs { size += aligned8(blob.count) }
        return size
    }

    /// Bytes of the whole node.
    var size: Int {
        var size = directorySize + patches.count * Group.patchSize
        if inserted > 0 { size += 2 * columns.count }
        size = aligned8(size) + aligned8(2 * deleted.count)
        for patch in patches { size += aligned8(2 * patch.slots.count) + aligned8(patch.values.count) }
        for blob in insertBlobs { size += aligned8(blob.count) }
        return size
    }

    /// Bytes that the node may take before changes are folded.
    var capacity: Int { Self.pages(forDirectory: directorySize) * Format.pageSize }

    /// Pages of a changed group with a directory of this size: at least 1 500 bytes are left for changes.
    static func pages(forDirectory size: Int) -> Int {
        min((size + 1500 + Format.pageSize - 1) / Format.pageSize, Group.maxPages)
    }

    var liveRows: Int { rows - deleted.count + inserted }

    /// Writes the node's content; `target` is zeroed except for its header.
    func write(to target: UnsafeMutableRawPointer) {
        target.put16(Group.Field.rows, rows)
        target.put16(Group.Field.inserted, inserted)
        target.put16(Group.Field.deleted, deleted.count)
        target.put16(Group.Field.columns, columns.count)
        target.putI64(Group.Field.baseKey, baseKey)
        target.put16(Group.Field.nodes, references.count)
        target.put16(Group.Field.segments, segments.count)
        target.put16(Group.Field.patched, patches.count)
        target.put16(Group.Field.flags, isDense ? Group.isDenseFlag : 0)
        var offset = Group.referencesOffset
        for reference in references {
            reference.store(target, offset)
            offset += NodeReference.size
        }
        for column in columns {
            target.put16(offset + Group.ColumnField.id, Int(column.id))
            target.put16(offset + Group.ColumnField.firstSegment, column.first)
            target.put16(offset + Group.ColumnField.segments, column.count)
            offset += Group.columnSize
        }
        let segmentsOffset = offset
        let patchesOffset = segmentsOffset + segments.count * Group.segmentSize
        let insertsOffset = patchesOffset + patches.count * Group.patchSize
        var end = aligned8(insertsOffset + (inserted > 0 ? 2 * columns.count : 0))
        func put(_ blob: Blob) -> Int {
            let start = end
            (target + start).copyMemory(from: blob.base, byteCount: blob.count)
            end += aligned8(blob.count)
            return start
        }
        target.put16(Group.Field.deletedSlots, end)
        Self.putSlots(deleted, target, &end)
        for (index, segment) in segments.enumerated() {
            var descriptor = segment
            if let blob = blobs[index] { descriptor.offset = put(blob) }
            descriptor.store(target + (segmentsOffset + index * Group.segmentSize))
        }
        for (index, patch) in patches.enumerated() {
            let at = patchesOffset + index * Group.patchSize
            target.put16(at + Patch.Field.column, patch.column)
            target.put16(at + Patch.Field.count, patch.slots.count)
            target.put16(at + Patch.Field.slots, end)
            Self.putSlots(patch.slots, target, &end)
            for slot in patch.slots { Self.mark(target, Int(slot)) }
            target.put16(at + Patch.Field.segment, put(patch.values))
        }
        for (index, blob) in insertBlobs.enumerated() { target.put16(insertsOffset + 2 * index, put(blob)) }
        target.put32(Group.Field.size, UInt32(end))
    }

    private static func putSlots(_ slots: [UInt16], _ target: UnsafeMutableRawPointer, _ end: inout Int) {
        for (index, slot) in slots.enumerated() { target.put16(end + 2 * index, Int(slot)) }
        end += aligned8(2 * slots.count)
    }

    private static func mark(_ target: UnsafeMutableRawPointer, _ slot: Int) {
        let bit = slot >> 3
        let at = Group.filterOffset + 8 * (bit >> 6)
        target.put64(at, target.u64(at) | 1 << UInt64(bit & 63))
    }
}

// MARK: Patches

extension GroupImage {
    /// Adds a patch, or changes that of the slot.
    mutating func patch(_ column: Int, slot: Int, to value: CellValue, kind: SegmentKind, heap: ByteHeap) {
        let values = ColumnBuffer(kind)
        guard let number = patches.firstIndex(where: { $0.column == column }) else {
            value.insert(values, 0)
            patches.append(
                PatchImage(
                    column: column, slots: [UInt16(slot)], values: heap.encode(SegmentPlan(values, 0..<1), values)))
            return
        }
        Segment(patches[number].values.base).decode(into: values)
        let place = patches[number].slots.firstIndex { Int($0) >= slot } ?? patches[number].slots.count
        if place < patches[number].slots.count && Int(patches[number].slots[place]) == slot {
            value.set(values, place)
        } else {
            patches[number].slots.insert(UInt16(slot), at: place)
            value.insert(values, place)
        }
        patches[number].values = heap.encode(SegmentPlan(values, 0..<values.count), values)
    }

    func hasPatches(over limit: Int) -> Bool { patches.contains { $0.slots.count > limit } }

    /// The patches of one column that belong to one of its segments.
    func patchRange(_ patch: Int, _ segment: Int) -> Range<Int> {
        let slots = patches[patch].slots
        let first = segments[segment].firstSlot
        let end = first + segments[segment].rows
        let low = slots.firstIndex { Int($0) >= first } ?? slots.count
        let high = slots[low...].firstIndex { Int($0) >= end } ?? slots.count
        return low..<high
    }

    /// Removes patches that were folded into a segment.
    mutating func removePatches(_ number: Int, in range: Range<Int>, kind: SegmentKind, heap: ByteHeap) {
        if range.count == patches[number].slots.count {
            patches.remove(at: number)
            return
        }
        let values = ColumnBuffer(kind)
        Segment(patches[number].values.base).decode(into: values)
        for place in range.reversed() { values.remove(at: place) }
        patches[number].slots.removeSubrange(range)
        patches[number].values = heap.encode(SegmentPlan(values, 0..<values.count), values)
    }
}
