/// A type of the program that is stored as another one, if some stored values have no counterpart.
///
///     struct Address: FailableCustomPersistable {
///         let text: String
///         init?(persistedValue: String) {
///             guard persistedValue.contains("@") else { return nil }
///             text = persistedValue
///         }
///         var persistableValue: String { text }
///     }
///
/// `PersistedType` is a plain type or a class of embedded objects. A stored value without a counterpart reads as nil in
/// an optional property, and otherwise as the property's declared default. So a property that is not optional must have
/// a default, unless the type has a counterpart of what `PersistedType` reads as without a value: 0, an empty text, an
/// identifier of zeros, the beginning of 1970, or a new embedded object. Elements of a collection, which have no
/// default, are declared optional if the type has none.
public protocol FailableCustomPersistable: RealmCollectionValue, _Persistable, _OptionalPersistable, _QueryElement {
    override associatedtype PersistedType: RealmCollectionValue & _OptionalPersistable
    /// The library calls it at each read of a stored value, on the thread that reads. Nil if the value has no
    /// counterpart.
    init?(persistedValue: PersistedType)
    /// The library calls it at each write, and for comparisons in queries. If `PersistedType` is a class, each call
    /// makes a new object, since an embedded object has one owner.
    ///
    /// Objects in the value are added with its owner. A call that adds another object to the Realm while the owner's
    /// row is made fails the write.
    var persistableValue: PersistedType { get }
}

/// A type of the program that is stored as another one.
///
///     struct Celsius: CustomPersistable {
///         let degrees: Double
///         init(persistedValue: Double) { degrees = persistedValue }
///         var persistableValue: Double { degrees }
///     }
///     final class Reading: Object { @Persisted var temperature: Celsius }
public protocol CustomPersistable: FailableCustomPersistable {
    init(persistedValue: PersistedType)
}

/// The library's own requirements. Each member converts the value, and calls the member of `PersistedType`. Members
/// with `wrapped` in their name serve properties of the type `Self?`.
extension FailableCustomPersistable {
    public static var _shape: _PropertyShape { custom(PersistedType._wrappedShape) }
    /// Without the custom type: a value without a counterpart reads as nil here, so no default is required.
    public static var _wrappedShape: _PropertyShape { PersistedType._wrappedShape }
    public static var _elementShape: _PropertyShape { custom(PersistedType._elementShape) }
    public static var _releasesWhenManaged: Bool { PersistedType._releasesWhenManaged }

    /// The shape with this type in it, for which ``ClassPlan`` then requires a default or a counterpart.
    private static func custom(_ shape: _PropertyShape) -> _PropertyShape {
        var shape = shape
        shape.customType = self
        return shape
    }

    /// The counterpart of the stored type's default; nil if this type refuses it.
    /// - Parameter isNew: true for the initial value of a new object, such as a new identifier or the present date;
    ///   false for what is read without a value. A stored class has a new object in both cases.
    static func start(isNew: Bool = false) -> Self? {
        let stored: Any? =
            if let scalar = PersistedType.self as? any _Scalar.Type {
                isNew ? scalar._makeInitial() : scalar._makeDefault()
            } else {
                (PersistedType.self as? ObjectBase.Type)?.init()
            }
        return (stored as? PersistedType).flatMap { Self(persistedValue: $0) }
    }

    /// What a property without a declared default reads as if its row is damaged or deleted.
    ///
    /// A class with a property that needs such a value and has none is unusable (``ClassPlan/unusable``): the open of a
    /// file refuses it if the program names it, and otherwise leaves it out. Objects that are in no file can be made of
    /// it: their property stops the program here if it is read or stored before it is set, and the type refuses the
    /// initial value, too.
    public static func _makeDefault() -> Self {
        guard let made = start() else {
            fatalError("\(Self.self) has no value to start from; declare the property optional, or give it a default")
        }
        return made
    }

    /// The initial value in a new object; the default if this type refuses the stored type's initial value.
    public static func _makeInitial() -> Self { start(isNew: true) ?? _makeDefault() }

    public static func _read(_ object: ObjectBase, _ offset: Int) -> Self {
        guard object._isCurrent || object._relocate() else { return object._substitute(offset, as: Self.self) }
        return _load(object, offset) ?? object._unreadable(offset, as: Self.self)
    }

    /// Nil for null, for a link without a target, for a column that cannot be read (after a report), and for a stored
    /// value without a counterpart.
    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        PersistedType._load(object, offset).flatMap { Self(persistedValue: $0) }
    }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: Self) {
        PersistedType._storeWrapped(value.persistableValue, object, offset)
    }

    public static func _storeWrapped(_ value: Self, _ object: ObjectBase, _ offset: Int) {
        _write(object, offset, value)
    }

    /// `persistableValue` makes an embedded object anew for this owner, so no row of it exists before the owner's row:
    /// the encoder writes null, and sets the link when all rows exist.
    public static func _encode(_ value: Self, _ encoder: _RowEncoder, _ column: Int) {
        PersistedType._encodeWrapped(value.persistableValue, encoder, column)
    }

    public static func _encodeWrapped(_ value: Self, _ encoder: _RowEncoder, _ column: Int) {
        _encode(value, encoder, column)
    }

    /// Adds no object before the owner's row, see `_encode`.
    public static func _addWrapped(_ value: Self, _ encoder: _RowEncoder) {}

    /// Converts a value; if the type is stored as an embedded object, null gives the counterpart of a new one.
    public static func _fromAny(_ value: Any?) -> Self? {
        if let value = _flatten(value) { return _wrappedFromAny(value) }
        return PersistedType.self is ObjectBase.Type ? start(isNew: true) : nil
    }

    public static func _wrappedFromAny(_ value: Any) -> Self? {
        if let same = value as? Self { return same }
        return PersistedType._wrappedFromAny(value).flatMap { Self(persistedValue: $0) }
    }

    public static func _plain(_ value: Self) -> _StoredValue? { PersistedType._wrappedPlain(value.persistableValue) }
    public static func _wrappedPlain(_ value: Self) -> _StoredValue? { _plain(value) }
    public static func _fromPlain(_ value: _StoredValue) -> Self? { _wrappedFromPlain(value) }

    public static func _wrappedFromPlain(_ value: _StoredValue) -> Self? {
        PersistedType._wrappedFromPlain(value).flatMap { Self(persistedValue: $0) }
    }

    public static func _decodeElement(_ value: _StoredValue, _ context: _ElementContext) -> Self? {
        PersistedType._decodeElement(value, context).flatMap { Self(persistedValue: $0) }
    }

    public func _encodeElement(_ context: _ElementContext) -> _StoredValue { persistableValue._encodeElement(context) }
    public static func _substituteElement(_ context: _ElementContext) -> Self { _makeDefault() }
    /// A new embedded object that stores the value; nil if the type is stored as a plain one.
    var embeddedObject: ObjectBase? { persistableValue as? ObjectBase }
    /// The stored value for comparison by queries; nil if the type is stored as an embedded object.
    var storedConstant: _StoredValue? { PersistedType._wrappedPlain(persistableValue) }
}
