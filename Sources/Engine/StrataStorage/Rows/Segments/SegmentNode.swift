/// A node of one or more segments: count u16, then per segment its offset in units of 8 bytes u16, then the segments.
package enum SegmentNode {
    static let directoryOffset = Format.nodeHeaderSize
    /// Size of the largest segment that fits a page alone.
    static let capacity = Format.pageSize - aligned8(directoryOffset + 4)
    static let maxSegments = 64

    @inline(__always)
    package static func count(_ node: UnsafeRawPointer) -> Int { node.u16(directoryOffset) }

    @inline(__always)
    package static func segment(_ node: UnsafeRawPointer, _ index: Int) -> Segment {
        Segment(node + node.u16(directoryOffset + 2 + 2 * index) * 8)
    }

    /// Offset of the first segment.
    static func firstOffset(_ segments: Int) -> Int { aligned8(directoryOffset + 2 + 2 * segments) }

    static func validate(_ node: UnsafeRawPointer, bytes: Int) -> Bool {
        let n = count(node)
        guard n <= maxSegments, firstOffset(n) <= bytes else { return false }
        for index in 0..<n {
            let offset = node.u16(directoryOffset + 2 + 2 * index) * 8
            guard offset >= firstOffset(n), offset < bytes,
                Segment.validatedSize(node + offset, available: bytes - offset) != nil
            else { return false }
        }
        return true
    }
}
