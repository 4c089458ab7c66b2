import StrataStorage

/// Where a managed list, set or map stands: its owner's row, and which property.
public struct _CollectionColumn {
    let owner: ObjectBase
    /// In the properties of the owner's class.
    let position: Int

    init(_ owner: ObjectBase, _ position: Int) {
        self.owner = owner
        self.position = position
    }

    init(_ owner: ObjectBase, offset: Int) {
        self.init(owner, owner._access.position(ofOffset: offset))
    }

    var property: BoundProperty { owner._access.properties[position] }

    var context: _ElementContext {
        let property = property
        return _ElementContext(
            instance: owner._instance, target: property.tag.type == .object ? owner._access.target(of: property) : nil)
    }

    /// Whether both are the same property of the same row.
    func isSame(as other: _CollectionColumn) -> Bool {
        position == other.position && owner.isSameObject(as: other.owner)
    }

    /// The same property of the same row in another instance; nil when the row is not there.
    func moved(to instance: RealmInstance) -> _CollectionColumn? {
        guard let owner = instance.twin(of: owner) else { return nil }
        return _CollectionColumn(owner, position)
    }

    /// What queries go through; nil for values that are no objects.
    var source: ObjectSource? {
        context.target.map { ObjectSource($0, .list(owner, property: position)) }
    }

    // MARK: Reading

    /// Calls `body` with the column's bytes; `otherwise` when the owner is gone or the bytes are damaged.
    func withBytes<Value>(_ otherwise: Value, _ body: (UnsafeRawBufferPointer) -> Value?) -> Value {
        guard let instance = owner._instance else { return otherwise }
        instance.checkConfinement()
        let column = property.column
        guard column >= 0, owner._isCurrent || owner._relocate(), let view = instance.currentView,
            let location = owner._location
        else { return otherwise }
        do throws(StorageError) {
            guard let bytes = try view.bytes(location, column) else { return otherwise }
            if let value = body(bytes) { return value }
            throw view.damage(at: location)
        } catch {
            instance.reportDamage(owner, error)
            return otherwise
        }
    }

    /// Whether the elements are rows.
    var leadsToObjects: Bool { property.tag.type == .object }

    /// The rows of a collection of objects.
    /// - Complexity: O(contents).
    var keys: [Int64] { withBytes([]) { LinkPayload.Reader($0)?.links } }

    /// - Complexity: O(contents).
    var contents: StoredCollection {
        let tag = property.tag
        return withBytes(StoredCollection()) { StoredCollection($0, tag) }
    }

    /// As many as a walk finds: none where the bytes are damaged.
    /// - Complexity: O(1); of texts and data O(count), of maps and decimals O(contents).
    var count: Int {
        let tag = property.tag
        return withBytes(0) { bytes in
            if tag.collection == .map || tag.type == .decimal128 { return StoredCollection(bytes, tag)?.values.count }
            return tag.type == .object ? LinkPayload.Reader(bytes)?.count : ValueList(bytes)?.count
        }
    }

    /// The value at a place of a list or a set; nil behind the end.
    func value(at place: Int) -> _StoredValue? {
        guard place >= 0 else { return nil }
        let tag = property.tag
        return withBytes(nil) { bytes -> _StoredValue?? in
            if tag.type == .object {
                guard let reader = LinkPayload.Reader(bytes) else { return nil }
                return place < reader.count ? .link(reader[place]) : .some(nil)
            }
            if tag.type == .decimal128 {
                guard let values = StoredCollection(bytes, tag)?.values else { return nil }
                return place < values.count ? values[place] : .some(nil)
            }
            guard let list = ValueList(bytes) else { return nil }
            return place < list.count ? ListEncoding.value(list, place) : .some(nil)
        }
    }

    // MARK: Writing

    /// Rewrites the column. All changes of managed collections come through here.
    /// - Complexity: O(contents).
    func change(_ body: (inout StoredCollection, _ElementContext) -> Void) {
        guard let instance = owner._instance else { return }
        let access = owner._access
        guard let write = instance.requireWrite(access.name) else { return }
        if let error = access.tryRelocate(owner) { return write.fail(error) }
        var contents = contents
        // A place that the caller has seen may not be there in what cannot be read.
        guard write.failure == nil else { return }
        body(&contents, context)
        guard write.failure == nil else { return }
        write.store(owner, access, property.column, .bytes(contents.encoded(property.tag)))
    }

    /// Reports an index that no element has.
    func reportMissing(_ place: Int, _ kind: String) {
        owner._instance?.report(
            owner._access.name, owner._key, "index \(place) is out of range: the \(kind) has \(count) elements")
    }
}

/// What lists, sets and maps have in common as properties.
public protocol _ColumnCollection: AnyObject, _Persistable {
    init()
    init(_column: _CollectionColumn)
    /// Nil while unmanaged.
    var _column: _CollectionColumn? { get }
    static var _elementType: _PropertyShape { get }
    static var _kind: _PropertyCollection { get }
    /// The objects in it, for one that is unmanaged.
    var _unmanagedObjects: [ObjectBase] { get }
    /// Its contents as a column has them; objects that are not managed are added.
    func _encoded(_ context: _ElementContext, _ tag: _PropertyShape) -> [UInt8]
    /// Makes it hold what `other` does.
    func _assign(_ other: Self)
    /// Its owner became managed: the contents are in the column now.
    func _bind(_ column: _CollectionColumn)
    /// Takes contents while unmanaged; false when they do not fit.
    func _fill(_ value: Any) -> Bool
    /// An element of any Swift type as a column holds it; nil for objects, and when it does not fit.
    static func _plainElement(_ value: Any?) -> _StoredValue?
    /// An unmanaged one with every object replaced.
    func _mapObjects(_ convert: (ObjectBase) -> ObjectBase) -> Self
}

extension _ColumnCollection {
    var elementCount: Int { (self as? any UntypedCollection)?.anyElements.count ?? 0 }

    /// An unmanaged one with the same elements.
    func copied() -> Self {
        let copy = Self()
        copy._assign(self)
        return copy
    }

    public static var _shape: _PropertyShape {
        var shape = _elementType
        shape.collection = _kind
        return shape
    }

    public static func _makeDefault() -> Self { Self() }

    public static func _read(_ object: ObjectBase, _ offset: Int) -> Self {
        Self(_column: _CollectionColumn(object, offset: offset))
    }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: Self) {
        let column = _CollectionColumn(object, offset: offset)
        if let known = value._column, known.isSame(as: column) { return }
        Self(_column: column)._assign(value)
    }

    public static func _encode(_ value: Self, _ encoder: _RowEncoder, _ column: Int) {
        encoder.putCollection(value, column)
    }

    public static func _addTargets(_ value: Self, _ encoder: _RowEncoder) {
        guard _elementType.type == .object || _elementType.type == .any, value._column == nil else { return }
        for object in value._unmanagedObjects { encoder.addTarget(object) }
    }

    /// The program may hold the collection of the time before: it becomes a view of the column. The object lets go of
    /// it, so that the two do not keep each other alive.
    public static func _bind(_ value: inout Self?, _ object: ObjectBase, _ offset: Int) {
        value?._bind(_CollectionColumn(object, offset: offset))
        value = nil
    }

    public static func _fromAny(_ value: Any?) -> Self? {
        guard let value = _flatten(value) else { return Self() }
        if let same = value as? Self { return same }
        let made = Self()
        return made._fill(value) ? made : nil
    }
}

/// A collection whose element type is not known.
protocol UntypedCollection {
    /// Elements of a list or a set; values of a map.
    var anyElements: [Any] { get }
    /// Of a map.
    var anyKeys: [String] { get }
    var holdsObjects: Bool { get }
}

extension UntypedCollection where Self: _ColumnCollection {
    var holdsObjects: Bool { Self._elementType.type == .object }
}

/// Makes elements of what dictionaries, arrays and JSON have.
enum ElementConversion {
    static func element<Element: RealmCollectionValue>(_: Element.Type, _ value: Any) -> Element? {
        if let type = Element.self as? any _Persistable.Type, _flatten(value) == nil {
            return type._fromAny(nil) as? Element
        }
        if let same = value as? Element { return same }
        if let type = Element.self as? any _Persistable.Type { return type._fromAny(value) as? Element }
        if let type = Element.self as? ObjectBase.Type { return type._wrappedFromAny(value) as? Element }
        return nil
    }

    /// The elements of anything that has some.
    static func elements(_ value: Any) -> [Any]? {
        if let collection = value as? any UntypedCollection { return collection.anyElements }
        if let array = value as? [Any] { return array }
        if value is String || value is [String: Any] || value is any EndlessSequence { return nil }
        return (value as? any Sequence).map { sequence in sequence.map { $0 as Any } }
    }

    /// The entries of anything that has keys.
    static func entries(_ value: Any) -> [(String, Any)]? {
        if let map = value as? any UntypedCollection {
            return map.anyKeys.isEmpty && !map.anyElements.isEmpty ? nil : Array(zip(map.anyKeys, map.anyElements))
        }
        return (value as? [String: Any])?.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
