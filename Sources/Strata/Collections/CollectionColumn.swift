import StrataStorage

/// Where a managed list, set or map stands: its owner's row, which property, and where in values of any type.
public struct _CollectionColumn {
    let owner: ObjectBase
    /// In the properties of the owner's class.
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

    /// What the collection is.
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

    /// The same collection of the same row in a frozen instance of the version that the Realm has pinned, or in one
    /// side of a migration; nil when the row is not there.
    /// - Parameter allowsGone: whether a collection that is not there is invalidated instead.
    func moved(to instance: RealmInstance, allowsGone: Bool = false) -> _CollectionColumn? {
        guard let twin = instance.twin(of: owner) ?? (allowsGone ? instance.goneTwin(of: owner) : nil) else {
            return nil
        }
        guard let nested else { return _CollectionColumn(twin, position) }
        if let pinned = nested.pinned { return _CollectionColumn(twin, position, pinned) }
        return allowsGone ? _CollectionColumn(twin, position, NestedPlace(nil)) : nil
    }

    /// What queries go through; nil for values that are no objects.
    var source: ObjectSource? {
        context.target.map { ObjectSource($0, .list(owner, property: position)) }
    }

    // MARK: Reading

    /// Calls `body` with the collection; `otherwise` when the owner is gone or the collection is damaged.
    /// - Parameter pastDamage: answers from what can be read, once it is known that not all can.
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
            // Noting the damage has voided the place of the row.
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

    /// Whether elements are known to be lost, or to lead to rows that are.
    func isDegraded(_ instance: RealmInstance) -> Bool {
        guard instance.knowsDamage else { return false }
        if instance.failures.isDamaged(owner, column: property.column) { return true }
        guard leadsToObjects, nested == nil, let target = owner._access.target(of: property) else { return false }
        return instance.failures.readableRows(target) != nil
    }

    /// A set of values of any type as it is shown, where some of its links lead to objects that are gone; else nil.
    /// - Complexity: O(links log rows), once for a set and version.
    func shown(_ contents: CollectionContents, _ instance: RealmInstance) throws(StorageError) -> ReadableElements? {
        let known = instance.shownSet.withLock { $0 }
        if let known, known.stamp == instance.stamp, known.row == owner._key, known.table == owner._access.table,
            known.position == position
        {
            return known.places.isEmpty ? nil : known
        }
        var made = ReadableElements(
            stamp: instance.stamp, row: owner._key, table: owner._access.table, position: position)
        if let (members, places) = try contents.shownMembers() { (made.contents, made.places) = (members, places) }
        instance.shownSet.withLock { $0 = made }
        return made.places.isEmpty ? nil : made
    }

    /// What can be read of the collection.
    /// - Complexity: O(elements), once for a row and version.
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

    /// The collection as a version has it, or the running write; nil where none stands.
    func contents(_ view: ReadView, _ location: RowLocation) throws(StorageError) -> CollectionContents? {
        let property = property
        guard let nested else { return try CollectionContents(view, location, owner._key, property) }
        guard let standing = nested.standing else { return nil }
        return try CollectionContents(view, location, owner._key, column: property.column, property.tag, standing)
    }

    /// Whether the elements are rows.
    var leadsToObjects: Bool { property.tag.type == .object }

    /// - Complexity: O(contents).
    var contents: StoredCollection {
        read(StoredCollection(), pastDamage: { $0.contents }) { (contents) throws(StorageError) in try contents.all() }
    }

    /// Of a collection that is known to be damaged, the elements that can be read.
    /// - Complexity: O(1); of texts and data O(count) while they stand in the row.
    var count: Int { read(0, pastDamage: { $0.contents.values.count }) { $0.count } }

    /// The element at a place of a list or a set; what stands for it behind the end.
    /// - Parameter kind: what it is called when there is none.
    /// - Complexity: O(log count); O(1) near the place that was read last.
    func element<Element: RealmCollectionValue>(
        at place: Int, _ window: @autoclosure () -> ElementWindow, _ kind: String
    ) -> Element {
        // Several threads may read what is frozen.
        let window = owner._instance?.isFrozen == false ? window() : nil
        if let window, let value = window.value(at: place, owner) {
            return decoded(value, window.context, at: .index(place))
        }
        let context = context
        if let value = value(at: place, context, window) { return decoded(value, context, at: .index(place)) }
        _GoneAccess(self, kind).tell(place: place, count: count)
        return Element._substituteElement(context)
    }

    /// The value at a place; nil behind the end.
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
            return isThere ? try contents.element(contents.part(at: place), place) : nil
        }
    }

    /// What an element has in the column; nil for an object that cannot be in it.
    func storedElement<Element: RealmCollectionValue>(_ element: Element) -> _StoredValue? {
        guard let object = element._elementObject else { return element._encodeElement(.unmanaged) }
        guard object._frame != nil, let instance = owner._instance, object._instance?.store === instance.store,
            !object.isInvalidated
        else { return nil }
        // What has the key in one version may be another object in the next.
        if object._instance !== instance, instance.twin(of: object) == nil { return nil }
        return leadsToObjects ? .link(object._key) : element._encodeElement(.unmanaged)
    }

    /// Where an element stands first, found among stored values. The outer nil: elements are to be compared one by one,
    /// because equal ones may be stored differently.
    func knownPlace<Element: RealmCollectionValue>(of element: Element) -> Int?? {
        // Of decimals, and of an application's own types, equal ones may be stored differently.
        guard
            element is any _PersistableInteger || element is any BinaryFloatingPoint || element is Bool
                || element is ObjectBase
                || [.string, .UUID, .objectId, .data, .date].contains(Element._elementShape.type)
                    && element is any _Scalar
        else { return nil }
        return storedElement(element).map { .some(firstPlace(of: $0)) } ?? .some(nil)
    }

    /// The place of the first element that equals this value as storage compares; nil when there is none.
    /// - Complexity: O(count), over packed values.
    func firstPlace(of wanted: _StoredValue) -> Int? {
        // No test of columns finds NaN, which stands in no order.
        if case .double(let number) = wanted, number.isNaN { return contents.values.firstIndex { $0.isNaN } }
        // By bytes past damage as well: Swift's equality of texts takes two spellings for one.
        let same = DistinctValue(wanted)
        return read(nil, pastDamage: { $0.contents.values.firstIndex { DistinctValue($0) == same } }) {
            (contents) throws(StorageError) in
            try wanted.withCell { (cell) throws(StorageError) in try contents.reader.firstPlace(of: cell) }
        }
    }
}

/// The elements around the one of a list or a set that was read last: reading one of them again is a load. Others are
/// looked for in the collection that was found then, and not in its row anew.
///
/// It belongs to one version, or one moment of a write. A frozen Realm's, which several threads may read, stays empty.
///
/// Concurrency: confined with its collection.
final class ElementWindow {
    @exclusivity(unchecked) private var stamp: UInt64 = 0
    /// Borrowed, as the tree is, from what the Realm shows under the stamp.
    @exclusivity(unchecked) private var part: CollectionPart?
    /// Nil for what stands in the row, which has no other part.
    @exclusivity(unchecked) private var tree: Tree?
    @exclusivity(unchecked) private var tag = ColumnTag(_PropertyShape(.int), isPrimary: false)
    /// What values become elements with.
    @exclusivity(unchecked) fileprivate private(set) var context = _ElementContext.unmanaged

    /// In a place of its own: most collections are none, and their windows stay small.
    private final class Tree {
        let reader: CollectionReader

        init(_ reader: CollectionReader) { self.reader = reader }
    }

    /// Nil where nobody has looked since the last change, or nothing stands there that is read here.
    @inline(__always)
    fileprivate func value(at place: Int, _ owner: ObjectBase) -> _StoredValue? {
        guard let part, stamp == owner._stamp, owner._isCurrent, let view = owner._instance?.currentView
        else { return nil }
        do throws(StorageError) {
            if place >= part.first, place < part.end { return try value(in: part, place, view) }
            return try valueElsewhere(place, view)
        } catch {
            // Whoever looks for it anew reports that.
            return nil
        }
    }

    @inline(never)
    private func valueElsewhere(_ place: Int, _ view: ReadView) throws(StorageError) -> _StoredValue? {
        guard let reader = tree?.reader, place >= 0, place < reader.count else { return nil }
        let found = try reader.part(at: place)
        let value = try value(in: found, place, view)
        part = found
        return value
    }

    @inline(__always)
    private func value(in part: CollectionPart, _ place: Int, _ view: ReadView) throws(StorageError) -> _StoredValue? {
        // What leads to a tree is not read here.
        if part.isTree(at: place) { return nil }
        let value = tag.element(try part.value(at: place))
        try view.confirm()
        return value
    }

    fileprivate func show(
        _ part: CollectionPart, of contents: CollectionContents, _ context: _ElementContext, _ owner: ObjectBase
    ) {
        self.part = part
        tree = part.count < contents.count ? Tree(contents.reader) : nil
        tag = contents.tag
        self.context = context
        stamp = owner._stamp
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
        if let same = _instance(in: value, as: Self.self) { return same }
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
