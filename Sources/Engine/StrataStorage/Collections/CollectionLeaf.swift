/// A leaf of a collection tree: a run of adjacent elements.
///
/// Layout behind the node header: elements u16 at 24, form u8 at 26, flags u8 at 27 (1 long values, 2 trees among them,
/// 4 nulls, 8 part of an inner collection), column id u16 at 28, bytes in use u16 at 30, key of the owner's row i64 at
/// 32; from 40 a segment of the elements, in a map of the keys and, at the next multiple of 8, one of the values.
///
/// 1. A leaf has at least one element, and each segment has as many.
/// 2. Keys of a map are never null. A flag that is not set means that no element has the property.
/// 3. Behind the bytes in use there are zeros.
struct CollectionLeaf {
    /// Offsets of the fields, from the node's start.
    enum Field {
        static let count = 24
        static let form = 26
        static let flags = 27
        static let column = 28
        static let used = 30
        static let owner = 32
    }

    static let segmentOffset = 40
    /// Bytes for segments.
    static let capacity = Format.pageSize - segmentOffset
    /// Elements of one byte each that fill a page.
    static let maxElements = 4032
    static let hasLong = 1
    /// Some of the long values are trees.
    static let hasTrees = 2
    static let hasNulls = 4
    /// It belongs to an inner collection.
    static let isNested = 8
    static let allFlags = hasLong | hasTrees | hasNulls | isNested

    let node: UnsafeRawPointer

    /// - Parameter node: a node that passed ``validate(_:bytes:)``.
    @inline(__always) init(_ node: UnsafeRawPointer) { self.node = node }

    @inline(__always) var count: Int { node.u16(Field.count) }
    @inline(__always) var formCode: Int { node.u8(Field.form) }
    @inline(__always) var flags: Int { node.u8(Field.flags) }
    @inline(__always) var column: UInt16 { UInt16(node.u16(Field.column)) }
    @inline(__always) var used: Int { node.u16(Field.used) }
    @inline(__always) var owner: Int64 { node.i64(Field.owner) }
    @inline(__always) private var isMap: Bool { formCode == Int(CollectionForm.map.rawValue) }
    @inline(__always) private var first: Segment { Segment(node + Self.segmentOffset) }

    /// The keys of a map, else nil.
    @inline(__always) var keys: Segment? { isMap ? first : nil }
    @inline(__always) var values: Segment {
        isMap ? Segment(node + (Self.segmentOffset + aligned8(first.size))) : first
    }
    /// The segment that a set or a map is ordered by.
    @inline(__always) var ordered: Segment { first }

    /// Whether a leaf is well-formed, so that reading it is memory-safe without further checks except the kind of its
    /// values.
    ///
    /// Complexity: O(elements).
    static func validate(_ node: UnsafeRawPointer, bytes: Int) -> Bool {
        guard bytes == Format.pageSize else { return false }
        let leaf = CollectionLeaf(node)
        guard leaf.count >= 1, leaf.count <= maxElements, leaf.formCode <= Int(CollectionForm.map.rawValue),
            leaf.flags & ~allFlags == 0
        else { return false }
        var offset = segmentOffset
        var flags = 0
        if leaf.isMap {
            guard let size = size(of: leaf.first, leaf.count, &flags, bytes - offset),
                leaf.first.kind == .bytes, flags & hasNulls == 0
            else { return false }
            offset += aligned8(size)
            guard offset < bytes else { return false }
        }
        guard let size = size(of: Segment(node + offset), leaf.count, &flags, bytes - offset) else { return false }
        return leaf.used == offset + size && leaf.flags & ~isNested == flags
    }

    /// The size of a segment with this many rows; nil if the bytes are no such segment.
    private static func size(of segment: Segment, _ rows: Int, _ flags: inout Int, _ available: Int) -> Int? {
        guard let size = Segment.validatedSize(segment.base, available: available),
            segment.rows == rows, !segment.hasNullsBehindRows
        else { return nil }
        flags |= Self.flags(of: segment)
        return size
    }

    @inline(__always)
    private static func flags(of segment: Segment) -> Int {
        let nulls = segment.flags & Segment.hasNulls != 0 ? hasNulls : 0
        return segment.kind == .bytes && segment.flags & Segment.hasLong != 0 ? nulls | longFlags(of: segment) : nulls
    }

    private static func longFlags(of segment: Segment) -> Int {
        for slot in 0..<segment.rows {
            if let long = segment.cellValue(slot).long, long.isTree { return hasLong | hasTrees }
        }
        return hasLong
    }

    /// Calls `body` with each long value that references a tree, and its address.
    func forEachTree(_ body: (LongValue, _ place: UnsafeRawPointer) throws(StorageError) -> Void) throws(StorageError) {
        if flags & Self.hasTrees == 0 { return }
        let values = values
        for slot in 0..<values.rows {
            guard let long = values.cellValue(slot).long, long.isTree, let base = values.bytes(slot).baseAddress else {
                continue
            }
            try body(long, base)
        }
    }

    // MARK: Writing

    /// Writes the fields of a leaf's head that do not depend on its elements.
    private static func writeHead(_ node: UnsafeMutableRawPointer, _ shape: CollectionShape) {
        node.put8(Field.form, Int(shape.form.rawValue))
        node.put8(Field.flags, shape.nodeFlags)
        node.put16(Field.column, Int(shape.column))
        node.putI64(Field.owner, shape.owner)
    }

    /// Encodes elements into a node that has its header. The elements' bytes are in other memory.
    /// - Returns: false if they do not fit: the node's content is undefined then.
    static func encode(
        _ elements: CollectionElements, in range: Range<Int>, frame: SegmentPlan.Frame, shape: CollectionShape,
        into node: UnsafeMutableRawPointer
    ) -> Bool {
        (node + Format.nodeHeaderSize).initializeMemory(
            as: UInt8.self, repeating: 0, count: Format.pageSize - Format.nodeHeaderSize)
        writeHead(node, shape)
        var offset = segmentOffset
        if let keys = elements.keys {
            let plan = SegmentPlan(keys, range)
            if offset + aligned8(plan.size) > Format.pageSize { return false }
            plan.write(keys, to: node + offset)
            offset += aligned8(plan.size)
        }
        let plan = SegmentPlan(elements.values, range, frame)
        if offset + plan.size > Format.pageSize { return false }
        plan.write(elements.values, to: node + offset)
        update(node)
        return true
    }

    /// Updates the head from the segments.
    @inline(__always)
    static func update(_ node: UnsafeMutableRawPointer) {
        let leaf = CollectionLeaf(UnsafeRawPointer(node))
        let values = leaf.values
        var flags = leaf.flags & isNested | flags(of: values)
        if let keys = leaf.keys { flags |= Self.flags(of: keys) }
        node.put16(Field.count, values.rows)
        node.put8(Field.flags, flags)
        node.put16(Field.used, values.base - leaf.node + values.size)
    }
}
