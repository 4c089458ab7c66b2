/// The results of a query: live, evaluated when accessed, and again after every change.
///
///     let adults = realm.objects(Person.self).where { $0.age >= 18 }.sorted(by: \.name)
///     for person in adults { ... }        // walks the matches of this moment, whatever the loop deletes
public struct Results<Element: RealmCollectionValue>: RealmCollection {
    private enum Content {
        case objects(ObjectSource)
        case values(ValueSource)
    }

    private let content: Content

    init(_ source: ObjectSource) { content = .objects(source) }
    init(_ values: ValueSource) { content = .values(values) }

    /// The source of results of objects. Stops the program for results of plain values.
    var source: ObjectSource {
        guard case .objects(let source) = content else { fatalError("results of plain values hold no objects") }
        return source
    }

    public var _source: ObjectSource? {
        if case .objects(let source) = content { return source }
        return nil
    }

    public var _values: _ValueSource? {
        if case .values(let values) = content { return _ValueSource(source: values) }
        return nil
    }

    public static func _make(_ source: ObjectSource) -> Results? { Results(source) }
    public static func _make(_ values: _ValueSource) -> Results? { Results(values.source) }

    public var realm: Realm? {
        switch content {
        case .objects(let source): return Realm(source.instance)
        case .values(let values): return values.column.owner.realm
        }
    }

    public var isInvalidated: Bool {
        switch content {
        case .objects(let source): return source.isInvalidated
        case .values(let values): return values.column.isInvalidated
        }
    }

    /// - Complexity: O(1) for a whole class; else that of the query, once per version.
    public var count: Int {
        switch content {
        case .objects(let source): return source.count
        case .values(let values): return values.values.count
        }
    }

    public func _count(atMost most: Int) -> Int {
        switch content {
        case .objects(let source): return source.count(atMost: most)
        case .values: return Swift.min(count, most)
        }
    }

    /// - Complexity: as that of the first element.
    public var isEmpty: Bool {
        switch content {
        case .objects(let source): return source.key(at: 0) == nil
        case .values(let values): return values.values.isEmpty
        }
    }

    /// - Complexity: O(log n) for a whole class, also in the order of its primary key or of an ordered index. In
    ///   another order, one pass over the property. For a filter without an order, until the first rows match.
    public var first: Element? {
        guard case .objects(let source) = content else { return isEmpty ? nil : self[0] }
        return Self.element(of: source, at: 0)
    }

    /// The object at a place.
    ///
    /// Beyond the end, for example after a deletion that the caller has not seen, the access follows
    /// `Configuration.invalidAccess`: an invalidated object, or the end of the program. A ``snapshot()`` keeps count
    /// and elements consistent.
    public subscript(position: Int) -> Element {
        if Element._isObject, case .objects(let source) = content, let object = source.object(at: position) {
            return unsafeBitCast(object, to: Element.self)
        }
        return elementOrSubstitute(at: position)
    }

    /// Apart from the subscript, which would look up the metadata of `Element?` at each call.
    @inline(never)
    private func elementOrSubstitute(at position: Int) -> Element {
        switch content {
        case .objects(let source):
            if let element = Self.element(of: source, at: position) { return element }
        case .values(let source):
            let values = source.values
            if values.indices.contains(position),
                let element = Element._decodeElement(values[position], source.column.context)
            {
                return element
            }
        }
        return _goneElement(position, 0..<count)
    }

    /// As ``ObjectSource/object(at:)``, for elements that are made of an object.
    private static func element(of source: ObjectSource, at place: Int) -> Element? {
        guard let key = source.key(at: place) else { return nil }
        let context = source.context
        if let element = Element._decodeElement(.link(key), context) { return element }
        return source.key(at: place, past: key).flatMap { Element._decodeElement(.link($0), context) }
    }

    public var _gone: _GoneAccess {
        switch content {
        case .objects(let source): return source.gone("results")
        case .values(let values): return _GoneAccess(values.column, "results of")
        }
    }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element {
        _gone.tell(place: position, in: bounds)
        switch content {
        case .objects(let source): return Element._substituteElement(source.context)
        case .values(let values): return Element._substituteElement(values.column.context)
        }
    }

    /// Iterates over the present matches.
    public func makeIterator() -> ResultsIterator<Element> {
        switch content {
        case .objects(let source): return ResultsIterator(source, keys: source.keys())
        case .values(let values): return ResultsIterator(values)
        }
    }
}

/// Keys of objects, found some at a time.
protocol KeyParts {
    /// The next keys; empty at the end.
    mutating func nextKeys() -> [Int64]
}

/// Iterates over objects with known keys.
///
/// Returns a new instance for each row, or the previous one if the program has no reference to it; see docs/objects.md.
public struct ResultsIterator<Element: RealmCollectionValue>: IteratorProtocol {
    /// Nil if there are no objects, or elements are not plain objects.
    @usableFromInline let walk: ObjectWalk?
    @usableFromInline var keys: [Int64]
    @usableFromInline var place = 0
    /// Finds the keys after `keys`; nil if there are no more.
    private var more: (any KeyParts)?
    /// The source of elements that are not plain objects, such as projections.
    private let source: ObjectSource?
    /// Plain values, instead of keys.
    private let values: (source: ValueSource, found: [_StoredValue])?
    /// Few objects, whose keys were read at the start.
    @usableFromInline var short: ObjectWalk?

    init(_ source: ObjectSource?, keys: [Int64]) {
        var walk = Element.self is ObjectBase.Type ? source.map { ObjectWalk($0.access) } : nil
        #if Zoo
            if PlantedMistake.loopLive.isPlanted { walk = nil }
        #endif
        self.walk = walk
        self.source = source
        self.keys = keys
        values = nil
    }

    /// The keys are found while the iteration goes on.
    init(_ source: ObjectSource, _ more: any KeyParts) {
        self.init(source, keys: [])
        self.more = more
    }

    init(_ values: ValueSource) {
        walk = nil
        source = nil
        keys = []
        self.values = (values, values.values)
    }

    init(_ short: ObjectWalk) {
        walk = nil
        source = nil
        keys = []
        values = nil
        self.short = short
    }

    @inlinable
    public mutating func next() -> Element? {
        guard let walk else { return short == nil ? nextOther() : nextShort() }
        repeat {
            while place < keys.count {
                let key = keys[place]
                place &+= 1
                // An unreadable row is skipped, and was reported.
                if let object = walk.object(key) { return unsafeBitCast(object, to: Element.self) }
            }
        } while findMore()
        return nil
    }

    /// - Returns: false at the end.
    @usableFromInline
    mutating func findMore() -> Bool {
        guard let found = more?.nextKeys(), !found.isEmpty else { return false }
        keys = found
        place = 0
        return true
    }

    @usableFromInline
    mutating func nextOther() -> Element? {
        guard let source else { return nextValue() }
        #if Zoo
            if PlantedMistake.loopLive.isPlanted {
                guard place < keys.count else { return nil }
                defer { place += 1 }
                return source.key(at: place).flatMap { Element._decodeElement(.link($0), source.context) }
            }
        #endif
        repeat {
            while place < keys.count {
                defer { place += 1 }
                if let element = Element._decodeElement(.link(keys[place]), source.context) { return element }
            }
        } while findMore()
        return nil
    }

    @inlinable
    mutating func nextShort() -> Element? {
        if let object = nextOfShort() { return unsafeBitCast(object, to: Element.self) }
        // `nextOfShort` has released its copy of the reference, which would keep the walk from being reused.
        ObjectWalk.end(&short)
        return nil
    }

    @inlinable @inline(__always)
    mutating func nextOfShort() -> ObjectBase? {
        guard let short else { return nil }
        while place < short.count {
            let key = short.keys[place]
            place &+= 1
            if let object = short.object(key) { return object }
        }
        return nil
    }

    private mutating func nextValue() -> Element? {
        guard let values, place < values.found.count else { return nil }
        defer { place += 1 }
        let context = values.source.column.context
        return Element._element(values.found[place], context)
    }
}

extension Results where Element: ObjectBase {
    /// A frozen copy of the results: count and elements stay consistent, whatever is deleted meanwhile. For tables and
    /// SwiftUI lists. `thaw()` returns an element's live object.
    public func snapshot() -> ResultsSnapshot<Element> {
        #if Zoo
            if PlantedMistake.snapshotMoves.isPlanted { return ResultsSnapshot(source) }
        #endif
        let frozen = source.instance.twins.frozenOrEmpty()
        return ResultsSnapshot(source.moved(to: frozen, allowsGone: true) ?? source)
    }
}

/// Stable results with frozen elements, so that a displayed list does not change.
///
/// Empty for a list whose owner was deleted.
public struct ResultsSnapshot<Element: ObjectBase>: _PlacedCollection {
    private let source: ObjectSource
    private let keys: [Int64]

    init(_ source: ObjectSource) {
        self.source = source
        keys = source.keys()
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { keys.count }

    /// The object at a place. Beyond the end, the access follows `Configuration.invalidAccess`, as in ``Results``.
    public subscript(position: Int) -> Element {
        guard keys.indices.contains(position) else { return _goneElement(position, keys.indices) }
        return Element._element(.link(keys[position]), source.context)
    }

    public var _gone: _GoneAccess { source.gone("snapshot") }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element {
        _gone.tell(place: position, in: bounds)
        return Element._substituteElement(source.context)
    }

    /// Iterates over the objects in order.
    public func makeIterator() -> ResultsIterator<Element> { ResultsIterator(source, keys: keys) }
}
