/// An ordered collection of objects or plain values; duplicates are allowed.
///
///     final class Person: Object {
///         @Persisted var dogs: List<Dog>
///         @Persisted var nicknames: List<String>
///     }
///
/// Unmanaged until its owner is added. A managed list holds nothing: it reads and writes its owner's column. Changing
/// it rewrites the column, so append many elements at once: O(count) per change.
public final class List<Element: RealmCollectionValue>: RealmCollection {
    private var unmanaged: [Element] = []
    public private(set) var _column: _CollectionColumn?

    public init() {}

    public init(_column column: _CollectionColumn) { _column = column }

    public convenience init<Elements: Sequence>(_ elements: Elements) where Elements.Element == Element {
        self.init()
        unmanaged = Array(elements)
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

    /// The element at a place; behind the end as ``Results``.
    public subscript(position: Int) -> Element {
        get {
            guard let column = _column else { return unmanaged[position] }
            let context = column.context
            if let value = column.value(at: position) {
                return Element._decodeElement(value, context) ?? Element._substituteElement(context)
            }
            column.reportMissing(position, "list")
            return Element._substituteElement(context)
        }
        set { replace(index: position, object: newValue) }
    }

    /// Walks the elements of this moment.
    public func makeIterator() -> ColumnIterator<Element> {
        _column.map { ColumnIterator($0) } ?? ColumnIterator(unmanaged)
    }

    /// What the column holds.
    func storedValues() -> [_StoredValue] {
        _column?.contents.values ?? unmanaged.map { $0._encodeElement(.unmanaged) }
    }

    // MARK: Writing

    private func change(
        _ unmanagedChange: (inout [Element]) -> Void, _ body: (inout [_StoredValue], _ElementContext) -> Void
    ) {
        guard let column = _column else { return unmanagedChange(&unmanaged) }
        column.change { contents, context in body(&contents.values, context) }
    }

    public func append(_ object: Element) {
        change({ $0.append(object) }, { values, context in values.append(object._encodeElement(context)) })
    }

    public func append<Elements: Sequence>(objectsIn objects: Elements) where Elements.Element == Element {
        change(
            { $0.append(contentsOf: objects) },
            { values, context in values += objects.map { $0._encodeElement(context) } })
    }

    public func insert(_ object: Element, at index: Int) {
        change(
            { $0.insert(object, at: index) },
            { values, context in values.insert(object._encodeElement(context), at: index) })
    }

    public func remove(at index: Int) {
        change({ $0.remove(at: index) }, { values, _ in values.remove(at: index) })
    }

    /// Removes the first occurrence of an element; nothing when there is none.
    public func remove(_ object: Element) {
        if let index = firstIndex(of: object) { remove(at: index) }
    }

    public func remove(atOffsets offsets: some Sequence<Int>) {
        let places = Set(offsets).sorted(by: >)
        change(
            { elements in for place in places { elements.remove(at: place) } },
            { values, _ in for place in places { values.remove(at: place) } })
    }

    public func removeFirst() { if !isEmpty { remove(at: 0) } }
    public func removeFirst(_ count: Int) { removeSubrange(0..<count) }
    public func removeLast() { if !isEmpty { remove(at: count - 1) } }
    public func removeLast(_ count: Int) { removeSubrange((self.count - count)..<self.count) }

    public func removeSubrange(_ range: Range<Int>) {
        change({ $0.removeSubrange(range) }, { values, _ in values.removeSubrange(range) })
    }

    public func removeAll() {
        change({ $0.removeAll() }, { values, _ in values.removeAll() })
    }

    /// Removes every element that matches, in one change.
    public func removeAll(where matches: (Element) throws -> Bool) rethrows {
        var places: [Int] = []
        for (place, element) in enumerated() where try matches(element) { places.append(place) }
        if !places.isEmpty { remove(atOffsets: places) }
    }

    public func replace(index: Int, object: Element) {
        change({ $0[index] = object }, { values, context in values[index] = object._encodeElement(context) })
    }

    /// Takes an element out and puts it where `to` says, counted without it.
    public func move(from: Int, to: Int) {
        change(
            { $0.insert($0.remove(at: from), at: to) }, { values, _ in values.insert(values.remove(at: from), at: to) })
    }

    /// Moves several elements in front of the one that stands at `destination` now, as a table's editing asks for it.
    public func move(fromOffsets offsets: some Sequence<Int>, toOffset destination: Int) {
        let places = Set(offsets).sorted()
        func moved<Value>(_ values: inout [Value]) {
            let taken = places.map { values[$0] }
            for place in places.reversed() { values.remove(at: place) }
            values.insert(contentsOf: taken, at: destination - places.count { $0 < destination })
        }
        change({ moved(&$0) }, { values, _ in moved(&values) })
    }

    public func swapAt(_ a: Int, _ b: Int) {
        change({ $0.swapAt(a, b) }, { values, _ in values.swapAt(a, b) })
    }

    public func replaceSubrange<Elements: Collection>(_ range: Range<Int>, with objects: Elements)
    where Elements.Element == Element {
        change(
            { $0.replaceSubrange(range, with: objects) },
            { values, context in values.replaceSubrange(range, with: objects.map { $0._encodeElement(context) }) })
    }
}

extension List: _ColumnCollection {
    public static var _elementType: _PropertyShape { Element._elementShape }
    public static var _kind: _PropertyCollection { .list }
    public var _unmanagedObjects: [ObjectBase] { unmanaged.compactMap { $0._elementObject } }

    public func _encoded(_ context: _ElementContext, _ shape: _PropertyShape) -> [UInt8] {
        let values = _column?.contents.values ?? unmanaged.map { $0._encodeElement(context) }
        return StoredCollection(values: values).encoded(ColumnTag(shape, isPrimary: false))
    }

    public func _assign(_ other: List) {
        let elements = Array(other)
        change({ $0 = elements }, { values, context in values = elements.map { $0._encodeElement(context) } })
    }

    public static func _plainElement(_ value: Any?) -> _StoredValue? {
        ElementConversion.element(Element.self, value as Any)?._encodeElement(.unmanaged)
    }

    public func _mapObjects(_ convert: (ObjectBase) -> ObjectBase) -> List {
        List(map { $0._mapObject(convert) })
    }

    public func _bind(_ column: _CollectionColumn) {
        _column = column
        unmanaged.removeAll()
    }

    public func _fill(_ value: Any) -> Bool {
        guard let elements = ElementConversion.elements(value) else { return false }
        var made: [Element] = []
        for element in elements {
            guard let element = ElementConversion.element(Element.self, element) else { return false }
            made.append(element)
        }
        unmanaged = made
        return true
    }
}

extension List: ExpressibleByArrayLiteral {
    public convenience init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension List: UntypedCollection {
    var anyElements: [Any] { map { $0 as Any } }
    var anyKeys: [String] { [] }
}
