import StrataStorage

/// Location of a managed list, set or map: its owner, the property, and the steps through values of any type.
public struct _CollectionColumn {
    let owner: ObjectBase
    /// Index in the properties of the owner's class.
    let position: Int
    /// Nil for the property's own collection.
    let nested: NestedPlace?

    init(_ owner: ObjectBase, _ position: Int, _ nested: NestedPlace? = nil) {
        self.owner = owner
        self.position = position
        self.nested = nested
    }

    init(_ owner: ObjectBase, offset: Int) {
        self.init(owner, owner._access.position(ofOffset: offset))
    }

    var property: BoundProperty { owner._access.properties[position] }

    /// Type of the collection.
    var tag: ColumnTag {
        guard let nested else { return property.tag }
        return .nested(isKeyed: nested.standing?.isKeyed ?? false)
    }

    var context: _ElementContext {
        let property = property
        guard property.tag.type == .object, let target = owner._access.target(of: property),
            target.plan != nil || owner._access.plan == nil
        else { return _ElementContext(instance: owner._instance, target: nil) }
        return _ElementContext(instance: owner._instance, target: target)
    }

    /// Whether both are the same collection of the same row.
    func isSame(as other: _CollectionColumn) -> Bool {
        guard position == other.position, owner.isSameObject(as: other.owner) else { return false }
        if nested === other.nested { return true }
        return nested?.standing != nil && nested?.standing == other.nested?.standing
    }

    /// The same collection in a frozen instance of the pinned version, or in the other side of a migration; nil if the
    /// row does not exist there.
    /// - Parameter allowsGone: return an invalidated collection instead of nil.
    func moved(to instance: RealmInstance, allowsGone: Bool = false) -> _CollectionColumn? {
        guard let twin = instance.twin(of: owner) ?? (allowsGone ? instance.goneTwin(of: owner) : nil) else {
            return nil
        }
        guard let nested else { return _CollectionColumn(twin, position) }
        if let pinned = nested.pinned { return _CollectionColumn(twin, position, pinned) }
        return allowsGone ? _CollectionColumn(twin, position, NestedPlace(nil)) : nil
    }

    /// The source for queries; nil for values that are no objects.
    var source: ObjectSource? {
        context.target.map { ObjectSource($0, .list(owner, property: position)) }
    }

    // MARK: Reading

    /// Calls `body` with the collection; returns `otherwise` if the owner was deleted or the collection is damaged.
    /// - Parameter pastDamage: called with the readable elements instead of `body`, if the collection is known to be
    ///   damaged; also with the visible members of a set of values of any type that links to deleted objects.
    func read<Value>(
        _ otherwise: Value, pastDamage: ((ReadableElements) -> Value)? = nil,
        _ body: (CollectionContents) throws(StorageError) -> Value
    ) -> Value {
        guard let instance = owner._instance else { return otherwise }
        instance.checkConfinement()
        instance.followDamage()
        guard owner._isCurrent || owner._relocate(), let view = instance.currentView, let location = owner._location
        else { return otherwise }
        do throws(StorageError) {
            guard let contents = try contents(view, location) else { return otherwise }
            if let pastDamage {
                if isDegraded(instance) { return pastDamage(readable(contents, instance)) }
                if contents.tag.isSetOfAny, let shown = try shown(contents, instance) { return pastDamage(shown) }
            }
            return try body(contents)
        } catch {
            instance.reportDamage(owner, error, column: property.column)
            guard let pastDamage, error.isUnreadable else { return otherwise }
            // Noting the damage has invalidated the row's location.
            guard owner._isCurrent || owner._relocate(), let view = instance.currentView, let place = owner._location
            else { return otherwise }
            do throws(StorageError) {
                guard let contents = try contents(view, place) else { return otherwise }
                return pastDamage(readable(contents, instance))
            } catch {
                return otherwise
            }
        }
    }

    /// Whether elements, or the rows they link to, are known to be lost.
    func isDegraded(_ instance: RealmInstance) -> Bool {
        guard instance.damage.isKnown else { return false }
        if instance.failures.isDamaged(owner, column: property.column) { return true }
        guard leadsToObjects, nested == nil, let target = owner._access.target(of: property) else { return false }
        return instance.failures.readableRows(target) != nil
    }

    /// The visible members of a set of values of any type, if any of its links lead to deleted objects; else nil.
    /// - Complexity: O(links log rows), once per set and version.
    func shown(_ contents: CollectionContents, _ instance: RealmInstance) throws(StorageError) -> ReadableElements? {
        let known = instance.failures.shownSet.withLock { $0 }
        if let known, known.stamp == instance.stamp, known.row == owner._key, known.table == owner._access.table,
            known.position == position
        {
            return known.places.isEmpty ? nil : known
        }
        var made = ReadableElements(
            stamp: instance.stamp, row: owner._key, table: owner._access.table, position: position)
        if let (members, places) = try contents.shownMembers() { (made.contents, made.places) = (members, places) }
        instance.failures.shownSet.withLock { $0 = made }
        return made.places.isEmpty ? nil : made
    }

    /// The readable elements of the collection.
    /// - Complexity: O(elements), once per row and version.
    private func readable(_ contents: CollectionContents, _ instance: RealmInstance) -> ReadableElements {
        if nested == nil, !instance.isShared, let known = instance.failures.lastCollection,
            known.stamp == instance.stamp, known.row == owner._key, known.table == owner._access.table,
            known.position == position
        {
            return known
        }
        let made = ReadableElements(self, contents, isWhole: true, in: instance)
        if nested == nil, !instance.isShared, made.stamp == instance.stamp { instance.failures.lastCollection = made }
        return made
    }

    /// The collection in a version, or in the running write; nil if there is none at its location.
    func contents(_ view: ReadView, _ location: RowLocation) throws(StorageError) -> CollectionContents? {
        let property = property
        guard let nested else { return try CollectionContents(view, at: location, key: owner._key, property: property) }
        guard let standing = nested.standing else { return nil }
        return try CollectionContents(
            view, at: location, key: owner._key, column: property.column, tag: property.tag, standing: standing)
    }

    /// Whether the elements are objects.
    var leadsToObjects: Bool { property.tag.type == .object }

    /// - Complexity: O(contents).
    var contents: StoredCollection {
        read(StoredCollection(), pastDamage: { $0.contents }) { (contents) throws(StorageError) in try contents.all() }
    }

    /// Number of elements; of readable ones if the collection is known to be damaged.
    /// - Complexity: O(1); for texts and data O(count) while they are stored in the row.
    var count: Int { linkCount ?? read(0, pastDamage: { $0.contents.values.count }) { $0.count } }

    private var linkCount: Int? { ownPosition.flatMap { owner.linkCount(at: $0) } }

    /// Index of the property whose own collection it is; nil for one inside of values of any type.
    @inline(__always)
    var ownPosition: Int? { nested == nil ? position : nil }

    /// The element at a place of a list or a set; a substitute beyond the end.
    /// - Parameter kind: name of the collection in messages.
    /// - Complexity: O(log count); O(1) near the last read place.
    func element<Element: RealmCollectionValue>(
        at place: Int, _ window: @autoclosure () -> ElementWindow, _ kind: String
    ) -> Element {
        // Several threads may read a frozen collection.
        let window = owner._instance?.isFrozen == false ? window() : nil
        if let window, let value = window.value(at: place, owner) {
            return decoded(value, window.context, at: .index(place))
        }
        let context = context
        if let value = value(at: place, context, window) { return decoded(value, context, at: .index(place)) }
        _GoneAccess(self, kind).tell(place: place, count: count)
        return Element._substituteElement(context)
    }

    /// The value at a place; nil beyond the end.
    private func value(at place: Int, _ context: _ElementContext, _ window: ElementWindow?) -> _StoredValue? {
        if place < 0 { return nil }
        func pastDamage(_ known: ReadableElements) -> _StoredValue? {
            place < known.contents.values.count ? known.contents.values[place] : nil
        }
        return read(nil, pastDamage: pastDamage) { (contents) throws(StorageError) in
            guard place < contents.count else { return nil }
            let part = try contents.part(at: place)
            let value = try contents.element(part, place)
            try contents.view.confirm()
            window?.show(part, of: contents, context, owner)
            return value
        }
    }

    /// The value of a map's key.
    /// - Complexity: O(log count).
    func value(forKey key: String) -> _StoredValue? {
        func pastDamage(_ known: ReadableElements) -> _StoredValue? {
            known.contents.keys.firstIndex(of: key).map { known.contents.values[$0] }
        }
        return read(nil, pastDamage: pastDamage) { (contents) throws(StorageError) in
            let (place, isThere) = try contents.place(ofKey: key)
            guard isThere else { return nil }
            let value = try contents.element(contents.part(at: place), place)
            try contents.view.confirm()
            return value
        }
    }

    /// The stored form of an element; nil for an object that cannot be in the column.
    func storedElement<Element: RealmCollectionValue>(_ element: Element) -> _StoredValue? {
        guard let object = element._elementObject else { return element._encodeElement(.unmanaged) }
        guard object._frame != nil, let instance = owner._instance,
            object._instance?.file.store === instance.file.store,
            !object.isInvalidated
        else { return nil }
        // The same key may belong to another object in another version.
        if object._instance !== instance, instance.twin(of: object) == nil { return nil }
        return leadsToObjects ? .link(object._key) : element._encodeElement(.unmanaged)
    }

    /// The first place of an element, searched among stored values; nil if there is none. The outer nil says that equal
    /// elements may be stored differently, so that the caller has to compare them one by one.
    func knownPlace<Element: RealmCollectionValue>(of element: Element) -> Int?? {
        // Decimals and an application's own types may have several stored forms of equal values.
        guard
            element is any _PersistableInteger || element is any BinaryFloatingPoint || element is Bool
                || element is ObjectBase
                || [.string, .UUID, .objectId, .data, .date].contains(Element._elementShape.type)
                    && element is any _Scalar
        else { return nil }
        return storedElement(element).map { .some(firstPlace(of: $0)) } ?? .some(nil)
    }

    /// The place of the first element that storage finds equal; nil if there is none.
    /// - Complexity: O(count), on packed values.
    func firstPlace(of wanted: _StoredValue) -> Int? {
        // Column tests do not find NaN, which has no order.
        if case .double(let number) = wanted, number.isNaN { return contents.values.firstIndex { $0.isNaN } }
        // Compares bytes also in damaged collections: Swift treats canonically equivalent texts as equal.
        let same = DistinctValue(wanted)
        return read(nil, pastDamage: { $0.contents.values.firstIndex { DistinctValue($0) == same } }) {
            (contents) throws(StorageError) in
            try wanted.withCell { (cell) throws(StorageError) in try contents.reader.firstPlace(of: cell) }
        }
    }
}

/// What lists, sets and maps have in common as the values of properties.
public protocol _ColumnCollection: AnyObject, _Persistable {
    init()
    init(_column: _CollectionColumn)
    /// Nil while unmanaged.
    var _column: _CollectionColumn? { get }
    static var _elementType: _PropertyShape { get }
    static var _kind: _PropertyCollection { get }
    /// The objects in an unmanaged collection.
    var _unmanagedObjects: [ObjectBase] { get }
    /// The contents in stored form; unmanaged objects in them are added to the Realm.
    func _encoded(_ context: _ElementContext, _ tag: _PropertyShape) -> [UInt8]
    /// Replaces the contents by those of `other`.
    func _assign(_ other: Self)
    /// Called when its owner becomes managed: the contents are in the column from now on.
    func _bind(_ column: _CollectionColumn)
    /// Sets the contents while unmanaged; false if they do not fit.
    func _fill(_ value: Any) -> Bool
    /// An element of any Swift type in stored form; nil for objects, and for values that do not fit.
    static func _plainElement(_ value: Any?) -> _StoredValue?
    /// An unmanaged copy with every object replaced.
    func _mapObjects(_ convert: (ObjectBase) -> ObjectBase) -> Self
}

extension _ColumnCollection {
    var elementCount: Int { (self as? any UntypedCollection)?.anyElements.count ?? 0 }

    /// An unmanaged copy with the same elements.
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

    /// The program may still hold the unmanaged collection, which becomes a view of the column. The object releases it,
    /// so that the two do not retain each other.
    public static func _bind(_ value: inout Self?, _ object: ObjectBase, _ offset: Int) {
        value?._bind(_CollectionColumn(object, offset: offset))
        value = nil
    }

    public static func _fromAny(_ value: Any?) -> Self? {
        guard let value = _flatten(value) else { return Self() }
        if let same = _instance(in: value, as: Self.self) { return same }
        let made = Self()
        return made._fill(value) ? made : nil
    }
}

/// A collection of unknown element type.
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
