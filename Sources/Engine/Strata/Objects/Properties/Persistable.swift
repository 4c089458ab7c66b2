import StrataStorage

/// A type that `@Persisted` accepts. The library defines the conformances; applications use ``PersistableEnum``.
public protocol _Persistable: _HasPersistedType {
    static var _shape: _PropertyShape { get }
    /// What the property reads as if there is no value to read (the row is deleted or damaged), unless a default is
    /// declared.
    static func _makeDefault() -> Self
    /// The initial value in a new object, unless a default is declared: an identifier is a new one, and a date is now.
    static func _makeInitial() -> Self
    /// Reads the property of a managed object whose field is `offset` bytes from the object's start.
    static func _read(_ object: ObjectBase, _ offset: Int) -> Self
    static func _write(_ object: ObjectBase, _ offset: Int, _ value: Self)
    /// Encodes the field of an unmanaged object for a new row.
    static func _encode(_ value: Self, _ encoder: _RowEncoder, _ column: Int)
    /// Adds all objects that the field leads to, before the owner's row is written.
    static func _addTargets(_ value: Self, _ encoder: _RowEncoder)
    /// Called when the field's owner becomes managed.
    static func _bind(_ value: inout Self?, _ object: ObjectBase, _ offset: Int)
    static func _fromAny(_ value: Any?) -> Self?
    static func _toAny(_ value: Self) -> Any?
    /// The value as a column stores it; nil for links and collections, which can be stored in a Realm only.
    static func _plain(_ value: Self) -> _StoredValue?
    /// The value from a column; nil for links, collections and other types.
    static func _fromPlain(_ value: _StoredValue) -> Self?
}

extension _Persistable {
    public static func _makeInitial() -> Self { _makeDefault() }
    public static func _fromPlain(_ value: _StoredValue) -> Self? { nil }
    public static func _addTargets(_ value: Self, _ encoder: _RowEncoder) {}
    public static func _bind(_ value: inout Self?, _ object: ObjectBase, _ offset: Int) {}
    public static func _toAny(_ value: Self) -> Any? { value }
    public static func _plain(_ value: Self) -> _StoredValue? { nil }
}

/// A type of a collection's elements, and of values that queries compare.
public protocol RealmCollectionValue: Hashable, _HasPersistedType {
    static var _elementShape: _PropertyShape { get }
    /// `nil` if the stored value is of another type.
    static func _decodeElement(_ value: _StoredValue, _ context: _ElementContext) -> Self?
    func _encodeElement(_ context: _ElementContext) -> _StoredValue
    /// The result of an access to a place without an element, if the configuration's `invalidAccess` is `.substitute`.
    static func _substituteElement(_ context: _ElementContext) -> Self
    /// The decoded element, or the substitute. A requirement of the protocol, so that generic code needs no `Self?`,
    /// whose metadata would be looked up for every element.
    static func _element(_ value: _StoredValue, _ context: _ElementContext) -> Self
    /// Whether the type is a class of objects. Generic code then takes an object for an element as it is, and needs no
    /// `Self?`.
    static var _isObject: Bool { get }
    /// The object that the element is or links to.
    var _elementObject: ObjectBase? { get }
    /// All objects that it is or contains.
    var _elementObjects: [ObjectBase] { get }
    /// The same value with its objects replaced.
    func _mapObject(_ convert: (ObjectBase) -> ObjectBase) -> Self
}

extension RealmCollectionValue {
    public static func _element(_ value: _StoredValue, _ context: _ElementContext) -> Self {
        _decodeElement(value, context) ?? _substituteElement(context)
    }
    public static var _isObject: Bool { false }
    public var _elementObject: ObjectBase? { nil }
    public var _elementObjects: [ObjectBase] { _elementObject.map { [$0] } ?? [] }
    public func _mapObject(_ convert: (ObjectBase) -> ObjectBase) -> Self { self }
}

/// A value in a single column.
public protocol _Scalar: RealmCollectionValue, _Persistable, _OptionalPersistable, _QueryElement {
    associatedtype PersistedType = Self
    static var _scalarType: PropertyType { get }
    var _stored: _StoredValue { get }
    static func _from(_ value: _StoredValue) -> Self?
    /// Reads the column of an object whose row is known to exist; nil if it is null, or after a report that it cannot
    /// be read.
    static func _load(_ object: ObjectBase, _ offset: Int) -> Self?
}

/// A type of an optional property's value.
public protocol _OptionalPersistable: _HasPersistedType {
    static var _wrappedShape: _PropertyShape { get }
    static func _load(_ object: ObjectBase, _ offset: Int) -> Self?
    static func _storeWrapped(_ value: Self, _ object: ObjectBase, _ offset: Int)
    static func _encodeWrapped(_ value: Self, _ encoder: _RowEncoder, _ column: Int)
    static func _addWrapped(_ value: Self, _ encoder: _RowEncoder)
    static func _wrappedFromAny(_ value: Any) -> Self?
    static func _wrappedPlain(_ value: Self) -> _StoredValue?
    static func _wrappedFromPlain(_ value: _StoredValue) -> Self?
    /// Whether the field of an object that becomes managed releases its own value, because it refers to objects.
    static var _releasesWhenManaged: Bool { get }
}

extension _Scalar {
    public static var _shape: _PropertyShape { _PropertyShape(_scalarType) }
    public static var _elementShape: _PropertyShape { _PropertyShape(_scalarType) }
    public static var _wrappedShape: _PropertyShape { _PropertyShape(_scalarType) }
    public static var _releasesWhenManaged: Bool { false }

    @inlinable @inline(__always)
    public static func _read(_ object: ObjectBase, _ offset: Int) -> Self {
        guard object._isCurrent || object._relocate() else { return object._substitute(offset, as: Self.self) }
        return _load(object, offset) ?? object._unreadable(offset, as: Self.self)
    }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: Self) {
        object._store(offset, value._stored)
    }

    public static func _storeWrapped(_ value: Self, _ object: ObjectBase, _ offset: Int) {
        object._store(offset, value._stored)
    }

    public static func _encode(_ value: Self, _ encoder: _RowEncoder, _ column: Int) {
        encoder.put(value._stored, column)
    }

    public static func _encodeWrapped(_ value: Self, _ encoder: _RowEncoder, _ column: Int) {
        encoder.put(value._stored, column)
    }

    public static func _addWrapped(_ value: Self, _ encoder: _RowEncoder) {}
    public static func _decodeElement(_ value: _StoredValue, _ context: _ElementContext) -> Self? { _from(value) }
    public func _encodeElement(_ context: _ElementContext) -> _StoredValue { _stored }
    public static func _substituteElement(_ context: _ElementContext) -> Self { _makeDefault() }

    public static func _fromAny(_ value: Any?) -> Self? {
        if let same = value as? Self { return same }
        guard let value, let stored = _StoredValue(any: value, as: _scalarType) else { return nil }
        return _from(stored)
    }

    public static func _wrappedFromAny(_ value: Any) -> Self? { _fromAny(value) }
    public static func _plain(_ value: Self) -> _StoredValue? { value._stored }
    public static func _wrappedPlain(_ value: Self) -> _StoredValue? { value._stored }
    public static func _fromPlain(_ value: _StoredValue) -> Self? { _from(value) }
    public static func _wrappedFromPlain(_ value: _StoredValue) -> Self? { _from(value) }
}

extension Optional: _Persistable where Wrapped: _OptionalPersistable {
    public static var _shape: _PropertyShape { Wrapped._wrappedShape.optional }
    public static func _makeDefault() -> Self { nil }

    @inlinable @inline(__always)
    public static func _read(_ object: ObjectBase, _ offset: Int) -> Self {
        guard object._isCurrent || object._relocate() else { return object._substitute(offset, as: Self.self) }
        return Wrapped._load(object, offset)
    }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: Self) {
        if let value {
            Wrapped._storeWrapped(value, object, offset)
        } else {
            object._store(offset, .null)
        }
    }

    public static func _encode(_ value: Self, _ encoder: _RowEncoder, _ column: Int) {
        if let value {
            Wrapped._encodeWrapped(value, encoder, column)
        } else {
            encoder.put(.null, column)
        }
    }

    public static func _addTargets(_ value: Self, _ encoder: _RowEncoder) {
        if let value { Wrapped._addWrapped(value, encoder) }
    }

    public static func _bind(_ value: inout Self?, _ object: ObjectBase, _ offset: Int) {
        if Wrapped._releasesWhenManaged { value = nil }
    }

    public static func _fromAny(_ value: Any?) -> Self? {
        guard let value = _flatten(value) else { return .some(nil) }
        return Wrapped._wrappedFromAny(value).map { .some($0) }
    }

    public static func _toAny(_ value: Self) -> Any? { value.map { $0 as Any } }

    public static func _plain(_ value: Self) -> _StoredValue? {
        guard let value else { return .null }
        return Wrapped._wrappedPlain(value)
    }

    public static func _fromPlain(_ value: _StoredValue) -> Self? {
        value.isNull ? .some(nil) : Wrapped._wrappedFromPlain(value).map { .some($0) }
    }
}

extension Optional: RealmCollectionValue where Wrapped: RealmCollectionValue & _OptionalPersistable {
    public static var _elementShape: _PropertyShape { Wrapped._elementShape.optional }

    public static func _decodeElement(_ value: _StoredValue, _ context: _ElementContext) -> Self? {
        value.isNull ? .some(nil) : Wrapped._decodeElement(value, context).map { .some($0) }
    }

    public func _encodeElement(_ context: _ElementContext) -> _StoredValue { self?._encodeElement(context) ?? .null }
    public static func _substituteElement(_ context: _ElementContext) -> Self { nil }
    public var _elementObject: ObjectBase? { self?._elementObject }
    public var _elementObjects: [ObjectBase] { self?._elementObjects ?? [] }
    public func _mapObject(_ convert: (ObjectBase) -> ObjectBase) -> Self { map { $0._mapObject(convert) } }
}
