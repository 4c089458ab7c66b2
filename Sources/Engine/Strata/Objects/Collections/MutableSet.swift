import StrataStorage

/// A collection without duplicates and without an order of its own.
///
///     final class Article: Object {
///         @Persisted var tags: MutableSet<String>
///         @Persisted var authors: MutableSet<Person>
///     }
///
/// Two accessors of one row are one member. A managed set is iterated in the order of its values, objects by key. It
/// holds no members: it reads and writes its owner's column. A large set is a tree there: a member is found, inserted
/// and removed in O(log count).
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
    private var unmanaged = UnmanagedMembers<Element>()
    @exclusivity(unchecked) public private(set) var _column: _CollectionColumn?
    private lazy var window = ElementWindow()

    public init() {}

    public init(_column column: _CollectionColumn) { _column = column }

    public convenience init<Elements: Sequence>(_ elements: Elements) where Elements.Element == Element {
        self.init()
        for element in elements { insert(element) }
    }

    /// The owner of the property; nil while unmanaged.
    var owner: ObjectBase? { _column?.owner }
    public var realm: Realm? { _column?.owner.realm }
    public var isInvalidated: Bool { _column?.owner.isInvalidated ?? false }

    public static func _make(_ source: ObjectSource) -> Self? {
        guard case .list(let owner, let property) = source.base else { return nil }
        return Self(_column: _CollectionColumn(owner, property))
    }

    public static func _make(_ values: _ValueSource) -> Self? { Self(_column: values.source.column) }

    public var _source: ObjectSource? { _column?.source }
    public var _values: _ValueSource? { _column.map { _ValueSource(source: ValueSource($0)) } }

    // MARK: Reading

    /// - Complexity: O(1).
    public var count: Int { _column?.count ?? unmanaged.elements.count }

    /// The member at a place. Beyond the end, the access follows `Configuration.invalidAccess`, as in ``Results``.
    public subscript(position: Int) -> Element {
        if let column = _column { return column.element(at: position, window, "set") }
        let elements = unmanaged.elements
        return elements.indices.contains(position) ? elements[position] : _goneElement(position, elements.indices)
    }

    public var _gone: _GoneAccess {
        _column.map { _GoneAccess($0, "set") } ?? _GoneAccess(unmanaged: "unmanaged set")
    }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element {
        _gone.tell(place: position, in: bounds)
        return Element._substituteElement(_column?.context ?? .unmanaged)
    }

    /// Iterates over the present members.
    @inlinable
    public func makeIterator() -> ColumnIterator<Element> {
        if Element.self is ObjectBase.Type, let walk = objectWalk() { return ColumnIterator(walk) }
        return elementIterator()
    }

    @usableFromInline
    func objectWalk() -> ObjectWalk? {
        guard let owner = _column?.owner, let position = _column?.ownPosition else { return nil }
        return ObjectWalk.along(owner, position)
    }

    @usableFromInline
    func elementIterator() -> ColumnIterator<Element> {
        _column.map { ColumnIterator($0) } ?? ColumnIterator(unmanaged.elements)
    }

    /// - Complexity: O(log count); for an unmanaged set O(1).
    public func contains(_ object: Element) -> Bool {
        guard let column = _column else { return unmanaged.place(of: object) != nil }
        guard let value = column.storedElement(object) else { return false }
        return column.read(false, pastDamage: { $0.contents.values.contains(value) }) {
            (contents) throws(StorageError) in
            try contents.place(ofMember: value).isThere
        }
    }

    public func isSubset(of other: some Sequence<Element>) -> Bool {
        let other = Set(other.map { ElementIdentity($0) })
        return allSatisfy { other.contains(ElementIdentity($0)) }
    }

    public func isSubset(of other: MutableSet<Element>) -> Bool { allSatisfy { other.contains($0) } }
    public func isSuperset(of other: MutableSet<Element>) -> Bool { other.isSubset(of: self) }
    public func intersects(_ other: MutableSet<Element>) -> Bool { contains { other.contains($0) } }

    public func _customContainsEquatableElement(_ element: Element) -> Bool? { contains(element) }

    // MARK: Writing

    /// Changes the members in memory while unmanaged, else those in the column.
    private func change(_ unmanagedChange: (inout UnmanagedMembers<Element>) -> Void, _ body: (ElementEditor) -> Void) {
        guard let column = _column else { return unmanagedChange(&unmanaged) }
        if let editor = ElementEditor(column) { body(editor) }
    }

    /// Inserts a member; has no effect if it is one already.
    @discardableResult
    public func insert(_ object: Element) -> (inserted: Bool, memberAfterInsert: Element) {
        var inserted = false
        change(
            { members in inserted = members.insert(object) },
            { editor in inserted = editor.insertMember(object._encodeElement(editor.context)) })
        return (inserted, object)
    }

    /// Inserts several members in one change.
    public func insert<Elements: Sequence>(objectsIn objects: Elements) where Elements.Element == Element {
        change(
            { members in for object in objects { members.insert(object) } },
            { editor in
                let values = objects.map { $0._encodeElement(editor.context) }
                // Many members are merged in one pass.
                if values.count > 16 && values.count > editor.count / 16 {
                    guard let known = editor.look({ (contents) throws(StorageError) in try contents.all() }) else {
                        return
                    }
                    editor.assign(.set(known.values + values))
                } else {
                    for value in values { editor.insertMember(value) }
                }
            })
    }

    /// Removes a member; has no effect if it is none.
    public func remove(_ object: Element) {
        change(
            { members in members.remove(object) },
            { editor in
                guard let value = _column?.storedElement(object),
                    let (place, isThere) = editor.look({ (contents) throws(StorageError) in
                        try contents.place(ofMember: value)
                    }), isThere
                else { return }
                editor.remove(place..<(place + 1))
            })
    }

    public func removeAll() {
        change({ $0 = UnmanagedMembers() }, { editor in editor.remove(0..<editor.count) })
    }

    /// Adds the members of another collection.
    public func formUnion(_ other: some Sequence<Element>) { insert(objectsIn: Array(other)) }

    /// Keeps the members that the other collection has, too.
    public func formIntersection(_ other: some Sequence<Element>) {
        let other = Set(other.map { ElementIdentity($0) })
        _assign(MutableSet(filter { other.contains(ElementIdentity($0)) }))
    }

    /// Removes the members of the other collection.
    public func subtract(_ other: some Sequence<Element>) {
        let other = Set(other.map { ElementIdentity($0) })
        _assign(MutableSet(filter { !other.contains(ElementIdentity($0)) }))
    }
}

extension MutableSet: _ColumnCollection {
    public static var _elementType: _PropertyShape { Element._elementShape }
    public static var _kind: _PropertyCollection { .set }
    public var _unmanagedObjects: [ObjectBase] { unmanaged.elements.compactMap { $0._elementObject } }

    public func _encoded(_ context: _ElementContext, _ shape: _PropertyShape) -> [UInt8] {
        let values = _column?.contents.values ?? unmanaged.elements.map { $0._encodeElement(context) }
        return StoredCollection.set(values).encoded(ColumnTag(shape, isPrimary: false))
    }

    public func _assign(_ other: MutableSet) {
        let elements = Array(other)
        change(
            { $0 = UnmanagedMembers(elements) },
            { editor in editor.assign(.set(elements.map { $0._encodeElement(editor.context) })) })
    }

    public static func _plainElement(_ value: Any?) -> _StoredValue? {
        ElementConversion.element(Element.self, value as Any)?._encodeElement(.unmanaged)
    }

    public func _mapObjects(_ convert: (ObjectBase) -> ObjectBase) -> MutableSet {
        MutableSet(map { $0._mapObject(convert) })
    }

    public func _bind(_ column: _CollectionColumn) {
        _column = column
        unmanaged = UnmanagedMembers()
    }

    public func _fill(_ value: Any) -> Bool {
        guard let elements = ElementConversion.elements(value) else { return false }
        for element in elements {
            guard let element = ElementConversion.member(Element.self, element) else { return false }
            insert(element)
        }
        return true
    }
}

extension MutableSet: ExpressibleByArrayLiteral {
    public convenience init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension MutableSet: UntypedCollection {
    var anyElements: [Any] { map { $0 as Any } }
    var anyKeys: [String] { [] }
}
