import StrataStorage

/// What the property reads of one class in one Realm share. One per class and Realm, at a fixed address, so that a
/// property read is: load the frame, compare the object's stamp with the frame's, load the column, read.
///
/// Invariants:
/// 1. `stamp` changes whenever what the Realm shows does: at a refresh, at the beginning and end of a write, and at
///    every change inside a write. A row's location is used only under the stamp under which it was found.
/// 2. `view` is what the Realm shows under `stamp`; the Realm keeps it alive.
/// 3. A frame lives as long as its Realm, which every managed object retains.
/// 4. A window of values in `held` is used only under the stamp under which it was made. A frozen Realm, which several
///    threads read, makes none.
@frozen
public struct _ClassFrame {
    @usableFromInline var stamp: UInt64
    /// The number of the thread that needs no further check of confinement; a number that no thread has if there is
    /// none.
    @usableFromInline let thread: UInt64
    /// The position of a field's column by the field's offset, or a ``ColumnSlot``.
    @usableFromInline var columns: UnsafeMutablePointer<Int32>
    /// The cached window of each column.
    @usableFromInline var held: UnsafeMutablePointer<_HeldColumn>
    let knowsSmallStrings: Bool
    /// A ``ReadView``, unretained.
    @usableFromInline var viewAddress: UnsafeMutableRawPointer
    /// A ``ClassAccess``, unretained.
    @usableFromInline var accessAddress: UnsafeMutableRawPointer

    /// - Parameter view: nil while the Realm shows no version, and no property is read.
    init(stamp: UInt64, columns: UnsafeMutablePointer<Int32>, view: ReadView?, access: ClassAccess) {
        self.stamp = stamp
        thread = access.instance.confinement.ownThread
        self.columns = columns
        held = .allocate(capacity: 1)
        knowsSmallStrings = SmallString.isKnown
        accessAddress = Unmanaged.passUnretained(access).toOpaque()
        viewAddress = view.map { Unmanaged.passUnretained($0).toOpaque() } ?? accessAddress
    }

    /// Allocates this many empty windows.
    mutating func holdColumns(_ count: Int) {
        held.deallocate()
        held = .allocate(capacity: max(count, 1))
        held.initialize(repeating: _HeldColumn(), count: max(count, 1))
    }

    @inline(__always)
    var view: Unmanaged<ReadView> { .fromOpaque(viewAddress) }

    @inline(__always)
    var access: Unmanaged<ClassAccess> { .fromOpaque(accessAddress) }
}

/// Values of a frame's column table other than column positions.
enum ColumnSlot {
    /// The integer primary key, which is the row key.
    static let key: Int32 = -1
    /// Linking objects, which are no column of this table.
    static let computed: Int32 = -2
    /// No property starts at this offset, or the file lacks its column.
    static let none: Int32 = -3
}
