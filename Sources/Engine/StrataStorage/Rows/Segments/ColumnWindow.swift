internal import StrataFiles
package import Synchronization

/// A run of values of one column, addressed by slot. The object layer keeps one, so that reading a property of an
/// object is a load without a call.
///
/// Invalid once its version is released; in a transaction, after the next write. A window contains no nulls, exceptions
/// or long values, and refers to validated bytes only.
package struct ColumnWindow {
    package let group: UnsafeRawPointer
    /// Contiguous values; bytes of different lengths are behind their offsets (``ofOffsets``).
    package let values: UnsafeRawPointer
    /// The number that a reader adds to each value, wrapping.
    package let base: UInt64
    package let firstSlot: Int32
    package let rows: Int32
    /// Bytes per value: 0, 1, 2, 4 or 8; for bytes their common length, or ``ofOffsets``.
    package let width: Int32
    /// Not 0 once the mapping lost a page: values may then be zeros, and must not be used.
    package let damage: UnsafeMutablePointer<Atomic<UInt32>>

    /// The `width` for bytes of different lengths: `values` starts with their u16 offsets, one more than rows, counted
    /// from the end of the offsets.
    @inlinable package static var ofOffsets: Int32 { -1 }

    /// Nil if values of the segment are of another kind, null, exceptions, or long values.
    init?(_ group: UnsafeRawPointer, _ segment: Segment, kind: SegmentKind, firstSlot: Int, damage: MapDamage) {
        guard segment.kind == kind else { return nil }
        switch kind {
        case .integer:
            guard segment.flags & (Segment.hasNulls | Segment.hasExceptions) == 0 else { return nil }
            values = segment.integerValues
            base = UInt64(bitPattern: segment.integerBase)
            width = Int32(segment.width)
        case .double:
            guard segment.flags & Segment.hasNulls == 0 else { return nil }
            values = segment.base + 8
            base = 0
            width = 8
        case .bytes:
            guard segment.flags & (Segment.hasNulls | Segment.hasLong) == 0 else { return nil }
            values = segment.base + segment.bytesOffset
            base = 0
            width = segment.flags & Segment.equalLength != 0 ? Int32(segment.auxiliary) : Self.ofOffsets
        }
        self.group = group
        self.damage = damage.flag
        self.firstSlot = Int32(truncatingIfNeeded: firstSlot)
        rows = Int32(truncatingIfNeeded: segment.rows)
    }

    /// Whether the mapping has lost no page. The reader checks it after it has read values, and before it uses them.
    @inline(__always)
    var isIntact: Bool { damage.pointee.load(ordering: .relaxed) == 0 }

    /// The integer at an index of the window.
    @inline(__always)
    func integer(_ index: Int) -> UInt64 {
        switch width {
        case 0: base
        case 1: base &+ UInt64(values.load(fromByteOffset: index, as: UInt8.self))
        case 2: base &+ UInt64(values.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self))
        case 4: base &+ UInt64(values.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
        default: base &+ values.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
        }
    }
}
