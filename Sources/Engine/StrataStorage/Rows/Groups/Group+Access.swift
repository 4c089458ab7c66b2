/// Location of a row in a version: valid as long as the version is pinned; in a transaction until its next write.
package struct RowLocation: Sendable {
    /// The group's node; kept alive by the version's pin.
    package nonisolated(unsafe) let group: UnsafeRawPointer
    /// A main slot, or the complement of an index among inserted rows.
    package let slot: Int32
    /// The table's position in the schema.
    package let table: Int32

    /// Recreates a location from its parts.
    @inlinable @inline(__always)
    package init(group: UnsafeRawPointer, slot: Int32, table: Int32) {
        self.group = group
        self.slot = slot
        self.table = table
    }

    @inline(__always)
    init(_ group: Group, slot: Int32, table: Int) {
        self.group = group.base
        self.slot = slot
        self.table = Int32(truncatingIfNeeded: table)
    }
}

extension Group {
    /// The segment with a main slot of a column, and the index in it, ignoring patches.
    @inline(__always)
    func mainSegment(
        _ column: Int, _ slot: Int, _ pages: PageReader
    ) throws(StorageError) -> (segment: Segment, index: Int) {
        let descriptor = descriptor(segmentIndex(column, slot))
        let index = slot - descriptor.firstSlot
        if descriptor.node == Self.inThisNode { return (Segment(base + descriptor.offset), index) }
        return (try foreignSegment(descriptor, pages), index)
    }

    /// Reads a segment in another node; checks that it exists and has the directory's number of rows.
    @inline(__always)
    func foreignSegment(_ descriptor: SegmentDescriptor, _ pages: PageReader) throws(StorageError) -> Segment {
        let reference = reference(descriptor.node)
        let node = try pages.node(reference, .segments)
        guard descriptor.index < SegmentNode.count(node) else { throw .structure(reference) }
        let segment = SegmentNode.segment(node, descriptor.index)
        guard segment.rows == descriptor.rows else { throw .structure(reference) }
        return segment
    }

    /// Any segment by its number in the directory.
    func segment(_ number: Int, _ pages: PageReader) throws(StorageError) -> Segment {
        let descriptor = descriptor(number)
        if descriptor.node == Self.inThisNode { return Segment(base + descriptor.offset) }
        return try foreignSegment(descriptor, pages)
    }

    /// The value of a row: the newest segment that has it, and the index in it.
    @inline(__always)
    func value(
        _ column: Int, at row: Int32, kind: SegmentKind, from pages: PageReader
    ) throws(StorageError) -> (segment: Segment, index: Int) {
        let slot = Int(row)
        let found: (segment: Segment, index: Int)
        if slot >= 0 {
            if let patched = patchedValue(column, slot) {
                found = patched
            } else {
                found = try mainSegment(column, slot, pages)
            }
        } else {
            found = (insertedSegment(column), ~slot)
        }
        guard found.segment.kindCode == kind.rawValue, found.index >= 0, found.index < found.segment.rows else {
            throw pages.damage(at: base)
        }
        return found
    }

    /// The row with a key, as a ``RowLocation/slot``; nil if there is none.
    @inline(__always)
    func locate(_ key: Int64, _ pages: PageReader) throws(StorageError) -> Int32? {
        if inserted > 0, let place = findInserted(key) { return ~Int32(truncatingIfNeeded: place) }
        guard let slot = try mainSlot(key, pages) else { return nil }
        if deleted > 0 && isDeleted(slot) { return nil }
        return Int32(truncatingIfNeeded: slot)
    }

    /// The main slot of a key, deleted or not.
    @inline(__always)
    func mainSlot(_ key: Int64, _ pages: PageReader) throws(StorageError) -> Int? {
        if isDense {
            let slot = key &- baseKey
            return slot >= 0 && slot < Int64(rows) ? Int(slot) : nil
        }
        let slot = try mainLowerBound(key, pages)
        guard slot < rows else { return nil }
        let (segment, index) = try mainSegment(RowSet.keyColumn, slot, pages)
        try segment.require(.integer, pages)
        return segment.integer(index) == key ? slot : nil
    }

    /// The first main slot whose key is not less than `key`.
    func mainLowerBound(_ key: Int64, _ pages: PageReader) throws(StorageError) -> Int {
        if rows == 0 { return 0 }
        if isDense {
            let slot = key &- baseKey
            return key < baseKey ? 0 : slot >= Int64(rows) || slot < 0 ? rows : Int(slot)
        }
        let first = firstSegment(RowSet.keyColumn)
        var number = first
        let end = first + segmentCount(RowSet.keyColumn)
        // The last segment whose first key is not greater than the key.
        while number + 1 < end {
            let next = try segment(number + 1, pages)
            try next.require(.integer, pages)
            if next.rows == 0 || next.integer(0) > key { break }
            number += 1
        }
        let segment = try segment(number, pages)
        try segment.require(.integer, pages)
        return descriptor(number).firstSlot + segment.lowerBound(key)
    }

    /// The first inserted row whose key is not less than `key`.
    func insertedLowerBound(_ key: Int64) -> Int {
        inserted == 0 ? 0 : insertedSegment(RowSet.keyColumn).lowerBound(key)
    }

    func findInserted(_ key: Int64) -> Int? {
        let segment = insertedSegment(RowSet.keyColumn)
        let place = segment.lowerBound(key)
        return place < inserted && segment.integer(place) == key ? place : nil
    }

    /// The key of a row.
    func key(_ row: Int32, _ pages: PageReader) throws(StorageError) -> Int64 {
        if row < 0 { return insertedSegment(RowSet.keyColumn).integer(Int(~row)) }
        if isDense { return baseKey &+ Int64(row) }
        guard row < rows else { throw pages.damage(at: base) }
        let (segment, index) = try mainSegment(RowSet.keyColumn, Int(row), pages)
        try segment.require(.integer, pages)
        return segment.integer(index)
    }

    /// The `ordinal`-th live row in key order.
    func select(_ ordinal: Int, _ pages: PageReader) throws(StorageError) -> Int32? {
        if ordinal >= liveRows || ordinal < 0 { return nil }
        if deleted == 0 && inserted == 0 { return Int32(truncatingIfNeeded: ordinal) }
        // `low` becomes the first inserted row whose position is not less than the ordinal.
        var low = 0
        var high = inserted
        while low < high {
            let middle = (low + high) / 2
            let before = try liveMainRows(below: insertedSegment(RowSet.keyColumn).integer(middle), pages)
            if before + middle < ordinal { low = middle + 1 } else { high = middle }
        }
        if low < inserted {
            let before = try liveMainRows(below: insertedSegment(RowSet.keyColumn).integer(low), pages)
            if before + low == ordinal { return ~Int32(truncatingIfNeeded: low) }
        }
        // In a damaged group keys may not ascend, and lead past the end.
        let slot = liveMainSlot(ordinal - low)
        guard slot >= 0, slot < rows else { throw pages.damage(at: base) }
        return Int32(truncatingIfNeeded: slot)
    }

    private func liveMainRows(below key: Int64, _ pages: PageReader) throws(StorageError) -> Int {
        let slot = try mainLowerBound(key, pages)
        return slot - deletedRank(slot)
    }

    /// The slot of the n-th live main row.
    private func liveMainSlot(_ n: Int) -> Int {
        var low = n
        var high = min(rows - 1, n + deleted)
        while low < high {
            let middle = (low + high) / 2
            if middle + 1 - deletedRank(middle + 1) > n { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Number of live rows with a key below `key`.
    func rank(of key: Int64, _ pages: PageReader) throws(StorageError) -> Int {
        try liveMainRows(below: key, pages) + insertedLowerBound(key)
    }
}

extension Segment {
    /// The first index whose integer is not less than `key`; integers ascend.
    @inline(__always)
    func lowerBound(_ key: Int64) -> Int {
        var low = 0
        var n = rows
        while n > 0 {
            let half = n >> 1
            if integer(low + half) < key {
                low += half + 1
                n -= half + 1
            } else {
                n = half
            }
        }
        return low
    }
}

// MARK: Long values

extension Group {
    /// Whether a column may have long values.
    func mayHaveLong(_ column: Int, _ layout: TableLayout, _ reader: PageReader) throws(StorageError) -> Bool {
        guard let position = position(of: layout.ids[column], near: column) else { return false }
        let first = firstSegment(position)
        for number in first..<(first + segmentCount(position)) {
            if try segment(number, reader).flags & Segment.hasLong != 0 { return true }
        }
        if inserted > 0, insertedSegment(position).flags & Segment.hasLong != 0 { return true }
        for index in 0..<patched where patch(index).column == position {
            if patch(index).segment.flags & Segment.hasLong != 0 { return true }
        }
        return false
    }

    /// Whether any column may have long values.
    func mayHaveLong(_ layout: TableLayout, _ reader: PageReader) throws(StorageError) -> Bool {
        for column in layout.kinds.indices where layout.kinds[column] == .bytes {
            if try mayHaveLong(column, layout, reader) { return true }
        }
        return false
    }
}
