import CStrataShim
import StrataStorage
import Synchronization

extension ObjectBase {
    /// Whether the Realm is known to belong to the calling thread. If not, the thread may still use the object, because
    /// the Realm may belong to a queue or an actor: ``_checkConfinement()`` decides.
    @inlinable
    var _isOnOwnThread: Bool {
        @inline(__always) get { strata_known_thread() == _frame.unsafelyUnwrapped.pointee.thread }
    }

    /// The index of the row in the column's window for the property at `offset`; nil if the window does not include it.
    /// The caller has checked that the thread may use the object.
    @inlinable @inline(__always)
    func _heldIndex(_ offset: Int) -> (column: UnsafeMutablePointer<_HeldColumn>, index: Int)? {
        let frame = _frame.unsafelyUnwrapped
        let stamp = frame.pointee.stamp
        let column = frame.pointee.columns[offset]
        guard column >= 0, _stamp == stamp else { return nil }
        let held = frame.pointee.held + Int(column)
        // Inserted rows have negative slots, and rows before the window negative indices: both are large as unsigned
        // numbers.
        let index = UInt32(bitPattern: _slot &- held.pointee.firstSlot)
        guard held.pointee.stamp == stamp, held.pointee.group == _group,
            index < UInt32(bitPattern: held.pointee.rows)
        else { return nil }
        return (held, Int(index))
    }

    /// An integer, a link's key, a boolean or a double as 64 bits, if the column's window includes the row.
    @inlinable @inline(__always)
    func _heldBits(_ offset: Int) -> UInt64? {
        guard let (held, index) = _heldIndex(offset) else { return nil }
        let bits = held.pointee.base &+ held.pointee.value(index)
        return held.pointee.isIntact ? bits : nil
    }

    /// Borrowed bytes, if the column's window includes the row: check ``_isIntact(_:)`` after reading them, and before
    /// using what was read.
    @inline(__always)
    func _heldBytes(_ offset: Int) -> UnsafeRawBufferPointer? {
        guard let (held, index) = _heldIndex(offset) else { return nil }
        return held.pointee.bytes(index)
    }

    @inline(__always)
    func _isIntact(_ offset: Int) -> Bool {
        let frame = _frame.unsafelyUnwrapped
        return frame.pointee.held[Int(frame.pointee.columns[offset])].isIntact
    }

    /// Makes a window around `location`, if the last read that missed the window was in the same group, too: for a
    /// single row a window is not worthwhile.
    func _hold(
        column: Int, kind: SegmentKind, in view: ReadView, at location: RowLocation
    ) throws(StorageError) {
        let frame = _frame.unsafelyUnwrapped
        let held = frame.pointee.held + column
        let isAgain = held.pointee.missed == location.group
        held.pointee.missed = location.group
        let stamp = frame.pointee.stamp
        if !isAgain || held.pointee.stamp == stamp && held.pointee.refused == location.group { return }
        let window = try view.window(location, column, kind)
        held.pointee.show(window)
        held.pointee.refused = window == nil ? location.group : nil
        held.pointee.stamp = stamp
    }
}
