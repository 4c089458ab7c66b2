internal import StrataFiles
package import Synchronization

/// A run of values of one column, ready to be read by slot: what a held object's property costs a load and no call.
///
/// Void when its version is let go; in a transaction after its next write.
package struct ColumnWindow {
    /// Nil in a window that has no row.
    package let group: UnsafeRawPointer?
    package let values: UnsafeRawPointer
    /// Added to each value, wrapping.
    package let frame: UInt64
    package let firstSlot: Int32
    package let rows: Int32
    /// Bytes per value: 0, 1, 2, 4 or 8.
    package let width: Int32
    /// Not 0 when the map lost a page: what the window shows may then be zeros, and is not believed.
    package let damage: UnsafeMutablePointer<Atomic<UInt32>>

    /// A window without rows.
    package init() {
        group = nil
        values = UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
        frame = 0
        firstSlot = 0
        rows = 0
        width = 0
        damage = MapDamage.never.flag
    }

    /// Nil when values of the segment are null, exceptions, or bytes.
    init?(_ group: UnsafeRawPointer, _ segment: Segment, firstSlot: Int, _ damage: MapDamage) {
        switch segment.kind {
        case .integer:
            guard segment.flags & (Segment.hasNulls | Segment.hasExceptions) == 0 else { return nil }
            values = segment.integerValues
            frame = UInt64(bitPattern: segment.integerBase)
            width = Int32(segment.width)
        case .double:
            guard segment.flags & Segment.hasNulls == 0 else { return nil }
            values = segment.base + 8
            frame = 0
            width = 8
        case .bytes, nil: return nil
        }
        self.group = group
        self.damage = damage.flag
        self.firstSlot = Int32(truncatingIfNeeded: firstSlot)
        rows = Int32(truncatingIfNeeded: segment.rows)
    }

    /// The value of a row as 64 bits; nil when the window does not show it.
    @inlinable @inline(__always)
    package func bits(_ row: RowLocation) -> UInt64? {
        // Inserted rows have negative slots, and so does what lies before the window: both are large when unsigned.
        let index = UInt32(bitPattern: row.slot &- firstSlot)
        guard row.group == group, row.slot >= 0, index < UInt32(bitPattern: rows) else { return nil }
        let bits = frame &+ value(Int(index))
        return damage.pointee.load(ordering: .relaxed) == 0 ? bits : nil
    }

    @inlinable @inline(__always)
    func value(_ index: Int) -> UInt64 {
        switch width {
        case 0: 0
        case 1: UInt64(values.load(fromByteOffset: index, as: UInt8.self))
        case 2: UInt64(values.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        case 4: UInt64(values.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
        default: values.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)
        }
    }

    /// Whether the window belongs to the group that the row stands in.
    @inlinable @inline(__always)
    package func isNear(_ row: RowLocation) -> Bool { row.group == group }
}
