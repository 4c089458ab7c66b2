/// A collection without duplicates and without an order of its own.
///
///     final class Article: Object {
///         @Persisted var tags: MutableSet<String>
///         @Persisted var authors: MutableSet<Person>
///     }
///
/// Two accessors of one row are one member. A managed set is walked in the order of its values, objects by key. It
/// holds nothing: it reads and writes its owner's column, at O(count) per change.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
    private var unmanaged: [Element] = []
    public private(set) var _column: _CollectionColumn?

    public init() {}

    public init(_column column: _CollectionColumn) { _column = column }

    public convenience init<Elements: Sequence>(_ elements: Elements) where Elements.Element == Element {
        self.init()
        for element in elements { insert(element) }
    }

    /// Whose property it is; nil while unmanaged.
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
    public var count: Int { _column?.count ?? unmanaged.count }

    /// The member at a place, as positions are now; behind the end as ``Results``.
    public subscript(position: Int) -> Element {
        guard let column = _column else { return unmanaged[position] }
        let context = column.context
        if let value = column.value(at: position) {
            return Element._decodeElement(value, context) ?? Element._substituteElement(context)
        }
        column.reportMissing(position, "set")
        return Element._substituteElement(context)
    }

    /// Walks the members of this moment.
    public func makeIterator() -> ColumnIterator<Element> {
        _column.map { ColumnIterator($0) } ?? ColumnIterator(unmanaged)
    }

    /// What the column holds.
    func storedValues() -> [_StoredValue] {
        _column?.contents.values ?? unmanaged.map { $0._encodeElement(.unmanaged) }
    }

    /// - Complexity: O(count).
    public func contains(_ object: Element) -> Bool {
        guard let column = _column else { return unmanaged.contains(object) }
        guard let value = memberValue(object, column) else { return false }
        return column.contents.place(ofMember: value).isThere
    }

    /// What a member has in the column; nil for an object that cannot be in it.
    private func memberValue(_ element: Element, _ column: _CollectionColumn) -> _StoredValue? {
        guard let object = element._elementObject else { return element._encodeElement(.unmanaged) }
        guard object._frame != nil, object._instance?.store === column.owner._instance?.store, !object.isInvalidated
        else { return nil }
        return .link(object._key)
    }

    public func isSubset(of other: some Sequence<Element>) -> Bool {
        let other = Set(other)
        return allSatisfy { other.contains($0) }
    }

    public func isSubset(of other: MutableSet<Element>) -> Bool { allSatisfy { other.contains($0) } }
    public func isSuperset(of other: MutableSet<Element>) -> Bool { other.isSubset(of: self) }
    public func intersects(_ other: MutableSet<Element>) -> Bool { contains { other.contains($0) } }

    // MARK: Writing

    private func change(
        _ unmanagedChange: (inout [Element]) -> Void, _ body: (inout StoredCollection, _ElementContext) -> Void
    ) {
        guard let column = _column else { return unmanagedChange(&unmanaged) }
        column.change(body)
    }

    /// Nothing happens when it is a member already.
    @discardableResult
    public func insert(_ object: Element) -> (inserted: Bool, memberAfterInsert: Element) {
        var inserted = false
        change(
            { members in
                inserted = !members.contains(object)
                if inserted { members.append(object) }
            },
            { contents, context in inserted = contents.insertMember(object._encodeElement(context)) })
        return (inserted, object)
    }

    /// Adds several members in one change.
    public func insert<Elements: Sequence>(objectsIn objects: Elements) where Elements.Element == Element {
        change(
            { members in for object in objects where !members.contains(object) { members.append(object) } },
            { contents, context in
                contents = .set(contents.values + objects.map { $0._encodeElement(context) })
            })
    }

    /// Nothing happens when it is no member.
    public func remove(_ object: Element) {
        change(
            { members in members.removeAll { $0 == object } },
            { contents, _ in
                if let column = _column, let value = memberValue(object, column) { contents.removeMember(value) }
            })
    }

    public func removeAll() {
        change({ $0.removeAll() }, { contents, _ in contents = StoredCollection() })
    }

    /// Adds the members of another collection.
    public func formUnion(_ other: some Sequence<Element>) { insert(objectsIn: Array(other)) }

    /// Keeps what is in the other one, too.
    public func formIntersection(_ other: some Sequence<Element>) {
        let other = Set(other)
        _assign(MutableSet(filter { other.contains($0) }))
    }

    /// Takes out what is in the other one.
    public func subtract(_ other: some Sequence<Element>) {
        let other = Set(other)
        _assign(MutableSet(filter { !other.contains($0) }))
    }
}

extension MutableSet: _ColumnCollection {
    public static var _elementType: _PropertyShape { Element._elementShape }
    public static var _kind: _PropertyCollection { .set }
    public var _unmanagedObjects: [ObjectBase] { unmanaged.compactMap { $0._elementObject } }

    public func _encoded(_ context: _ElementContext, _ shape: _PropertyShape) -> [UInt8] {
        let values = _column?.contents.values ?? unmanaged.map { $0._encodeElement(context) }
        return StoredCollection.set(values).encoded(ColumnTag(shape, isPrimary: false))
    }

    public func _assign(_ other: MutableSet) {
        let elements = Array(other)
        change({ $0 = elements }, { contents, context in contents = .set(elements.map { $0._encodeElement(context) }) })
    }

    public static func _plainElement(_ value: Any?) -> _StoredValue? {
        ElementConversion.element(Element.self, value as Any)?._encodeElement(.unmanaged)
    }

    public func _mapObjects(_ convert: (ObjectBase) -> ObjectBase) -> MutableSet {
        MutableSet(map { $0._mapObject(convert) })
    }

    public func _bind(_ column: _CollectionColumn) {
        _column = column
        unmanaged.removeAll()
    }

    public func _fill(_ value: Any) -> Bool {
        guard let elements = ElementConversion.elements(value) else { return false }
        for element in elements {
            guard let element = ElementConversion.element(Element.self, element) else { return false }
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
