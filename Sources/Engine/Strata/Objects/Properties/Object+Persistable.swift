import StrataStorage

extension ObjectBase: _OptionalPersistable, RealmCollectionValue {
    public static var _wrappedShape: _PropertyShape {
        _PropertyShape(.object, isOptional: true, objectType: self)
    }

    public static var _elementShape: _PropertyShape { _PropertyShape(.object, objectType: self) }
    public static var _releasesWhenManaged: Bool { true }
    public var _elementObject: ObjectBase? { self }
    public func _mapObject(_ convert: (ObjectBase) -> ObjectBase) -> Self { convert(self) as? Self ?? self }

    /// The object that a link leads to; nil if there is none, or it cannot be read.
    public static func _load(_ object: ObjectBase, _ offset: Int) -> Self? {
        guard let key = object._loadInteger(offset) else { return nil }
        let access = object._access
        guard let target = access.target(of: self, offset: offset) else { return nil }
        guard let made = access.instance.materialize(target, RowKey(key)) else { return nil }
        return unsafeDowncast(made, to: self)
    }

    public static func _storeWrapped(_ value: ObjectBase, _ object: ObjectBase, _ offset: Int) {
        guard let instance = object._instance, let key = instance.linkKey(of: value) else { return }
        object._store(offset, .link(key.rawValue))
    }

    public static func _addWrapped(_ value: ObjectBase, _ encoder: _RowEncoder) { encoder.addTarget(value) }

    public static func _encodeWrapped(_ value: ObjectBase, _ encoder: _RowEncoder, _ column: Int) {
        encoder.putLink(value, column)
    }

    public static func _wrappedFromAny(_ value: Any) -> Self? {
        if let object = _object(in: value) { return object as? Self }
        let made = self.init()
        return made._assign(value) == nil ? made : nil
    }

    public static func _wrappedPlain(_ value: ObjectBase) -> _StoredValue? { nil }
    public static func _wrappedFromPlain(_ value: _StoredValue) -> Self? { nil }

    public static func _decodeElement(_ value: _StoredValue, _ context: _ElementContext) -> Self? {
        // Without `map`, which in generic code copies the value through its type's witness table.
        guard case .link(let key) = value, let made = context.materialize(key) else { return nil }
        return unsafeDowncast(made, to: self)
    }

    /// Repeats the generic version, which in code that does not know the class would look up the metadata of `Self?` at
    /// each call.
    public static func _element(_ value: _StoredValue, _ context: _ElementContext) -> Self {
        guard case .link(let key) = value, let made = context.materialize(key) else {
            return _substituteElement(context)
        }
        return unsafeDowncast(made, to: self)
    }

    public static var _isObject: Bool { true }

    public func _encodeElement(_ context: _ElementContext) -> _StoredValue {
        guard let instance = context.instance, let key = instance.linkKey(of: self) else { return .null }
        return .link(key.rawValue)
    }

    public static func _substituteElement(_ context: _ElementContext) -> Self {
        guard let instance = context.instance, let target = context.target else { return self.init() }
        return unsafeDowncast(instance.invalidObject(target, key: nil), to: self)
    }
}

/// What converts stored values to elements of a collection and back: the Realm, and the class of the linked objects. It
/// retains neither; both live as long as the collection's owner, or the results' source, which the caller retains.
public struct _ElementContext {
    private let reference: Unmanaged<RealmInstance>?
    private let targetReference: Unmanaged<ClassAccess>?

    var instance: RealmInstance? { reference?.takeUnretainedValue() }
    /// The class of the linked objects; nil if elements are no objects.
    var target: ClassAccess? { targetReference?.takeUnretainedValue() }

    /// Whether a value is a link to an unreadable row. O(1) while no damage of the file is known.
    @inline(__always)
    func isLost(_ value: _StoredValue) -> Bool {
        guard let reference, let targetReference, case .link(let key) = value else { return false }
        return reference._withUnsafeGuaranteedRef { instance in
            guard instance.damage.isKnown else { return false }
            return targetReference._withUnsafeGuaranteedRef { instance.failures.cannotRead(key, $0) }
        }
    }

    static var unmanaged: Self { Self(instance: nil, target: nil) }

    init(instance: RealmInstance?, target: ClassAccess?) {
        reference = instance.map { .passUnretained($0) }
        targetReference = target.map { .passUnretained($0) }
    }

    /// The object of a row, or an invalidated one if there is no such row. Nil for an unreadable row, and if elements
    /// are no objects.
    func materialize(_ key: Int64) -> ObjectBase? {
        guard let reference, let targetReference else { return nil }
        return reference._withUnsafeGuaranteedRef { instance in
            targetReference._withUnsafeGuaranteedRef { instance.materializeOrInvalid($0, RowKey(key)) }
        }
    }
}
