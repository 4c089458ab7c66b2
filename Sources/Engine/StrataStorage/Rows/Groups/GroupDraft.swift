/// A group's node in the arena, changed in place.
///
/// The node's parts are packed: directory, deleted slots, segments in this node, patches, inserted rows, each at a
/// multiple of 8 and without gaps. A part that changes its size moves the parts behind it. Only made for nodes that
/// ``isPacked(_:)`` accepts; nodes written by a draft or a ``GroupImage`` always are.
///
/// Concurrency: confined to the write transaction.
struct GroupDraft {
    let base: UnsafeMutableRawPointer
    /// Bytes of the node.
    let capacity: Int
    // The table's editor keeps both and outlives the draft, so that copying a draft needs no reference counting.
    unowned(unsafe) let layout: TableLayout
    unowned(unsafe) let nodes: TransactionNodes

    @inline(__always) var group: Group { Group(UnsafeRawPointer(base)) }
    @inline(__always) var room: Int { capacity - group.size }

    // MARK: Layout

    /// Whether the parts of a group are packed as drafts need it; parts of a node from a file may overlap.
    static func isPacked(_ group: Group) -> Bool {
        var end = group.blobsOffset
        guard group.size & 7 == 0, group.deletedOffset == end, hasOneSegmentEach(group) else { return false }
        end += aligned8(2 * group.deleted)
        for number in 0..<group.segments {
            let descriptor = group.descriptor(number)
            if descriptor.node != Group.inThisNode { continue }
            guard descriptor.offset == end else { return false }
            end += aligned8(Segment(group.base + end).size)
        }
        for index in 0..<group.patched {
            let patch = group.patch(index)
            guard patch.count > 0, patch.slotsOffset == end else { return false }
            end += aligned8(2 * patch.count)
            guard patch.segmentOffset == end else { return false }
            end += aligned8(patch.segment.size)
        }
        if group.inserted > 0 {
            for column in 0..<group.columns {
                let segment = group.insertedSegment(column)
                guard segment.base == group.base + end else { return false }
                end += aligned8(segment.size)
            }
        }
        return end == group.size
    }

    /// Whether the rows of a small group are in one segment per column, and no column is patched twice.
    private static func hasOneSegmentEach(_ group: Group) -> Bool {
        if group.isSmall {
            for column in 0..<group.columns where group.segmentCount(column) > 1 { return false }
        }
        for index in 1..<max(group.patched, 1) {
            for other in 0..<index where group.patch(other).column == group.patch(index).column { return false }
        }
        return true
    }

    /// Bytes of everything except changes.
    var directorySize: Int {
        let group = group
        var size = group.patchesOffset
        for number in 0..<group.segments {
            let descriptor = group.descriptor(number)
            if descriptor.node == Group.inThisNode { size += aligned8(Segment(base + descriptor.offset).size) }
        }
        return size
    }

    /// Moves everything from `tail` on by `delta` bytes, a multiple of 8. There must be space. The gap, or the bytes
    /// freed at the end, are zeroed.
    /// - Parameter keepsDeleted: the deleted slots, which may be empty, stay if they are at `tail`.
    func move(_ tail: Int, by delta: Int, keepsDeleted: Bool = false) {
        if delta == 0 { return }
        let group = group
        let size = group.size
        shift(group, tail: tail, by: delta, keepsDeleted: keepsDeleted)
        (base + (tail + delta)).copyMemory(from: base + tail, byteCount: size - tail)
        if delta > 0 {
            SegmentEdit.zero(base + tail, delta)
        } else {
            SegmentEdit.zero(base + (size + delta), -delta)
        }
        base.put32(Group.Field.size, UInt32(size + delta))
    }

    /// Adjusts the offsets of the parts that will be moved.
    private func shift(_ group: Group, tail: Int, by delta: Int, keepsDeleted: Bool) {
        let deleted = group.deletedOffset
        if deleted > tail || (deleted == tail && !keepsDeleted) {
            base.put16(Group.Field.deletedSlots, deleted + delta)
        }
        if group.size == tail { return }
        var at = group.segmentsOffset
        for _ in 0..<group.segments {
            if UnsafeRawPointer(base).u8(at + SegmentDescriptor.Field.node) == Group.inThisNode {
                let offset = 8 * base.u16(at + SegmentDescriptor.Field.offset)
                if offset >= tail { base.put16(at + SegmentDescriptor.Field.offset, (offset + delta) / 8) }
            }
            at += Group.segmentSize
        }
        for _ in 0..<group.patched {
            let slots = base.u16(at + Patch.Field.slots)
            let segment = base.u16(at + Patch.Field.segment)
            if slots >= tail { base.put16(at + Patch.Field.slots, slots + delta) }
            if segment >= tail { base.put16(at + Patch.Field.segment, segment + delta) }
            at += Group.patchSize
        }
        if group.inserted == 0 { return }
        for _ in 0..<group.columns {
            let offset = base.u16(at)
            if offset >= tail { base.put16(at, offset + delta) }
            at += 2
        }
    }

    // MARK: Segments in this node

    /// Replaces a segment in this node by one that was encoded elsewhere.
    /// - Returns: false, with the node unchanged, if there is no space.
    func replace(_ offset: Int, with blob: Blob) -> Bool {
        let old = aligned8(Segment(base + offset).size)
        let new = aligned8(blob.count)
        if new - old > room { return false }
        move(offset + old, by: new - old)
        (base + offset).copyMemory(from: blob.base, byteCount: blob.count)
        SegmentEdit.zero(base + (offset + blob.count), new - blob.count)
        return true
    }

    /// Decodes the segment at `offset`, calls `change`, and encodes it anew in the scratch heap.
    /// - Parameter frame: for integers.
    func encoded(
        _ offset: Int, kind: SegmentKind, frame: SegmentPlan.Frame, _ change: (ColumnBuffer) -> Void
    ) throws(StorageError) -> Blob {
        let segment = Segment(base + offset)
        try segment.require(kind, nodes.reader)
        let buffer = ColumnBuffer(kind, capacity: segment.rows + 1)
        segment.decode(into: buffer)
        change(buffer)
        return nodes.scratch.encode(SegmentPlan(buffer, 0..<buffer.count, frame), buffer)
    }

    /// Replaces one value of a segment in this node.
    /// - Returns: false, with the node unchanged, if there is no space.
    func set(
        _ offset: Int, index: Int, kind: SegmentKind, frame: SegmentPlan.Frame, to value: CellValue
    ) throws(StorageError) -> Bool {
        if Segment(base + offset).kindCode == kind.rawValue, SegmentEdit.set(base + offset, index, value) {
            return true
        }
        nodes.scratch.removeAll()
        let blob = try encoded(offset, kind: kind, frame: frame) { value.set($0, index) }
        return replace(offset, with: blob)
    }

    // MARK: Rows

    /// Inserts the row of `rows` at index `place` of a small group's main rows, or of the inserted rows.
    /// - Returns: false, with the node unchanged, if there is no space, or main keys would not be consecutive any more.
    func insert(_ place: Int, inMain: Bool, _ rows: RowSet, _ row: Int) throws(StorageError) -> Bool {
        let group = group
        let key = rows.key(row)
        if inMain && group.isDense && !isConsecutive(key, place) { return false }
        if !inMain && group.inserted == 0 { return insertFirst(rows, row) }
        let count = layout.kinds.count
        var blobs: [Blob?] = []
        var growth = 0
        nodes.scratch.removeAll()
        for column in 0..<count {
            guard let offset = rowSegment(column, inMain) else { continue }
            let segment = Segment(base + offset)
            let value = rows.columns[column].cellValue(row)
            let old = aligned8(segment.size)
            if segment.kindCode == layout.kinds[column].rawValue, SegmentEdit.takes(segment, value) {
                growth += aligned8(SegmentEdit.sizeWith(segment, value)) - old
            } else {
                let frame: SegmentPlan.Frame = inMain ? .tight : .roomy
                let blob = try encoded(offset, kind: layout.kinds[column], frame: frame) { value.insert($0, place) }
                if blobs.isEmpty { blobs = Array(repeating: nil, count: count) }
                blobs[column] = blob
                growth += aligned8(blob.count) - old
            }
        }
        if growth > room { return false }
        for column in 0..<count {
            guard let offset = rowSegment(column, inMain) else { continue }
            if !blobs.isEmpty, let blob = blobs[column] {
                _ = replace(offset, with: blob)
            } else {
                insert(rows.columns[column].cellValue(row), place, offset)
            }
            if inMain {
                let at = group.segmentsOffset + group.firstSegment(column) * Group.segmentSize
                base.put16(at + SegmentDescriptor.Field.rows, group.rows + 1)
            }
        }
        if inMain {
            if place == 0 { base.putI64(Group.Field.baseKey, key) }
            base.put16(Group.Field.rows, group.rows + 1)
        } else {
            base.put16(Group.Field.inserted, group.inserted + 1)
        }
        return true
    }

    private func isConsecutive(_ key: Int64, _ place: Int) -> Bool {
        let (end, overflow) = group.baseKey.addingReportingOverflow(Int64(group.rows))
        if place == group.rows { return !overflow && key == end }
        return place == 0 && key != .max && key + 1 == group.baseKey
    }

    /// Offset of a column's values; nil for keys that are implicit.
    @inline(__always)
    private func rowSegment(_ column: Int, _ inMain: Bool) -> Int? {
        let group = group
        if !inMain { return base.u16(group.insertsOffset + 2 * column) }
        return group.segmentCount(column) == 0 ? nil : group.descriptor(group.firstSegment(column)).offset
    }

    /// Inserts a value that the segment takes. There must be space.
    private func insert(_ value: CellValue, _ index: Int, _ offset: Int) {
        let segment = Segment(base + offset)
        let old = aligned8(segment.size)
        let new = aligned8(SegmentEdit.sizeWith(segment, value))
        move(offset + old, by: new - old)
        SegmentEdit.insert(base + offset, index, value)
    }

    private func insertFirst(_ rows: RowSet, _ row: Int) -> Bool { writeInserted(rows, row..<(row + 1), keeping: 0) }

    /// Replaces the inserted rows.
    /// - Parameter keeping: bytes that must stay free.
    /// - Returns: false, with the node unchanged, if there is no space.
    func setInserted(_ rows: RowSet, keeping: Int) -> Bool { writeInserted(rows, 0..<rows.count, keeping: keeping) }

    private func writeInserted(_ rows: RowSet, _ range: Range<Int>, keeping: Int) -> Bool {
        nodes.scratch.removeAll()
        let blobs =
            range.isEmpty
            ? [] : rows.columns.map { nodes.scratch.encode(SegmentPlan($0, range, .roomy), $0) }
        let group = group
        let insertsOffset = group.insertsOffset
        let table = aligned8(2 * blobs.count)
        let oldTable = group.inserted > 0 ? aligned8(2 * group.columns) : 0
        let first = group.inserted > 0 ? base.u16(insertsOffset) : group.size
        let old = oldTable + group.size - first
        if blobs.reduce(table, { $0 + aligned8($1.count) }) - old > room - keeping { return false }
        SegmentEdit.zero(base + first, group.size - first)
        base.put32(Group.Field.size, UInt32(first))
        base.put16(Group.Field.inserted, 0)
        SegmentEdit.zero(base + insertsOffset, oldTable)
        move(insertsOffset + oldTable, by: table - oldTable)
        base.put16(Group.Field.inserted, range.count)
        var end = group.size
        for (column, blob) in blobs.enumerated() {
            base.put16(insertsOffset + 2 * column, end)
            (base + end).copyMemory(from: blob.base, byteCount: blob.count)
            end += aligned8(blob.count)
        }
        base.put32(Group.Field.size, UInt32(end))
        return true
    }

    // MARK: Deleted slots

    /// Adds ascending slots that are not deleted yet.
    /// - Returns: false, with the node unchanged, if there is no space.
    func delete(_ slots: [Int]) -> Bool {
        let group = group
        let old = group.deleted
        let offset = group.deletedOffset
        let grown = aligned8(2 * (old + slots.count)) - aligned8(2 * old)
        if grown > room { return false }
        move(offset + aligned8(2 * old), by: grown, keepsDeleted: true)
        // Merged from the end, so that no slot is overwritten before it was read.
        var read = old
        var write = old + slots.count
        for slot in slots.reversed() {
            while read > 0, base.u16(offset + 2 * (read - 1)) > slot {
                read -= 1
                write -= 1
                base.put16(offset + 2 * write, base.u16(offset + 2 * read))
            }
            write -= 1
            base.put16(offset + 2 * write, slot)
        }
        base.put16(Group.Field.deleted, old + slots.count)
        return true
    }
}
