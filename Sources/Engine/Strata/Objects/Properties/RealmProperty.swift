import StrataStorage

/// A type of a ``RealmProperty``: optional numbers and booleans, and values of any type.
public protocol RealmPropertyType: _Persistable {
    /// Reads the column of an object whose row is known to exist.
    static func _loadProperty(_ object: ObjectBase, _ offset: Int) -> Self
}

/// A type of an optional ``RealmProperty``'s value.
public protocol RealmOptionalType: _OptionalPersistable {}

extension Int: RealmOptionalType {}
extension Int8: RealmOptionalType {}
extension Int16: RealmOptionalType {}
extension Int32: RealmOptionalType {}
extension Int64: RealmOptionalType {}
extension Float: RealmOptionalType {}
extension Double: RealmOptionalType {}
extension Bool: RealmOptionalType {}

extension Optional: RealmPropertyType where Wrapped: RealmOptionalType {
    public static func _loadProperty(_ object: ObjectBase, _ offset: Int) -> Self { Wrapped._load(object, offset) }
}

extension AnyRealmValue: RealmPropertyType {
    public static func _loadProperty(_ object: ObjectBase, _ offset: Int) -> Self { _load(object, offset) ?? .none }
}

/// A property in the older form of declaration, for types that Objective-C lacks.
///
///     final class Person: Object {
///         let age = RealmProperty<Int?>()
///         let note = RealmProperty<AnyRealmValue>()
///     }
///     person.age.value = 30
///
/// New code uses `@Persisted var age: Int?`.
public final class RealmProperty<Value: RealmPropertyType> {
    private var unmanaged = Value._makeInitial()
    /// Once the owner is managed: another accessor of its row, because a reference to the owner itself would be a
    /// cycle, and the field's offset.
    private var place: (owner: ObjectBase, offset: Int)?

    public init() {}

    public init<Wrapped>(_ value: Wrapped?) where Value == Wrapped? { unmanaged = value }

    public var value: Value {
        get {
            guard let (owner, offset) = place else { return unmanaged }
            if owner._isCurrent || owner._relocate() { return Value._loadProperty(owner, offset) }
            owner._instance?.reportInvalidAccess(owner)
            return Value._makeDefault()
        }
        set {
            guard let (owner, offset) = place else { return unmanaged = newValue }
            Value._write(owner, offset, newValue)
        }
    }
}

/// The earlier name of ``RealmProperty`` for optional numbers.
public typealias RealmOptional<Wrapped: RealmOptionalType> = RealmProperty<Wrapped?>

extension RealmProperty: Equatable where Value: Equatable {
    public static func == (a: RealmProperty, b: RealmProperty) -> Bool { a.value == b.value }
}

extension RealmProperty: CustomStringConvertible {
    public var description: String { String(describing: value) }
}

extension RealmProperty: Decodable where Value: Decodable {
    public convenience init(from decoder: any Decoder) throws {
        self.init()
        unmanaged = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension RealmProperty: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension RealmProperty: PersistedField {
    static var isPlain: Bool { true }
    static var shape: _PropertyShape { Value._shape }
    static var valueSize: Int { MemoryLayout<RealmProperty>.size }
    static func options(_ field: UnsafeRawPointer) -> UInt8 { 0 }
    static func hasValue(_ field: UnsafeMutableRawPointer) -> Bool { true }

    private static func current(_ field: UnsafeMutableRawPointer) -> RealmProperty {
        field.assumingMemoryBound(to: RealmProperty.self).pointee
    }

    static func getAny(_ field: UnsafeMutableRawPointer) -> Any? { Value._toAny(current(field).value) }

    static func setAny(_ field: UnsafeMutableRawPointer, _ value: Any?) -> Bool {
        guard let value = converted(value) else { return false }
        current(field).value = value
        return true
    }

    /// Converts a value, or the content of another object's `RealmProperty`.
    private static func converted(_ value: Any?) -> Value? {
        Value._fromAny((value as? RealmProperty).map { Value._toAny($0.value) } ?? value)
    }

    static func addTargets(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder) {
        Value._addTargets(current(field).value, encoder)
    }

    static func encode(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder, _ column: Int) {
        Value._encode(current(field).unmanaged, encoder, column)
    }

    static func bind(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int) {
        let property = current(field)
        property.place = (object._bareAccessor(), offset)
        property.unmanaged = Value._makeDefault()
    }

    static func capture(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int) {}
    static func readAny(_ object: ObjectBase, _ offset: Int) -> Any? { getAny(object._field(offset)) }
    static func originProperty(_ field: UnsafeMutableRawPointer) -> String? { nil }
    static func stored(_ field: UnsafeMutableRawPointer) -> _StoredValue? { Value._plain(current(field).value) }

    static func setStored(_ field: UnsafeMutableRawPointer, _ value: _StoredValue) -> Bool {
        guard let value = Value._fromPlain(value) else { return false }
        current(field).value = value
        return true
    }

    static func plain(_ value: Any?) -> _StoredValue? { converted(value).flatMap { Value._plain($0) } }
    static func plainElement(_ value: Any?) -> _StoredValue? { nil }
    static func markManaged(_ field: UnsafeMutableRawPointer) {}
    static func holds(_ field: UnsafeMutableRawPointer, _ value: Any) -> Bool { value as? Self === current(field) }

    static func setManagedAny(_ object: ObjectBase, _ offset: Int, _ value: Any?) -> Bool {
        guard let value = converted(value) else { return false }
        Value._write(object, offset, value)
        return true
    }
}
