/// An ordered collection of objects or plain values; duplicates are allowed.
///
///     final class Person: Object {
///         @Persisted var dogs: List<Dog>
///         @Persisted var nicknames: List<String>
///     }
///
/// Unmanaged until its owner is added. A managed list holds no elements: it reads and writes its owner's column. A
/// large list is a tree there: an element is found, inserted and removed in O(log count).
///
/// An access to a place without an element ends the program if the list is unmanaged, or if the configuration says
/// `trap`. Otherwise reads return a substitute, changes fail the write, and the handler is called.
public final class List<Element: RealmCollectionValue>: RealmCollection {
    private var unmanaged: [Element] = []
    @exclusivity(unchecked) public private(set) var _column: _CollectionColumn?
    private lazy var window = ElementWindow()

    public init() {}

    public init(_column column: _CollectionColumn) { _column = column }

    public convenience init<Elements: Sequence>(_ elements: Elements) where Elements.Element == Element {
        self.init()
        unmanaged = Array(elements)
    }

    /// Releases nested lists in a loop; the runtime would release them recursively.
    deinit {
        if Element.self == AnyRealmValue.self, !unmanaged.isEmpty { UnmanagedRelease.run(empty) }
    }

    /// Moves inner collections out of an unmanaged list in its deinit.
    func empty(into nested: inout UnmanagedRelease.Nested) {
        for case let value as AnyRealmValue in unmanaged { nested.take(value) }
        unmanaged.removeAll()
    }

    /// The owner of the property; nil while unmanaged.
    var owner: ObjectBase? { _column?.owner }
    public var realm: Realm? { _column?.owner.realm }
    public var isInvalidated: Bool { _column?.isInvalidated ?? false }

    public static func _make(_ source: ObjectSource) -> Self? {
        guard case .list(let owner, let property) = source.base else { return nil }
        return Self(_column: _CollectionColumn(owner, property))
    }

    public static func _make(_ values: _ValueSource) -> Self? { Self(_column: values.source.column) }

    public var _source: ObjectSource? { _column?.source }
    public var _values: _ValueSource? { _column.map { _ValueSource(source: ValueSource($0)) } }

    // MARK: Reading

    /// - Complexity: O(1).
    public var count: Int {
        if let owner = _column?.owner, let position = _column?.ownPosition, let links = owner.linkCount(at: position) {
            return links
        }
        return _column?.count ?? unmanaged.count
    }

    /// The element at a place. Beyond the end, the access follows `Configuration.invalidAccess`, as in ``Results``.
    /// - Complexity: O(log count); O(1) near the place that was read last.
    public subscript(position: Int) -> Element {
        get {
            if let column = _column { return column.element(at: position, window, "list") }
            return unmanaged.indices.contains(position)
                ? unmanaged[position] : _goneElement(position, unmanaged.indices)
        }
        set { replace(index: position, object: newValue) }
    }

    public var _gone: _GoneAccess {
        _column.map { _GoneAccess($0, "list") } ?? _GoneAccess(unmanaged: "unmanaged list")
    }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element {
        _gone.tell(place: position, in: bounds)
        return Element._substituteElement(_column?.context ?? .unmanaged)
    }

    /// Iterates over the present elements.
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
        _column.map { ColumnIterator($0) } ?? ColumnIterator(unmanaged)
    }

    public func _customIndexOfEquatableElement(_ element: Element) -> Int?? {
        guard let column = _column else { return ElementIdentity.place(of: element, in: unmanaged) }
        return column.knownPlace(of: element)
    }

    public func _customContainsEquatableElement(_ element: Element) -> Bool? {
        _customIndexOfEquatableElement(element).map { $0 != nil }
    }

    // MARK: Writing

    /// Changes the array while unmanaged, else the elements in the column.
    /// - Parameter needed: places that the change requires in the array; `body` checks them in the column.
    private func change(
        _ needed: NeededPlaces?, _ unmanagedChange: (inout [Element]) -> Void, _ body: (ElementEditor) -> Void
    ) {
        guard let column = _column else {
            if let place = needed?.missing(in: unmanaged.indices) { _gone.tell(place: place, in: unmanaged.indices) }
            return unmanagedChange(&unmanaged)
        }
        if let editor = ElementEditor(column) { body(editor) }
    }

    public func append(_ object: Element) {
        change(
            nil, { $0.append(object) },
            { editor in
                let value = object._encodeElement(editor.context)
                editor.insert([value], at: editor.count)
            })
    }

    public func append<Elements: Sequence>(objectsIn objects: Elements) where Elements.Element == Element {
        change(
            nil, { $0.append(contentsOf: objects) },
            { editor in
                var values: [_StoredValue] = []
                for object in objects {
                    values.append(object._encodeElement(editor.context))
                    if values.count < Self.mostAtOnce { continue }
                    editor.insert(values, at: editor.count)
                    values.removeAll(keepingCapacity: true)
                }
                if !values.isEmpty { editor.insert(values, at: editor.count) }
            })
    }

    /// The most elements of an appended sequence that are kept in memory before they are inserted.
    private static var mostAtOnce: Int { 1 << 16 }

    public func insert(_ object: Element, at index: Int) {
        change(
            .gap(index), { $0.insert(object, at: index) },
            { editor in
                let value = object._encodeElement(editor.context)
                if editor.has(.gap(index), "list") { editor.insert([value], at: index) }
            })
    }

    public func remove(at index: Int) {
        change(
            .element(index), { $0.remove(at: index) },
            { editor in if editor.has(.element(index), "list") { editor.remove(index..<(index + 1)) } })
    }

    /// Removes the first occurrence of an element, if there is one.
    public func remove(_ object: Element) {
        if let index = firstIndex(of: object) { remove(at: index) }
    }

    public func remove(atOffsets offsets: some Sequence<Int>) {
        let places = Set(offsets).sorted(by: >)
        guard let first = places.last, let last = places.first else { return }
        let needed = NeededPlaces.elements(from: first, to: last)
        change(
            needed, { elements in for place in places { elements.remove(at: place) } },
            { editor in
                guard editor.has(needed, "list") else { return }
                for range in Self.runs(places) { editor.remove(range) }
            })
    }

    /// Joins adjoining places to ranges. The places descend, and so do the ranges.
    private static func runs(_ places: [Int]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for place in places {
            if let last = ranges.last, last.lowerBound == place + 1 {
                ranges[ranges.count - 1] = place..<last.upperBound
            } else {
                ranges.append(place..<(place + 1))
            }
        }
        return ranges
    }

    /// Removes the first element, which must exist.
    public func removeFirst() { if hasElements() { remove(at: 0) } }
    public func removeFirst(_ count: Int) { remove(from: 0, to: count) }
    /// Removes the last element, which must exist.
    public func removeLast() { if hasElements() { remove(at: count - 1) } }
    public func removeLast(_ count: Int) {
        let all = self.count
        remove(from: NeededPlaces.distance(from: count, to: all), to: all)
    }

    /// Reports the access if the list is empty. The write does not fail.
    private func hasElements() -> Bool {
        if !isEmpty { return true }
        _gone.tell(place: 0, count: 0)
        return false
    }

    public func removeSubrange(_ range: Range<Int>) { remove(from: range.lowerBound, to: range.upperBound) }

    /// Removes the elements from one place to another, excluding the second. If either does not exist, or they are
    /// inverted, the write fails.
    func remove(from lower: Int, to upper: Int) {
        let needed = NeededPlaces.range(from: lower, to: upper)
        change(
            needed, { $0.removeSubrange(lower..<upper) },
            { editor in if editor.has(needed, "list") { editor.remove(lower..<upper) } })
    }

    public func removeAll() {
        change(nil, { $0.removeAll() }, { editor in editor.remove(0..<editor.count) })
    }

    /// Removes every matching element, in one change.
    public func removeAll(where matches: (Element) throws -> Bool) rethrows {
        var places: [Int] = []
        for (place, element) in enumerated() where try matches(element) { places.append(place) }
        if !places.isEmpty { remove(atOffsets: places) }
    }

    public func replace(index: Int, object: Element) {
        change(
            .element(index), { $0[index] = object },
            { editor in
                let value = object._encodeElement(editor.context)
                if editor.has(.element(index), "list") { editor.replace(index..<(index + 1), with: [value]) }
            })
    }

    /// Removes an element and inserts it at `to`, counted without it.
    public func move(from: Int, to: Int) {
        let needed = NeededPlaces.elements(from: Swift.min(from, to), to: Swift.max(from, to))
        change(
            needed, { $0.insert($0.remove(at: from), at: to) },
            { editor in
                guard editor.has(needed, "list") else { return }
                editor.move(from..<(from + 1), to: to)
            })
    }

    /// Moves several elements before the one that is at `destination` now, as a table view's editing requires.
    public func move(fromOffsets offsets: some Sequence<Int>, toOffset destination: Int) {
        let places = Set(offsets).sorted()
        guard let first = places.first, let last = places.last else { return }
        let needed = NeededPlaces.elements(from: first, to: last)
        if _column == nil, let place = NeededPlaces.gap(destination).missing(in: unmanaged.indices) {
            return _gone.tell(place: place, in: unmanaged.indices)
        }
        change(
            needed,
            { elements in
                let taken = places.map { elements[$0] }
                for place in places.reversed() { elements.remove(at: place) }
                elements.insert(contentsOf: taken, at: destination - places.count { $0 < destination })
            },
            { editor in
                guard editor.has(needed, "list"), editor.has(.gap(destination), "list") else { return }
                // Elements on either side move to the destination, those nearest to it first, so that the others keep
                // their order.
                for (index, place) in places.reversed().drop(while: { $0 >= destination }).enumerated() {
                    editor.move(place..<(place + 1), to: destination - 1 - index)
                }
                for (index, place) in places.drop(while: { $0 < destination }).enumerated() {
                    editor.move(place..<(place + 1), to: destination + index)
                }
            })
    }

    public func swapAt(_ a: Int, _ b: Int) {
        let needed = NeededPlaces.elements(from: Swift.min(a, b), to: Swift.max(a, b))
        change(
            needed, { $0.swapAt(a, b) },
            { editor in if editor.has(needed, "list") { editor.swap(a, b) } })
    }

    public func replaceSubrange<Elements: Collection>(_ range: Range<Int>, with objects: Elements)
    where Elements.Element == Element {
        replace(from: range.lowerBound, to: range.upperBound, with: objects)
    }

    /// Replaces the elements from one place to another, excluding the second. If either does not exist, or they are
    /// inverted, the write fails.
    func replace(from lower: Int, to upper: Int, with objects: some Collection<Element>) {
        let needed = NeededPlaces.range(from: lower, to: upper)
        change(
            needed, { $0.replaceSubrange(lower..<upper, with: objects) },
            { editor in
                let values = objects.map { $0._encodeElement(editor.context) }
                if editor.has(needed, "list") { editor.replace(lower..<upper, with: values) }
            })
    }
}

extension List: _ColumnCollection {
    public static func _read(_ object: ObjectBase, _ offset: Int) -> List {
        List(_column: _CollectionColumn(object, offset: offset))
    }

    public static var _elementType: _PropertyShape { Element._elementShape }
    public static var _kind: _PropertyCollection { .list }
    public var _unmanagedObjects: [ObjectBase] { unmanaged.flatMap { $0._elementObjects } }

    public func _encoded(_ context: _ElementContext, _ shape: _PropertyShape) -> [UInt8] {
        let values = _column?.contents.values ?? unmanaged.map { $0._encodeElement(context) }
        return StoredCollection(values: values).encoded(ColumnTag(shape, isPrimary: false))
    }

    public func _assign(_ other: List) {
        let elements = Array(other)
        change(
            nil, { $0 = elements },
            { editor in editor.assign(StoredCollection(values: elements.map { $0._encodeElement(editor.context) })) })
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
            guard let element = ElementConversion.member(Element.self, element) else { return false }
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
