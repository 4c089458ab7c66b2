internal import StrataFiles
package import Synchronization

/// A run of values of one column, ready to be read by slot: what a held object's property costs a load and no call.
///
/// Void when its version is let go; in a transaction after its next write. A window shows no nulls, exceptions or
/// values of nodes of their own, and is made of validated bytes only.
package struct ColumnWindow {
    package let group: UnsafeRawPointer
    /// Values side by side; of a column of bytes what ``lengths`` says.
    package let values: UnsafeRawPointer
    /// Added to each value, wrapping.
    package let base: UInt64
    package let firstSlot: Int32
    package let rows: Int32
    /// Bytes per value: 0, 1, 2, 4 or 8; of bytes the length that all have, or ``ofOffsets``.
    package let width: Int32
    /// Not 0 when the map lost a page: what the window shows may then be zeros, and is not believed.
    package let damage: UnsafeMutablePointer<Atomic<UInt32>>

    /// The `width` of bytes of different lengths: `values` starts with their offsets, u16 each, one more than rows,
    /// from the end of the offsets on.
    @inlinable package static var ofOffsets: Int32 { -1 }

    /// Nil when values of the segment are of another kind, null, exceptions, or nodes of their own.
    init?(_ group: UnsafeRawPointer, _ segment: Segment, _ kind: SegmentKind, firstSlot: Int, _ damage: MapDamage) {
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

    /// Whether the map lost no page until now: asked after values were read, before they are believed.
    @inline(__always)
    var isIntact: Bool { damage.pointee.load(ordering: .relaxed) == 0 }

    /// An integer of the window, by its place in it.
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
