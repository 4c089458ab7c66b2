import StrataStorage

/// What the objects of one class in one Realm share on their way to a value. One per class and Realm, at a fixed
/// address, so that a property read is: load the frame, compare the stamp, load the column, read.
///
/// Invariants:
/// 1. `stamp` changes whenever the Realm's view does: at a refresh, at the begin and end of a write, and at every
///    change inside one. A location is used under the stamp that it was found under, never under another.
/// 2. `view` is what the stamp stands for, and the Realm keeps it alive.
/// 3. A frame lives as long as its Realm, which every managed object retains.
/// 4. A held window is used under the stamp that it was made under. A frozen Realm, which several threads read, never
///    makes one.
@frozen
public struct _ClassFrame {
    @usableFromInline var stamp: UInt64
    /// Column position by field offset; see ``ColumnSlot``.
    @usableFromInline var columns: UnsafeMutablePointer<Int32>
    /// A ``HeldColumn`` per column.
    @usableFromInline var heldAddress: UnsafeMutableRawPointer
    /// A ``ReadView``, unretained.
    @usableFromInline var viewAddress: UnsafeMutableRawPointer
    /// A ``ClassAccess``, unretained.
    @usableFromInline var accessAddress: UnsafeMutableRawPointer

    init(stamp: UInt64, columns: UnsafeMutablePointer<Int32>, view: ReadView, access: ClassAccess) {
        self.stamp = stamp
        self.columns = columns
        heldAddress = UnsafeMutableRawPointer(UnsafeMutablePointer<HeldColumn>.allocate(capacity: 1))
        viewAddress = Unmanaged.passUnretained(view).toOpaque()
        accessAddress = Unmanaged.passUnretained(access).toOpaque()
    }

    @inline(__always)
    var held: UnsafeMutablePointer<HeldColumn> { heldAddress.assumingMemoryBound(to: HeldColumn.self) }

    /// Makes room for windows of so many columns, all empty.
    mutating func holdColumns(_ count: Int) {
        held.deallocate()
        let columns = UnsafeMutablePointer<HeldColumn>.allocate(capacity: max(count, 1))
        columns.initialize(repeating: HeldColumn(), count: max(count, 1))
        heldAddress = UnsafeMutableRawPointer(columns)
    }

    @inline(__always)
    var view: Unmanaged<ReadView> { .fromOpaque(viewAddress) }

    @inline(__always)
    var access: Unmanaged<ClassAccess> { .fromOpaque(accessAddress) }
}

/// The values around the row whose property was read last: reading it, or one nearby, again is a load.
struct HeldColumn {
    /// 0 stands for no Realm.
    var stamp: UInt64 = 0
    /// The group of the last row that was not in the window. Only a second row in it is worth a new window.
    var missed: UnsafeRawPointer?
    /// A group that has no window for this column, under `stamp`.
    var refused: UnsafeRawPointer?
    var window = ColumnWindow()
}

/// What stands in a frame's column table beside column positions.
enum ColumnSlot {
    /// The integer primary key, which is the row's key.
    static let key: Int32 = -1
    /// Linking objects: no column of this table.
    static let computed: Int32 = -2
    /// No property starts at this offset, or the file has no column for it.
    static let none: Int32 = -3
}

extension ObjectBase {
    /// Whether the row's cached place belongs to what the Realm sees now.
    @inlinable
    var _isCurrent: Bool {
        @inline(__always)
        get {
            #if DEBUG
                _checkConfinement()
            #endif
            return _stamp == _frame.unsafelyUnwrapped.pointee.stamp
        }
    }

    @inlinable @inline(__always)
    func _offset<Field>(of field: UnsafeMutablePointer<Field>) -> Int {
        UnsafeRawPointer(field) - UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Finds the row in the current view.
    /// - Returns: false when it was deleted, or cannot be read.
    /// - Complexity: O(log rows).
    @usableFromInline
    @inline(never)
    func _relocate() -> Bool { _access.relocate(self) }

    @usableFromInline
    @inline(never)
    func _checkConfinement() { _access.instance.checkConfinement() }

    /// The frame of a managed object's class.
    @inline(__always)
    var _access: ClassAccess {
        guard let frame = _frame else { fatalError("the object is not managed") }
        return frame.pointee.access._withUnsafeGuaranteedRef { $0 }
    }

    @usableFromInline
    func _readInt(_ offset: Int) -> Int {
        guard _isCurrent || _relocate() else { return _substitute(offset, as: Int.self) }
        guard let value = _loadInteger(offset) else { return _declaredDefault(offset, as: Int.self) }
        return Int(truncatingIfNeeded: value)
    }

    @usableFromInline
    func _readBool(_ offset: Int) -> Bool {
        guard _isCurrent || _relocate() else { return _substitute(offset, as: Bool.self) }
        guard let value = _loadInteger(offset) else { return _declaredDefault(offset, as: Bool.self) }
        return value != 0
    }

    @usableFromInline
    func _readDouble(_ offset: Int) -> Double {
        guard _isCurrent || _relocate() else { return _substitute(offset, as: Double.self) }
        return _loadDouble(offset) ?? _declaredDefault(offset, as: Double.self)
    }

    @usableFromInline
    func _readString(_ offset: Int) -> String {
        guard _isCurrent || _relocate() else { return _substitute(offset, as: String.self) }
        return _loadString(offset) ?? _declaredDefault(offset, as: String.self)
    }

    /// An integer, or a link's key; nil when null. The row must be current.
    @usableFromInline
    @inline(__always)
    func _loadInteger(_ offset: Int) -> Int64? {
        let frame = _frame.unsafelyUnwrapped
        let column = frame.pointee.columns[offset]
        if column < 0 { return column == ColumnSlot.key ? _key : nil }
        if let bits = _heldBits(frame, column) { return Int64(bitPattern: bits) }
        return _fetch(Int(column)) { (view, location) throws(StorageError) in
            try view.integer(location, Int(column))
        }
    }

    @usableFromInline
    @inline(__always)
    func _loadDouble(_ offset: Int) -> Double? {
        let frame = _frame.unsafelyUnwrapped
        let column = frame.pointee.columns[offset]
        if column < 0 { return nil }
        if let bits = _heldBits(frame, column) { return Double(bitPattern: bits) }
        return _fetch(Int(column)) { (view, location) throws(StorageError) in
            try view.double(location, Int(column))
        }
    }

    /// The value when its column's window shows it.
    @inline(__always)
    private func _heldBits(_ frame: UnsafeMutablePointer<_ClassFrame>, _ column: Int32) -> UInt64? {
        let held = frame.pointee.held + Int(column)
        guard held.pointee.stamp == frame.pointee.stamp else { return nil }
        return held.pointee.window.bits(_location.unsafelyUnwrapped)
    }

    /// Reads by the view, and holds on to the values around when the same group is read again.
    @inline(never)
    private func _fetch<Value>(
        _ column: Int, _ body: (ReadView, RowLocation) throws(StorageError) -> Value?
    ) -> Value? {
        let frame = _frame.unsafelyUnwrapped
        let location = _location.unsafelyUnwrapped
        return frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) {
                if !_access.instance.isFrozen { try _hold(frame.pointee.held + column, column, view, location) }
                return try body(view, location)
            } catch {
                return _damaged(error)
            }
        }
    }

    private func _hold(
        _ held: UnsafeMutablePointer<HeldColumn>, _ column: Int, _ view: ReadView, _ location: RowLocation
    ) throws(StorageError) {
        let isAgain = held.pointee.missed == location.group
        held.pointee.missed = location.group
        let stamp = _frame.unsafelyUnwrapped.pointee.stamp
        if !isAgain || held.pointee.stamp == stamp && held.pointee.refused == location.group { return }
        let window = try view.window(location, column)
        held.pointee.window = window ?? ColumnWindow()
        held.pointee.refused = window == nil ? location.group : nil
        held.pointee.stamp = stamp
    }

    @usableFromInline
    @inline(__always)
    func _loadString(_ offset: Int) -> String? { _withBytes(offset) { SmallString.make($0) } }

    /// The bytes of a column; they are the map's own and void after `body`.
    @inline(__always)
    func _withBytes<Value>(_ offset: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
        let frame = _frame.unsafelyUnwrapped
        let column = frame.pointee.columns[offset]
        let location = _location.unsafelyUnwrapped
        if column < 0 { return nil }
        return frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) { return try view.bytes(location, Int(column)).map(body) } catch {
                return _damaged(error)
            }
        }
    }

    /// Reports that a column could not be read.
    @inline(never)
    private func _damaged<Value>(_ error: StorageError) -> Value? {
        _access.instance.reportDamage(self, error)
        return nil
    }

    /// What a property of a deleted object reads, after the access policy had its say.
    @usableFromInline
    @inline(never)
    func _substitute<Value: _Persistable>(_ offset: Int, as _: Value.Type) -> Value {
        let access = _access
        if access.isPrimaryKey(offset), let value = _capturedKey(offset, as: Value.self) { return value }
        access.instance.reportInvalidAccess(self)
        return _declaredDefault(offset, as: Value.self)
    }

    /// The value that a new object of the class would start with.
    @usableFromInline
    @inline(never)
    func _declaredDefault<Value: _Persistable>(_ offset: Int, as _: Value.Type) -> Value {
        guard let prototype = _access.plan?.prototype else { return Value._makeDefault() }
        let field = prototype._field(offset).assumingMemoryBound(to: Persisted<Value>.self)
        return field.pointee.value ?? Value._makeDefault()
    }

    private func _capturedKey<Value: _Persistable>(_ offset: Int, as _: Value.Type) -> Value? {
        if _access.frame.pointee.columns[offset] == ColumnSlot.key { return Value._fromAny(_key) }
        return _field(offset).assumingMemoryBound(to: Persisted<Value>.self).pointee.value
    }

    func _field(_ offset: Int) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(self).toOpaque() + offset
    }

    /// Writes a property of a managed object.
    @usableFromInline
    @inline(never)
    func _store(_ offset: Int, _ value: _StoredValue) {
        let access = _access
        access.instance.store(self, access, Int(access.frame.pointee.columns[offset]), value)
    }
}
