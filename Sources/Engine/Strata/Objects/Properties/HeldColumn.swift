import CStrataShim
import StrataStorage
import Synchronization

/// A cached window of one column: the values of the row that was read last and of the rows near it. Reading the
/// property of any of these rows is a load.
///
/// One per column, class and Realm. It has the fields of a ``ColumnWindow`` instead of the window itself, so that code
/// that is inlined into an application's module uses them without a call.
@frozen
@usableFromInline
struct _HeldColumn {
    /// The stamp under which the window was made; 0 for none.
    @usableFromInline var stamp: UInt64 = 0
    @usableFromInline var group: UnsafeRawPointer?
    @usableFromInline var values = UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    @usableFromInline var base: UInt64 = 0
    @usableFromInline var firstSlot: Int32 = 0
    /// 0 in an empty window.
    @usableFromInline var rows: Int32 = 0
    @usableFromInline var width: Int32 = 0
    /// Nil only if there are no rows.
    @usableFromInline var damage: UnsafeMutablePointer<Atomic<UInt32>>?
    /// The group of the last read that the window did not serve. Two such reads in one group, one after the other, make
    /// a new window.
    var missed: UnsafeRawPointer?
    /// The group for which storage gave no window of this column under `stamp`, so that it is not asked again.
    var refused: UnsafeRawPointer?

    init() {}

    mutating func show(_ window: ColumnWindow?) {
        group = window?.group
        rows = window?.rows ?? 0
        damage = window?.damage
        guard let window else { return }
        values = window.values
        base = window.base
        firstSlot = window.firstSlot
        width = window.width
    }

    @inlinable @inline(__always)
    func value(_ index: Int) -> UInt64 {
        switch width {
        case 0: 0
        case 1: UInt64(values.load(fromByteOffset: index, as: UInt8.self))
        case 2: UInt64(values.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self))
        case 4: UInt64(values.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
        default: values.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
        }
    }

    /// Whether the mapping has lost no page: checked after values were read, and before they are used.
    @inlinable @inline(__always)
    var isIntact: Bool { damage.unsafelyUnwrapped.pointee.load(ordering: .relaxed) == 0 }

    /// Borrowed bytes of a row. If the page was lost, the bytes and even their number may be wrong: check ``isIntact``
    /// after reading them.
    @inline(__always)
    func bytes(_ index: Int) -> UnsafeRawBufferPointer {
        if width != ColumnWindow.ofOffsets {
            return UnsafeRawBufferPointer(start: values + index &* Int(width), count: Int(width))
        }
        let first = Int(values.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self))
        let end = Int(values.loadUnaligned(fromByteOffset: index &* 2 &+ 2, as: UInt16.self))
        return UnsafeRawBufferPointer(start: values + 2 &* (Int(rows) &+ 1) + first, count: max(end - first, 0))
    }
}
