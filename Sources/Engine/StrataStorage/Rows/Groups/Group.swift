/// A row group: up to 4 096 rows of a table with adjacent keys.
///
/// A group is a node with a directory. Its main rows are in segments: a *wide* group has segments in nodes of their
/// own, a *small* one has all of them in this node. Later changes are kept beside the main rows: patches (slot and
/// value, per column), inserted rows, deleted slots. Only made for nodes that ``GroupShape`` accepts.
///
/// Layout behind the node header, offsets in bytes from the node's start:
/// ```
///  24 main rows u16        26 inserted rows u16   28 deleted slots u16   30 columns u16
///  32 base key i64         40 nodes u16           42 segments u16        44 patched columns u16   46 flags u16
///  48 size u32             52 deleted offset u16  54 zero u16            56 patch filter, 64 bytes
/// 120 nodes x reference 24, columns x {id u16, first segment u16, segments u16, zero u16},
///     segments x {first slot u16, rows u16, node u8, index u8, offset / 8 u16},
///     patches x {column u16, count u16, slots offset u16, segment offset u16}, insert offsets u16 x columns
///     and then deleted slots, patch slots and segments, each at a multiple of 8
/// ```
package struct Group {
    /// Offsets of the fields in front of the directory, from the node's start.
    enum Field {
        static let rows = 24
        static let inserted = 26
        static let deleted = 28
        static let columns = 30
        static let baseKey = 32
        static let nodes = 40
        static let segments = 42
        static let patched = 44
        static let flags = 46
        static let size = 48
        static let deletedSlots = 52
    }

    /// Offsets of the fields of a column's directory entry, from the entry's start.
    enum ColumnField {
        static let id = 0
        static let firstSegment = 2
        static let segments = 4
    }

    static let filterOffset = 56
    static let filterBytes = 64
    static let referencesOffset = 120
    static let columnSize = 8
    static let segmentSize = 8
    static let patchSize = 8
    package static let inThisNode = 255
    static let maxRows = 4096
    /// Most pages of a group node: offsets are 16 bits.
    static let maxPages = 15
    static let isDenseFlag = 1

    package let base: UnsafeRawPointer

    @inline(__always) package init(_ base: UnsafeRawPointer) { self.base = base }

    @inline(__always) package var rows: Int { base.u16(Field.rows) }
    @inline(__always) package var inserted: Int { base.u16(Field.inserted) }
    @inline(__always) package var deleted: Int { base.u16(Field.deleted) }
    @inline(__always) package var columns: Int { base.u16(Field.columns) }
    @inline(__always) package var baseKey: Int64 { base.i64(Field.baseKey) }
    @inline(__always) var nodes: Int { base.u16(Field.nodes) }
    @inline(__always) var segments: Int { base.u16(Field.segments) }
    @inline(__always) var patched: Int { base.u16(Field.patched) }
    @inline(__always) package var isDense: Bool { base.u16(Field.flags) & Self.isDenseFlag != 0 }
    @inline(__always) package var size: Int { Int(base.u32(Field.size)) }
    @inline(__always) var deletedOffset: Int { base.u16(Field.deletedSlots) }
    /// Rows visible to a reader.
    @inline(__always) var liveRows: Int { rows - deleted + inserted }
    @inline(__always) var isSmall: Bool { nodes == 0 }

    @inline(__always) var columnsOffset: Int { Self.referencesOffset + nodes * NodeReference.size }
    @inline(__always) var segmentsOffset: Int { columnsOffset + columns * Self.columnSize }
    @inline(__always) var patchesOffset: Int { segmentsOffset + segments * Self.segmentSize }
    @inline(__always) var insertsOffset: Int { patchesOffset + patched * Self.patchSize }
    var blobsOffset: Int { aligned8(insertsOffset + (inserted > 0 ? 2 * columns : 0)) }

    @inline(__always)
    package func reference(_ index: Int) -> NodeReference {
        NodeReference(base, Self.referencesOffset + index * NodeReference.size)
    }
    @inline(__always) package func columnID(_ column: Int) -> Int { base.u16(columnsOffset + column * Self.columnSize) }
    @inline(__always)
    package func firstSegment(_ column: Int) -> Int {
        base.u16(columnsOffset + column * Self.columnSize + ColumnField.firstSegment)
    }
    @inline(__always)
    package func segmentCount(_ column: Int) -> Int {
        base.u16(columnsOffset + column * Self.columnSize + ColumnField.segments)
    }
    @inline(__always) package func deletedSlot(_ index: Int) -> Int { base.u16(deletedOffset + 2 * index) }

    @inline(__always)
    package func descriptor(_ segment: Int) -> SegmentDescriptor {
        SegmentDescriptor(base + (segmentsOffset + segment * Self.segmentSize))
    }

    @inline(__always)
    package func insertedSegment(_ column: Int) -> Segment { Segment(base + base.u16(insertsOffset + 2 * column)) }

    /// The position of a column in this group, most often as in the schema; nil if the group lacks it.
    @inline(__always)
    package func position(of id: UInt16, near guess: Int) -> Int? {
        if guess < columns && columnID(guess) == Int(id) { return guess }
        return searchPosition(id)
    }

    @inline(never)
    private func searchPosition(_ id: UInt16) -> Int? {
        for column in 0..<columns where columnID(column) == Int(id) { return column }
        return nil
    }

    /// The segment of `column` that holds `slot`.
    @inline(__always)
    func segmentIndex(_ column: Int, _ slot: Int) -> Int {
        let first = firstSegment(column)
        let n = segmentCount(column)
        if n == 1 { return first }
        // Segments have similar sizes, so the guess is right or adjacent.
        let width = descriptor(first).rows
        var index = first + min(n - 1, slot / max(width, 1))
        while index > first && descriptor(index).firstSlot > slot { index -= 1 }
        while index + 1 < first + n && descriptor(index + 1).firstSlot <= slot { index += 1 }
        return index
    }

    // MARK: Patches

    @inline(__always)
    func mayBePatched(_ slot: Int) -> Bool {
        let bit = slot >> 3
        return base.u64(Self.filterOffset + 8 * (bit >> 6)) >> UInt64(bit & 63) & 1 != 0
    }

    @inline(__always) func patch(_ index: Int) -> Patch { Patch(base, patchesOffset + index * Self.patchSize) }

    /// The patched value of a slot: the segment of new values, and the index in it.
    @inline(__always)
    package func patchedValue(_ column: Int, _ slot: Int) -> (segment: Segment, index: Int)? {
        if patched == 0 || !mayBePatched(slot) { return nil }
        return findPatch(column, slot)
    }

    @inline(never)
    private func findPatch(_ column: Int, _ slot: Int) -> (segment: Segment, index: Int)? {
        for index in 0..<patched {
            let patch = patch(index)
            if patch.column == column {
                guard let place = patch.find(slot) else { return nil }
                return (patch.segment, place)
            }
        }
        return nil
    }

    func isDeleted(_ slot: Int) -> Bool {
        let place = deletedRank(slot)
        return place < deleted && deletedSlot(place) == slot
    }

    /// Number of deleted slots before `slot`.
    @inline(__always)
    func deletedRank(_ slot: Int) -> Int { Self.lowerBound(base + deletedOffset, deleted, slot) }

    /// The first of `count` ascending numbers at `base` that is not less than `value`.
    @inline(__always)
    static func lowerBound(_ base: UnsafeRawPointer, _ count: Int, _ value: Int) -> Int {
        var low = 0
        var n = count
        while n > 0 {
            let half = n >> 1
            if base.u16(2 * (low + half)) < value {
                low += half + 1
                n -= half + 1
            } else {
                n = half
            }
        }
        return low
    }
}

/// The slots that a segment holds, and where the segment is: an entry of the group's directory.
package struct SegmentDescriptor {
    package var firstSlot: Int
    package var rows: Int
    /// Index of the group's node reference, or ``Group/inThisNode``.
    package var node: Int
    /// Index of the segment in that node.
    package var index: Int
    /// Offset of a segment that is in the group's own node.
    package var offset: Int

    @inline(__always)
    init(_ base: UnsafeRawPointer) {
        let word = base.u64(0)
        firstSlot = Int(word & 0xFFFF)
        rows = Int(word >> 16 & 0xFFFF)
        node = Int(word >> 32 & 0xFF)
        index = Int(word >> 40 & 0xFF)
        offset = Int(word >> 48) * 8
    }

    init(firstSlot: Int, rows: Int, node: Int, index: Int, offset: Int) {
        self.firstSlot = firstSlot
        self.rows = rows
        self.node = node
        self.index = index
        self.offset = offset
    }

    /// Offsets of its fields in the directory, from the entry's start.
    enum Field {
        static let firstSlot = 0
        static let rows = 2
        static let node = 4
        static let index = 5
        /// For a segment in this node, in units of 8 bytes.
        static let offset = 6
    }

    func store(_ base: UnsafeMutableRawPointer) {
        base.put16(Field.firstSlot, firstSlot)
        base.put16(Field.rows, rows)
        base.put8(Field.node, node)
        base.put8(Field.index, index)
        base.put16(Field.offset, offset / 8)
    }
}

/// Changed values of one column, newer than its segments: ascending slots and a segment of values.
struct Patch {
    /// Offsets of its fields in the directory, from the entry's start.
    enum Field {
        static let column = 0
        static let count = 2
        static let slots = 4
        static let segment = 6
    }

    let group: UnsafeRawPointer
    let column: Int
    let count: Int
    let slotsOffset: Int
    let segmentOffset: Int

    @inline(__always)
    init(_ group: UnsafeRawPointer, _ offset: Int) {
        self.group = group
        column = group.u16(offset + Field.column)
        count = group.u16(offset + Field.count)
        slotsOffset = group.u16(offset + Field.slots)
        segmentOffset = group.u16(offset + Field.segment)
    }

    @inline(__always) var segment: Segment { Segment(group + segmentOffset) }
    @inline(__always) func slot(_ index: Int) -> Int { group.u16(slotsOffset + 2 * index) }

    @inline(__always)
    func find(_ slot: Int) -> Int? {
        let place = Group.lowerBound(group + slotsOffset, count, slot)
        return place < count && self.slot(place) == slot ? place : nil
    }
}
