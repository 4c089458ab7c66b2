extension Group {
    /// Whether the bytes are a group that can be read without further checks, segments in other nodes aside.
    /// - Parameter isOpen: a transaction is changing it: its segments may stand in the arena.
    static func validate(_ node: UnsafeRawPointer, bytes: Int, isOpen: Bool = false) -> Bool {
        guard bytes >= referencesOffset else { return false }
        let group = Group(node)
        guard group.size <= bytes, group.rows <= maxRows, group.nodes < inThisNode, group.columns >= 2,
            group.deleted <= group.rows, group.blobsOffset <= group.size
        else { return false }
        for index in 0..<group.nodes {
            let reference = group.reference(index)
            if !reference.isOnDisk(.segments) && !(isOpen && reference.isInArena) { return false }
        }
        return group.validateDeleted() && group.validateColumns() && group.validatePatches() && group.validateInserts()
    }

    private func validateSlots(_ offset: Int, _ count: Int) -> Bool {
        guard offset >= blobsOffset || count == 0, offset + 2 * count <= size else { return false }
        var last = -1
        for index in 0..<count {
            let slot = base.u16(offset + 2 * index)
            if slot <= last || slot >= rows { return false }
            last = slot
        }
        return true
    }

    private func validateDeleted() -> Bool { validateSlots(deletedOffset, deleted) }

    /// The segments of the columns follow one another.
    private func validateColumns() -> Bool {
        var next = 0
        for column in 0..<columns {
            let first = firstSegment(column)
            let n = segmentCount(column)
            if n == 0 {
                if rows > 0 && !(column == RowSet.keyColumn && isDense) { return false }
                continue
            }
            guard first == next, first + n <= segments, validateChain(first, n, system: column < RowSet.firstUserColumn)
            else {
                return false
            }
            next += n
        }
        return next == segments && columnID(0) == Int(TableLayout.keyID) && columnID(1) == Int(TableLayout.createdID)
            && (!isDense || rows == 0 || baseKey <= Int64.max - Int64(rows - 1))
    }

    /// Segments of a column follow one another without a gap and cover all rows.
    /// - Parameter system: of keys or creation versions, which are integers and never null.
    private func validateChain(_ first: Int, _ n: Int, system: Bool) -> Bool {
        var next = 0
        for index in first..<(first + n) {
            let descriptor = descriptor(index)
            guard descriptor.firstSlot == next else { return false }
            next += descriptor.rows
            if descriptor.node == Self.inThisNode {
                guard validateSegment(descriptor.offset, rows: descriptor.rows, system: system) else { return false }
            } else if descriptor.node >= nodes || descriptor.index >= SegmentNode.maxSegments {
                return false
            }
        }
        return next == rows
    }

    private func validateSegment(_ offset: Int, rows expected: Int, system: Bool = false) -> Bool {
        guard offset >= blobsOffset, offset % 8 == 0, offset < size,
            Segment.validatedSize(base + offset, available: size - offset) != nil
        else { return false }
        let segment = Segment(base + offset)
        return segment.rows == expected && (!system || segment.isSystem)
    }

    private func validatePatches() -> Bool {
        for index in 0..<patched {
            let patch = patch(index)
            guard patch.column < columns, validateSlots(patch.slotsOffset, patch.count),
                validateSegment(
                    patch.segmentOffset, rows: patch.count, system: patch.column < RowSet.firstUserColumn)
            else { return false }
        }
        return true
    }

    private func validateInserts() -> Bool {
        if inserted == 0 { return true }
        for column in 0..<columns {
            let system = column < RowSet.firstUserColumn
            guard validateSegment(base.u16(insertsOffset + 2 * column), rows: inserted, system: system) else {
                return false
            }
        }
        return true
    }
}
