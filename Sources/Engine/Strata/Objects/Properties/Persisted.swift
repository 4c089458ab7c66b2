/// A persisted property.
///
///     final class Person: Object {
///         @Persisted(primaryKey: true) var id = 0
///         @Persisted var name = ""
///         @Persisted(indexed: true) var age: Int?
///         @Persisted(deleteRule: .cascade) var dogs: List<Dog>
///     }
///
/// The wrapper stores neither name nor column: a read finds the column by the field's offset in the object, which the
/// optimizer folds to a constant. So a read needs no dictionary and no allocation.
@propertyWrapper
@frozen
public struct Persisted<Value: _Persistable> {
    /// In an unmanaged object the property's value, nil if it was neither set nor read. In a managed one the bound
    /// collection, or the primary key as it was when the object was made; other values are not up to date. In a class's
    /// prototype the declared default.
    @usableFromInline var value: Value?
    /// ``PersistedOptions``; also gives every wrapper a size, and so an address of its own.
    @usableFromInline var options: UInt8

    @inlinable
    init(value: Value?, options: UInt8) {
        self.value = value
        self.options = options
    }

    /// The property starts with the type's own default: 0, empty, false, nil, a new identifier, now. Declared in the
    /// struct itself and not in an extension, because the compiler requires that.
    @inlinable
    public init() { self.init(value: nil, options: 0) }

    /// A declared default.
    @inlinable
    public init(wrappedValue: Value) { self.init(value: wrappedValue, options: 0) }

    /// Unavailable: reads and writes of a class's property call the static subscript instead.
    @available(*, unavailable, message: "@Persisted works in subclasses of Object only")
    public var wrappedValue: Value {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    @inlinable
    public static subscript<Owner: ObjectBase>(
        _enclosingInstance object: Owner,
        wrapped _: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Self>
    ) -> Value {
        @inline(__always)
        get {
            let field = withUnsafeMutablePointer(to: &object[keyPath: storage]) { $0 }
            if object._frame != nil { return Self._readManaged(object, object._offset(of: field)) }
            if object._owner == nil, let value = field.pointee.value { return value }
            return Self._readUnmanaged(object, field)
        }
        @inline(__always)
        set {
            let field = withUnsafeMutablePointer(to: &object[keyPath: storage]) { $0 }
            if object._frame != nil {
                Value._write(object, object._offset(of: field), newValue)
            } else {
                field.pointee.value = newValue
            }
        }
    }

    /// The four most common types call their reader directly. The optimizer folds the comparisons of types; a call
    /// through a witness table of another module would stay a call.
    @inlinable @inline(__always)
    static func _readManaged(_ object: ObjectBase, _ offset: Int) -> Value {
        if Value.self == Int.self { return _same(object._readInt(offset)) }
        if Value.self == String.self { return _same(object._readString(offset)) }
        if Value.self == Double.self { return _same(object._readDouble(offset)) }
        if Value.self == Bool.self { return _same(object._readBool(offset)) }
        return Value._read(object, offset)
    }

    /// Casts a value whose type is known to be `Value`.
    @inlinable @inline(__always)
    static func _same<Known>(_ value: Known) -> Value {
        withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: Value.self).pointee }
    }

    /// Reads a field that has no value yet, or a field of an object that records the properties of a key path.
    @usableFromInline
    static func _readUnmanaged(_ object: ObjectBase, _ field: UnsafeMutablePointer<Self>) -> Value {
        if let trace = object._owner as? KeyPathTrace {
            return trace.record(object, offset: object._offset(of: field), as: Value.self)
        }
        if let value = field.pointee.value { return value }
        let made = Value._makeInitial()
        field.pointee.value = made
        return made
    }
}

extension Persisted {
    @inlinable
    public init(indexed: Bool) { self.init(value: nil, options: indexed ? PersistedOptions.indexed : 0) }

    @inlinable
    public init(primaryKey: Bool) { self.init(value: nil, options: primaryKey ? PersistedOptions.primaryKey : 0) }

    /// - Parameter deleteRule: applied to the targets when the owner is deleted.
    @inlinable
    public init(deleteRule: DeleteRule) { self.init(value: nil, options: PersistedOptions.rule(deleteRule)) }

    @inlinable
    public init(wrappedValue: Value, indexed: Bool) {
        self.init(value: wrappedValue, options: indexed ? PersistedOptions.indexed : 0)
    }

    @inlinable
    public init(wrappedValue: Value, primaryKey: Bool) {
        self.init(value: wrappedValue, options: primaryKey ? PersistedOptions.primaryKey : 0)
    }

    /// A primary key numbered by the database: an object that is added with 0 gets the next number, from 1 on. The
    /// number of a deleted object is not given again.
    ///
    ///     @Persisted(primaryKey: true, autoIncrement: true) var id: Int
    @inlinable
    public init(primaryKey: Bool, autoIncrement: Bool) where Value: FixedWidthInteger {
        self.init(value: nil, options: PersistedOptions.key(primaryKey, autoIncrement))
    }

    @inlinable
    public init(wrappedValue: Value, primaryKey: Bool, autoIncrement: Bool) where Value: FixedWidthInteger {
        self.init(value: wrappedValue, options: PersistedOptions.key(primaryKey, autoIncrement))
    }

    /// The objects of class `Element` that link to this one by their property `originProperty`.
    @inlinable
    public init<Element>(originProperty: String) where Value == LinkingObjects<Element> {
        self.init(value: LinkingObjects<Element>(declared: originProperty), options: 0)
    }
}

/// The bits of a wrapper's `options`; bits 2 and 3 are the delete rule.
@usableFromInline
enum PersistedOptions {
    @usableFromInline static let primaryKey: UInt8 = 1
    @usableFromInline static let indexed: UInt8 = 2

    @usableFromInline static let autoIncrement: UInt8 = 32

    @usableFromInline
    static func key(_ isPrimary: Bool, _ isNumbered: Bool) -> UInt8 {
        (isPrimary ? primaryKey : 0) | (isNumbered ? autoIncrement : 0)
    }

    /// Set in the fields of a managed object whose class is `Encodable`: such a field throws when it is encoded,
    /// because it does not hold the row's value.
    static let managed: UInt8 = 16

    @usableFromInline
    static func rule(_ rule: DeleteRule) -> UInt8 { rule.rawValue << 2 }

    static func rule(in options: UInt8) -> DeleteRule { DeleteRule(rawValue: options >> 2 & 3) ?? .nullify }
}

/// Access to a wrapper of unknown value type, for schema discovery and dynamic access.
protocol PersistedField {
    static var shape: _PropertyShape { get }
    static func options(_ field: UnsafeRawPointer) -> UInt8
    /// Whether an unmanaged field has a value, or a declared default.
    static func hasValue(_ field: UnsafeMutableRawPointer) -> Bool
    /// The value of an unmanaged object's field, or its default.
    static func getAny(_ field: UnsafeMutableRawPointer) -> Any?
    /// False if the value is of another type.
    static func setAny(_ field: UnsafeMutableRawPointer, _ value: Any?) -> Bool
    static func addTargets(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder)
    /// Moves the objects of an unmanaged field out of it, if the field has the only reference to its content.
    static func takeTargets(_ field: UnsafeMutableRawPointer, into targets: inout [ObjectBase])
    static func encode(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder, _ column: Int)
    static func bind(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int)
    /// Copies the row's value into the field, where it can be read after the row's deletion.
    static func capture(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int)
    static func readAny(_ object: ObjectBase, _ offset: Int) -> Any?
    static func originProperty(_ field: UnsafeMutableRawPointer) -> String?
    /// The number of bytes at the start of the field that are the value.
    static var valueSize: Int { get }
    /// Whether the value is a reference to an object, or nil.
    static var isLink: Bool { get }
    /// An unmanaged field's value as a column stores it; nil for links and collections.
    static func stored(_ field: UnsafeMutableRawPointer) -> _StoredValue?
    /// Sets a value from a column; false if it is of another type.
    static func setStored(_ field: UnsafeMutableRawPointer, _ value: _StoredValue) -> Bool
    /// A value of any Swift type as a column stores it; nil for links, collections, and values that do not fit.
    static func plain(_ value: Any?) -> _StoredValue?
    /// As ``plain(_:)``, for an element of a collection.
    static func plainElement(_ value: Any?) -> _StoredValue?
    /// Called when the field's object becomes managed: the field no longer holds its value.
    static func markManaged(_ field: UnsafeMutableRawPointer)
    /// Whether the field has no wrapper: see PlainFields.swift.
    static var isPlain: Bool { get }
    /// Whether the field has no wrapper, and `value` is the same instance as its content.
    static func holds(_ field: UnsafeMutableRawPointer, _ value: Any) -> Bool
    /// Writes a managed object's property; false if the value is of another type.
    static func setManagedAny(_ object: ObjectBase, _ offset: Int, _ value: Any?) -> Bool
}

extension PersistedField {
    static var isLink: Bool { false }
    static func takeTargets(_ field: UnsafeMutableRawPointer, into targets: inout [ObjectBase]) {}
}

extension Persisted: PersistedField {
    static var shape: _PropertyShape { Value._shape }
    static var valueSize: Int { MemoryLayout<Value?>.size }
    static var isLink: Bool { (Value.self as? any _AnyOptional.Type)?._wrappedType is ObjectBase.Type }

    private static func typed(_ field: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Self> {
        field.assumingMemoryBound(to: Self.self)
    }

    private static func current(_ field: UnsafeMutableRawPointer) -> Value {
        let field = typed(field)
        if let value = field.pointee.value { return value }
        let made = Value._makeInitial()
        field.pointee.value = made
        return made
    }

    static func options(_ field: UnsafeRawPointer) -> UInt8 {
        field.assumingMemoryBound(to: Self.self).pointee.options
    }

    static func hasValue(_ field: UnsafeMutableRawPointer) -> Bool { typed(field).pointee.value != nil }
    static func getAny(_ field: UnsafeMutableRawPointer) -> Any? { Value._toAny(current(field)) }

    static func setAny(_ field: UnsafeMutableRawPointer, _ value: Any?) -> Bool {
        guard let value = Value._fromAny(value) else { return false }
        typed(field).pointee.value = value
        return true
    }

    static func addTargets(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder) {
        if let value = typed(field).pointee.value { Value._addTargets(value, encoder) }
    }

    static func takeTargets(_ field: UnsafeMutableRawPointer, into targets: inout [ObjectBase]) {
        guard let value = typed(field).pointee.value else { return }
        if let collection = value as? any _ColumnCollection {
            targets += collection._unmanagedObjects
        } else if let element = value as? any RealmCollectionValue {
            targets += element._elementObjects
        }
        typed(field).pointee.value = nil
    }

    static func encode(_ field: UnsafeMutableRawPointer, _ encoder: _RowEncoder, _ column: Int) {
        Value._encode(typed(field).pointee.value ?? Value._makeInitial(), encoder, column)
    }

    static func bind(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int) {
        Value._bind(&typed(field).pointee.value, object, offset)
    }

    static func capture(_ field: UnsafeMutableRawPointer, _ object: ObjectBase, _ offset: Int) {
        typed(field).pointee.value = Value._read(object, offset)
    }

    static func readAny(_ object: ObjectBase, _ offset: Int) -> Any? { Value._toAny(Value._read(object, offset)) }

    static func originProperty(_ field: UnsafeMutableRawPointer) -> String? {
        (typed(field).pointee.value as? any AnyLinkingObjects)?.propertyName
    }

    static func stored(_ field: UnsafeMutableRawPointer) -> _StoredValue? { Value._plain(current(field)) }

    static func setStored(_ field: UnsafeMutableRawPointer, _ value: _StoredValue) -> Bool {
        guard let value = Value._fromPlain(value) else { return false }
        typed(field).pointee.value = value
        return true
    }

    static var isPlain: Bool { false }
    static func holds(_ field: UnsafeMutableRawPointer, _ value: Any) -> Bool { false }
    static func plain(_ value: Any?) -> _StoredValue? { Value._fromAny(value).flatMap { Value._plain($0) } }

    static func plainElement(_ value: Any?) -> _StoredValue? {
        (Value.self as? any _ColumnCollection.Type)?._plainElement(value)
    }

    static func markManaged(_ field: UnsafeMutableRawPointer) {
        typed(field).pointee.options |= PersistedOptions.managed
    }

    static func setManagedAny(_ object: ObjectBase, _ offset: Int, _ value: Any?) -> Bool {
        guard let value = Value._fromAny(value) else { return false }
        Value._write(object, offset, value)
        return true
    }
}
