/// Properties in the older form of declaration, without a wrapper:
///
///     final class Person: Object {
///         let dogs = List<Dog>()
///         let owners = LinkingObjects(fromType: House.self, property: "people")
///     }
///
/// Reading such a property calls no code, so the field's content must be a view of the column once the object is
/// managed. The view holds an accessor of its own, so that object and collection do not retain each other.
extension PersistedField where Self: _ColumnCollection {
    static var isPlain: Bool { true }
    static var shape: _PropertyShape { _shape }
    static var valueSize: Int { MemoryLayout<Self>.size }
    static func options(_ field: UnsafeRawPointer) -> UInt8 { 0 }

    private static func current(_ field: UnsafeMutableRawPointer) -> Self {
        field.assumingMemoryBound(to: Self.self).pointee
    }

    static func hasValue(_ field: UnsafeMutableRawPointer) -> Bool { true }
    static func getAny(_ field: UnsafeMutableRawPointer) -> Any? { current(field) }

    static func setAny(_ field: UnsafeMutableRawPointer, _ value: Any?) -> Bool {
        guard let value = _fromAny(value) else { return false }
        current(field)._assign(value)
        return true
    }

    static func addTargets(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder) {
        _addTargets(current(field), encoder)
    }

    static func takeTargets(_ field: UnsafeMutableRawPointer, into targets: inout [ObjectBase]) {
        guard isKnownUniquelyReferenced(&field.assumingMemoryBound(to: Self.self).pointee) else { return }
        let collection = current(field)
        targets += collection._unmanagedObjects
        collection._assign(Self())
    }

    static func encode(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder, _ column: Int) {
        _encode(current(field), encoder, column)
    }

    static func bind(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int) {
        current(field)._bind(_CollectionColumn(object._bareAccessor(), offset: offset))
    }

    static func capture(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int) {}
    static func readAny(_ object: ObjectBase, _ offset: Int) -> Any? { _read(object, offset) }
    static func originProperty(_ field: UnsafeMutableRawPointer) -> String? { nil }
    static func stored(_ field: UnsafeMutableRawPointer) -> _StoredValue? { nil }
    static func setStored(_ field: UnsafeMutableRawPointer, _ value: _StoredValue) -> Bool { false }
    static func plain(_ value: Any?) -> _StoredValue? { nil }
    static func plainElement(_ value: Any?) -> _StoredValue? { _plainElement(value) }
    static func markManaged(_ field: UnsafeMutableRawPointer) {}
    static func holds(_ field: UnsafeMutableRawPointer, _ value: Any) -> Bool { value as? Self === current(field) }

    static func setManagedAny(_ object: ObjectBase, _ offset: Int, _ value: Any?) -> Bool {
        guard let value = _fromAny(value) else { return false }
        _write(object, offset, value)
        return true
    }
}

extension List: PersistedField {}
extension MutableSet: PersistedField {}
extension Map: PersistedField {}

extension LinkingObjects: PersistedField {
    static var isPlain: Bool { true }
    static var shape: _PropertyShape { _shape }
    static var valueSize: Int { MemoryLayout<Self>.size }
    static func options(_ field: UnsafeRawPointer) -> UInt8 { 0 }

    static func hasValue(_ field: UnsafeMutableRawPointer) -> Bool { true }

    private static func current(_ field: UnsafeMutableRawPointer) -> LinkingObjects {
        field.assumingMemoryBound(to: Self.self).pointee
    }

    static func getAny(_ field: UnsafeMutableRawPointer) -> Any? { current(field) }
    static func setAny(_ field: UnsafeMutableRawPointer, _ value: Any?) -> Bool { false }
    static func addTargets(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder) {}
    static func encode(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder, _ column: Int) {}

    static func bind(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int) {
        current(field).anchor?.owner = object._bareAccessor()
    }

    static func capture(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int) {}

    static func readAny(_ object: ObjectBase, _ offset: Int) -> Any? {
        LinkingObjects(object, property: current(object._field(offset)).propertyName)
    }

    static func originProperty(_ field: UnsafeMutableRawPointer) -> String? { current(field).propertyName }
    static func stored(_ field: UnsafeMutableRawPointer) -> _StoredValue? { nil }
    static func setStored(_ field: UnsafeMutableRawPointer, _ value: _StoredValue) -> Bool { false }
    static func plain(_ value: Any?) -> _StoredValue? { nil }
    static func plainElement(_ value: Any?) -> _StoredValue? { nil }
    static func markManaged(_ field: UnsafeMutableRawPointer) {}

    static func holds(_ field: UnsafeMutableRawPointer, _ value: Any) -> Bool {
        guard let anchor = (value as? LinkingObjects)?.anchor else { return false }
        return anchor === current(field).anchor
    }

    static func setManagedAny(_ object: ObjectBase, _ offset: Int, _ value: Any?) -> Bool { false }
}

/// What linking objects that were declared without a wrapper learn later: their owner, once it is managed.
final class LinkingAnchor {
    var owner: ObjectBase?
    /// The only element, while it records the properties that a key path reads.
    var traced: ObjectBase?
}

extension ObjectBase {
    /// Another accessor of the same row, without fields.
    func _bareAccessor() -> ObjectBase {
        let bare = ObjectBase()
        bare._frame = _frame
        bare._owner = _owner
        bare._key = _key
        bare._creation = _creation
        bare._birthWrite = _birthWrite
        // A frozen object's location never changes, so it is not looked up again.
        bare._location = _location
        bare._stamp = _stamp
        return bare
    }
}
