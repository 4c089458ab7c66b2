/// Checks that a node is a group that can be read without further checks, except for segments in other nodes.
struct GroupShape {
    private let group: Group
    private let bytes: Int
    /// Whether a transaction is changing the group, so that its segments may be in the arena.
    private let isOpen: Bool

    init(_ node: UnsafeRawPointer, bytes: Int, isOpen: Bool = false) {
        group = Group(node)
        self.bytes = bytes
        self.isOpen = isOpen
    }

    var isRight: Bool {
        guard bytes >= Group.referencesOffset, group.size <= bytes, group.rows <= Group.maxRows,
            group.nodes < Group.inThisNode, group.columns >= 2, group.deleted <= group.rows,
            group.blobsOffset <= group.size
        else { return false }
        for index in 0..<group.nodes {
            let reference = group.reference(index)
            if !reference.isOnDisk(.segments) && !(isOpen && reference.isInArena) { return false }
        }
        return slotsAscend(group.deletedOffset, group.deleted) && columnsFollow() && patchesFit() && insertsFit()
    }

    /// Whether slots lie behind the directory, ascend, and have rows.
    private func slotsAscend(_ offset: Int, _ count: Int) -> Bool {
        guard offset >= group.blobsOffset || count == 0, offset + 2 * count <= group.size else { return false }
        var last = -1
        for index in 0..<count {
            let slot = group.base.u16(offset + 2 * index)
            if slot <= last || slot >= group.rows { return false }
            last = slot
        }
        return true
    }

    /// Whether the columns' segments are numbered consecutively.
    private func columnsFollow() -> Bool {
        var next = 0
        for column in 0..<group.columns {
            let first = group.firstSegment(column)
            let n = group.segmentCount(column)
            if n == 0 {
                if group.rows > 0 && !(column == RowSet.keyColumn && group.isDense) { return false }
                continue
            }
            guard first == next, first + n <= group.segments,
                isWholeChain(first, n, system: column < RowSet.firstUserColumn)
            else { return false }
            next += n
        }
        return next == group.segments && group.columnID(RowSet.keyColumn) == Int(TableLayout.keyID)
            && group.columnID(RowSet.createdColumn) == Int(TableLayout.createdID)
            && (!group.isDense || group.rows == 0 || group.baseKey <= Int64.max - Int64(group.rows - 1))
    }

    /// Whether the segments of a column adjoin and cover all rows.
    /// - Parameter system: of keys or creation versions: integers, never null.
    private func isWholeChain(_ first: Int, _ n: Int, system: Bool) -> Bool {
        var next = 0
        for index in first..<(first + n) {
            let descriptor = group.descriptor(index)
            guard descriptor.firstSlot == next else { return false }
            next += descriptor.rows
            if descriptor.node == Group.inThisNode {
                guard isSegment(descriptor.offset, rows: descriptor.rows, system: system) else { return false }
            } else if descriptor.node >= group.nodes || descriptor.index >= SegmentNode.maxSegments {
                return false
            }
        }
        return next == group.rows
    }

    /// Whether there is a segment with this many rows in this node.
    private func isSegment(_ offset: Int, rows expected: Int, system: Bool = false) -> Bool {
        guard offset >= group.blobsOffset, offset % 8 == 0, offset < group.size,
            Segment.validatedSize(group.base + offset, available: group.size - offset) != nil
        else { return false }
        let segment = Segment(group.base + offset)
        return segment.rows == expected && (!system || segment.isSystem)
    }

    private func patchesFit() -> Bool {
        for index in 0..<group.patched {
            let patch = group.patch(index)
            guard patch.column < group.columns, slotsAscend(patch.slotsOffset, patch.count),
                isSegment(
                    patch.segmentOffset, rows: patch.count, system: patch.column < RowSet.firstUserColumn)
            else { return false }
        }
        return true
    }

    private func insertsFit() -> Bool {
        if group.inserted == 0 { return true }
        for column in 0..<group.columns {
            let system = column < RowSet.firstUserColumn
            let offset = group.base.u16(group.insertsOffset + 2 * column)
            if !isSegment(offset, rows: group.inserted, system: system) { return false }
        }
        return true
    }
}
