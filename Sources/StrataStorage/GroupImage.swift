/// Bytes that stand somewhere, on their way into a group.
struct Blob {
    var base: UnsafeRawPointer
    var count: Int
}

/// A group taken apart, to be changed and written as a new node.
///
/// Unchanged parts are borrowed from the old node, which must live until ``write(table:to:)`` returns.
struct GroupImage {
    struct Column {
        var id: UInt16
        var first: Int
        var count: Int
    }

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
    /// For each segment in this node, its bytes.
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

    /// Bytes of everything that is not changes.
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

    /// Bytes that the node may take before changes are folded in: at least 1 500 are left to them.
    var capacity: Int {
        let pages = (directorySize + 1500 + Format.pageSize - 1) / Format.pageSize
        return min(pages, Group.maxPages) * Format.pageSize
    }

    var liveRows: Int { rows - deleted.count + inserted }

    /// Writes the node's content; `target` is zeroed but for its header.
    func write(to target: UnsafeMutableRawPointer) {
        target.put16(24, rows)
        target.put16(26, inserted)
        target.put16(28, deleted.count)
        target.put16(30, columns.count)
        target.putI64(32, baseKey)
        target.put16(40, references.count)
        target.put16(42, segments.count)
        target.put16(44, patches.count)
        target.put16(46, isDense ? Group.isDenseFlag : 0)
        var offset = Group.referencesOffset
        for reference in references {
            reference.store(target, offset)
            offset += NodeReference.size
        }
        for column in columns {
            target.put16(offset, Int(column.id))
            target.put16(offset + 2, column.first)
            target.put16(offset + 4, column.count)
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
        target.put16(52, end)
        Self.putSlots(deleted, target, &end)
        for (index, segment) in segments.enumerated() {
            var descriptor = segment
            if let blob = blobs[index] { descriptor.offset = put(blob) }
            descriptor.store(target + (segmentsOffset + index * Group.segmentSize))
        }
        for (index, patch) in patches.enumerated() {
            let at = patchesOffset + index * Group.patchSize
            target.put16(at, patch.column)
            target.put16(at + 2, patch.slots.count)
            target.put16(at + 4, end)
            Self.putSlots(patch.slots, target, &end)
            for slot in patch.slots { Self.mark(target, Int(slot)) }
            target.put16(at + 6, put(patch.values))
        }
        for (index, blob) in insertBlobs.enumerated() { target.put16(insertsOffset + 2 * index, put(blob)) }
        target.put32(48, UInt32(end))
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
