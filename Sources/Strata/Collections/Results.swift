/// The objects of a query: live, evaluated when looked at, and again after every change.
///
///     let adults = realm.objects(Person.self).where { $0.age >= 18 }.sorted(by: \.name)
///     for person in adults { ... }        // walks the matches of this moment, whatever the loop deletes
public struct Results<Element: RealmCollectionValue>: RealmCollection {
    let source: ObjectSource

    init(_ source: ObjectSource) { self.source = source }

    public var _source: ObjectSource? { source }
    public static func _make(_ source: ObjectSource) -> Results? { Results(source) }
    public var realm: Realm? { Realm(source.instance) }
    public var isInvalidated: Bool { source.isInvalidated }

    /// - Complexity: O(1) for a whole class; else that of the query, once per version.
    public var count: Int { source.count }

    /// - Complexity: as that of the first element.
    public var isEmpty: Bool { source.key(at: 0) == nil }

    /// The object at a place.
    ///
    /// Behind the end, after a deletion that the caller has not seen, it follows `Configuration.invalidAccess`: an
    /// invalidated object, or the end of the program. ``snapshot()`` is what keeps count and elements together.
    public subscript(position: Int) -> Element {
        let context = source.context
        if let key = source.key(at: position), let element = Element._decodeElement(.link(key), context) {
            return element
        }
        source.instance.report(
            source.access.name, nil,
            "index \(position) is out of range: \(source.count) \(source.access.name) are there now; "
                + "something was deleted since count was read")
        return Element._substituteElement(context)
    }

    /// Walks the matches of this moment.
    public func makeIterator() -> ResultsIterator<Element> { ResultsIterator(source, keys: source.keys()) }
}

/// Walks objects whose keys were found before.
public struct ResultsIterator<Element: RealmCollectionValue>: IteratorProtocol {
    /// Nil where there is nothing to walk.
    private let source: ObjectSource?
    private let keys: [Int64]
    private var place = 0

    init(_ source: ObjectSource?, keys: [Int64]) {
        self.source = source
        self.keys = keys
    }

    public mutating func next() -> Element? {
        guard place < keys.count, let source else { return nil }
        defer { place += 1 }
        return Element._decodeElement(.link(keys[place]), source.context)
    }
}

extension Results where Element: ObjectBase {
    /// What the results are at this moment, with the values of this moment: count and elements agree, whatever is
    /// deleted meanwhile. For tables and SwiftUI lists. `thaw()` gives an element's live object.
    public func snapshot() -> ResultsSnapshot<Element> {
        ResultsSnapshot(source.instance.frozen().flatMap { source.moved(to: $0) })
    }
}

/// A stable frame of results: elements are frozen, so that nothing on a screen changes under it.
public struct ResultsSnapshot<Element: ObjectBase>: RandomAccessCollection {
    private let source: ObjectSource?
    private let keys: [Int64]

    init(_ source: ObjectSource?) {
        self.source = source
        keys = source?.keys() ?? []
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { keys.count }

    public subscript(position: Int) -> Element {
        guard let source else { fatalError("index \(position) is out of range of an empty snapshot") }
        let context = source.context
        return Element._decodeElement(.link(keys[position]), context) ?? Element._substituteElement(context)
    }
}
