import StrataStorage

/// A type that `@Persisted` accepts. Conformances are the library's; applications use ``PersistableEnum``.
public protocol _Persistable: _HasPersistedType {
    static var _shape: _PropertyShape { get }
    /// What a column without a value reads as, where nothing else is declared.
    static func _makeDefault() -> Self
    /// What the property of a new object starts as, where no default is declared: identifiers are new ones, and a date
    /// is now.
    static func _makeInitial() -> Self
    /// The property of a managed object whose field stands at `offset`.
    static func _read(_ object: ObjectBase, _ offset: Int) -> Self
    static func _write(_ object: ObjectBase, _ offset: Int, _ value: Self)
    /// Puts the field of an unmanaged object into a new row.
    static func _encode(_ value: Self, _ encoder: _RowEncoder, _ column: Int)
    /// Makes everything that the field leads to managed, before the owner's row is written.
    static func _addTargets(_ value: Self, _ encoder: _RowEncoder)
    /// The field's owner became managed.
    static func _bind(_ value: inout Self?, _ object: ObjectBase, _ offset: Int)
    static func _fromAny(_ value: Any?) -> Self?
    static func _toAny(_ value: Self) -> Any?
    /// The value as a column holds it; nil for what needs a Realm first: links and collections.
    static func _plain(_ value: Self) -> _StoredValue?
    /// The value of what a column holds; nil for links, collections and other types.
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

/// What a collection may hold, and what a query may compare.
public protocol RealmCollectionValue: Hashable, _HasPersistedType {
    static var _elementShape: _PropertyShape { get }
    /// `nil` when the stored value is of another type.
    static func _decodeElement(_ value: _StoredValue, _ context: _ElementContext) -> Self?
    func _encodeElement(_ context: _ElementContext) -> _StoredValue
    /// What an index without an element gives where the access policy says so.
    static func _substituteElement(_ context: _ElementContext) -> Self
    /// What is decoded, or else the substitute. A requirement, so that code which does not know the type asks for no
    /// optional of it: its metadata would be looked up for every element.
    static func _element(_ value: _StoredValue, _ context: _ElementContext) -> Self
    /// The object that the element is or leads to.
    var _elementObject: ObjectBase? { get }
    /// All objects that it is or leads to, which a value that holds others may several.
    var _elementObjects: [ObjectBase] { get }
    /// The same with the object replaced.
    func _mapObject(_ convert: (ObjectBase) -> ObjectBase) -> Self
}

extension RealmCollectionValue {
    public static func _element(_ value: _StoredValue, _ context: _ElementContext) -> Self {
        _decodeElement(value, context) ?? _substituteElement(context)
    }
    public var _elementObject: ObjectBase? { nil }
    public var _elementObjects: [ObjectBase] { _elementObject.map { [$0] } ?? [] }
    public func _mapObject(_ convert: (ObjectBase) -> ObjectBase) -> Self { self }
}

/// One value in one column.
public protocol _Scalar: RealmCollectionValue, _Persistable, _OptionalPersistable, _QueryElement {
    associatedtype PersistedType = Self
    static var _scalarType: PropertyType { get }
    var _stored: _StoredValue { get }
    static func _from(_ value: _StoredValue) -> Self?
    /// The column of a row that is known to be there; nil when it is null.
    static func _load(_ object: ObjectBase, _ offset: Int) -> Self?
}

/// What may stand in an optional property.
public protocol _OptionalPersistable: _HasPersistedType {
    static var _wrappedShape: _PropertyShape { get }
    static func _load(_ object: ObjectBase, _ offset: Int) -> Self?
    static func _storeWrapped(_ value: Self, _ object: ObjectBase, _ offset: Int)
    static func _encodeWrapped(_ value: Self, _ encoder: _RowEncoder, _ column: Int)
    static func _addWrapped(_ value: Self, _ encoder: _RowEncoder)
    static func _wrappedFromAny(_ value: Any) -> Self?
    static func _wrappedPlain(_ value: Self) -> _StoredValue?
    static func _wrappedFromPlain(_ value: _StoredValue) -> Self?
    /// Whether the field keeps no value of its own once its owner is managed.
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
        return _load(object, offset) ?? object._declaredDefault(offset, as: Self.self)
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
