import StrataStorage

extension ObjectBase {
    /// Whether the row's cached location is valid under the Realm's present stamp. Stops the program on a wrong thread.
    @inlinable
    var _isCurrent: Bool {
        @inline(__always)
        get {
            if !_isOnOwnThread { _checkConfinement() }
            return _stamp == _frame.unsafelyUnwrapped.pointee.stamp
        }
    }

    @inlinable @inline(__always)
    func _offset<Field>(of field: UnsafeMutablePointer<Field>) -> Int {
        UnsafeRawPointer(field) - UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Finds the row in the version that the Realm shows.
    /// - Returns: false if it was deleted, or cannot be read.
    /// - Complexity: O(log rows).
    @usableFromInline
    @inline(never)
    func _relocate() -> Bool { _access.relocate(self) }

    @usableFromInline
    @inline(never)
    func _checkConfinement() { _access.instance.checkConfinement() }

    /// Calls `body` with the view and the row's location. Nil for a deleted object, if something cannot be read, and
    /// while damage of the file is known: the caller then takes its slower path, which reports what is wrong.
    @inline(__always)
    func readRow<Value>(_ body: (ReadView, RowLocation) throws(StorageError) -> Value?) -> Value? {
        if !_isOnOwnThread { _checkConfinement() }
        let frame = _frame.unsafelyUnwrapped
        let instance = _access.instance
        instance.followDamage()
        guard !instance.damage.isKnown, _stamp == frame.pointee.stamp || _relocate(), let location = _location
        else { return nil }
        return frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) { return try body(view, location) } catch { return nil }
        }
    }

    /// Calls `body` with the list or set of objects of a property, the view and the row. Nil as in ``readRow(_:)``, and
    /// for a property of another kind.
    /// - Parameter position: of the property.
    @inline(__always)
    func readLinks<Value>(
        _ position: Int, _ body: (ClassAccess.LinkList, ReadView, RowLocation) throws(StorageError) -> Value?
    ) -> Value? {
        guard let list = _access.linkList(at: position) else { return nil }
        return readRow { (view, row) throws(StorageError) in try body(list, view, row) }
    }

    /// Number of links in a list or a set of objects; nil as in ``readLinks(_:_:)``.
    func linkCount(at position: Int) -> Int? {
        readLinks(position) { (list, view, row) throws(StorageError) in
            try view.linkCount(row, RowKey(_key), list.column)
        }
    }

    /// The class of a managed object in its Realm. Stops the program for an unmanaged object.
    @inline(__always)
    var _access: ClassAccess {
        guard let frame = _frame else { fatalError("the object is not managed") }
        return frame.pointee.access._withUnsafeGuaranteedRef { $0 }
    }

    @inlinable @inline(__always)
    func _readInt(_ offset: Int) -> Int {
        if _isOnOwnThread, let bits = _heldBits(offset) { return Int(truncatingIfNeeded: bits) }
        return _readIntFar(offset)
    }

    @inlinable @inline(__always)
    func _readBool(_ offset: Int) -> Bool {
        if _isOnOwnThread, let bits = _heldBits(offset) { return bits != 0 }
        return _readBoolFar(offset)
    }

    @inlinable @inline(__always)
    func _readDouble(_ offset: Int) -> Double {
        if _isOnOwnThread, let bits = _heldBits(offset) { return Double(bitPattern: bits) }
        return _readDoubleFar(offset)
    }

    @usableFromInline
    @inline(never)
    func _readIntFar(_ offset: Int) -> Int {
        guard _isCurrent || _relocate() else { return _substitute(offset, as: Int.self) }
        guard let value = _loadInteger(offset) else { return _unreadable(offset, as: Int.self) }
        return Int(truncatingIfNeeded: value)
    }

    @usableFromInline
    @inline(never)
    func _readBoolFar(_ offset: Int) -> Bool {
        guard _isCurrent || _relocate() else { return _substitute(offset, as: Bool.self) }
        guard let value = _loadInteger(offset) else { return _unreadable(offset, as: Bool.self) }
        return value != 0
    }

    @usableFromInline
    @inline(never)
    func _readDoubleFar(_ offset: Int) -> Double {
        guard _isCurrent || _relocate() else { return _substitute(offset, as: Double.self) }
        return _loadDouble(offset) ?? _unreadable(offset, as: Double.self)
    }

    @usableFromInline
    @inline(never)
    func _readString(_ offset: Int) -> String {
        if _isOnOwnThread, let bytes = _heldBytes(offset) {
            let text = SmallString.make(bytes, isKnown: _frame.unsafelyUnwrapped.pointee.knowsSmallStrings)
            if _isIntact(offset) { return text }
        }
        guard _isCurrent || _relocate() else { return _substitute(offset, as: String.self) }
        return _loadString(offset) ?? _unreadable(offset, as: String.self)
    }

    /// An integer, or a link's key; nil if null, and after a report if it cannot be read. The caller has checked that
    /// the row's location is valid.
    @usableFromInline
    @inline(__always)
    func _loadInteger(_ offset: Int) -> Int64? {
        let column = _frame.unsafelyUnwrapped.pointee.columns[offset]
        if column < 0 { return column == ColumnSlot.key ? _key : nil }
        if let bits = _heldBits(offset) { return Int64(bitPattern: bits) }
        return _fetch(Int(column), .integer) { (view, location) throws(StorageError) in
            try view.integer(location, Int(column))
        }
    }

    @usableFromInline
    @inline(__always)
    func _loadDouble(_ offset: Int) -> Double? {
        let column = _frame.unsafelyUnwrapped.pointee.columns[offset]
        if column < 0 { return nil }
        if let bits = _heldBits(offset) { return Double(bitPattern: bits) }
        return _fetch(Int(column), .double) { (view, location) throws(StorageError) in
            try view.double(location, Int(column))
        }
    }

    /// Reads through the view. If the column's last read was in the same group, also makes a window of values for later
    /// reads.
    @inline(never)
    private func _fetch<Value>(
        _ column: Int, _ kind: SegmentKind, _ body: (ReadView, RowLocation) throws(StorageError) -> Value?
    ) -> Value? {
        let frame = _frame.unsafelyUnwrapped
        guard let location = _location else { return nil }
        return frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) {
                if !_access.instance.isFrozen { try _hold(column: column, kind: kind, in: view, at: location) }
                return try body(view, location)
            } catch {
                return _damaged(error, column)
            }
        }
    }

    @usableFromInline
    @inline(__always)
    func _loadString(_ offset: Int) -> String? {
        let column = _frame.unsafelyUnwrapped.pointee.columns[offset]
        if column < 0 { return nil }
        return _fetch(Int(column), .bytes) { (view, location) throws(StorageError) in
            try view.withBytes(location, column: Int(column)) { SmallString.make($0) }
        }
    }

    /// Calls `body` with the bytes of a column, which are borrowed from the mapping and valid during the call. Nil if
    /// the column is null, or after a report if it cannot be read.
    @inline(__always)
    func _withBytes<Value>(_ offset: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value? {
        let frame = _frame.unsafelyUnwrapped
        let column = frame.pointee.columns[offset]
        guard column >= 0, let location = _location else { return nil }
        return frame.pointee.view._withUnsafeGuaranteedRef { view in
            do throws(StorageError) { return try view.withBytes(location, column: Int(column), body) } catch {
                return _damaged(error, Int(column))
            }
        }
    }

    /// Reports an unreadable column.
    @inline(never)
    private func _damaged<Value>(_ error: StorageError, _ column: Int) -> Value? {
        _access.instance.reportDamage(self, error, column: column)
        return nil
    }

    /// What a property of a deleted object reads as: the primary key as it was captured; for any other property, after
    /// a report, the default.
    @usableFromInline
    @inline(never)
    func _substitute<Value: _Persistable>(_ offset: Int, as _: Value.Type) -> Value {
        let access = _access
        if access.isPrimaryKey(offset), let value = _capturedKey(offset, as: Value.self) { return value }
        access.instance.reportInvalidAccess(self)
        return _declaredDefault(offset, as: Value.self)
    }

    /// What a property reads as if its row exists and its value cannot be read: the default. A failed read was reported
    /// before; a null in a column that requires a value is reported here.
    @usableFromInline
    @inline(never)
    func _unreadable<Value: _Persistable>(_ offset: Int, as _: Value.Type) -> Value {
        let column = Int(_access.frame.pointee.columns[offset])
        if column >= 0 { _access.instance.reportMissing(self, column: column) }
        return _declaredDefault(offset, as: Value.self)
    }

    /// The default that the class declares for the property, else the type's ``_Persistable/_makeDefault()``. Not the
    /// initial value of a new object, which may be a new identifier or the present date.
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
        guard let frame = _frame else { fatalError("the object is not managed") }
        let column = Int(frame.pointee.columns[offset])
        // The object retains the instance, which owns the access: neither reference is counted here.
        frame.pointee.access._withUnsafeGuaranteedRef { access in
            Unmanaged.passUnretained(access.instance)._withUnsafeGuaranteedRef {
                $0.store(in: self, access: access, column: column, value: value)
            }
        }
    }
}
