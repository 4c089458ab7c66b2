/// What lists, sets, results and linking objects have in common.
public protocol RealmCollection<Element>: _PlacedCollection, Equatable, ThreadConfined, CustomStringConvertible
where Element: RealmCollectionValue {
    /// The Realm that manages it; nil for an unmanaged list.
    var realm: Realm? { get }
    /// Whether its owner or its Realm is invalid. An invalidated collection is empty.
    var isInvalidated: Bool { get }
    /// The source of its objects for queries.
    var _source: ObjectSource? { get }
    static func _make(_ source: ObjectSource) -> Self?
    /// The source of its plain values for queries; nil for objects.
    var _values: _ValueSource? { get }
    static func _make(_ values: _ValueSource) -> Self?
}

/// The plain values of a collection. For the library's own use.
public struct _ValueSource {
    let source: ValueSource
}

extension RealmCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { count }
    /// Whether it belongs to an immutable version.
    public var isFrozen: Bool { realm?.isFrozen ?? false }
    public var _values: _ValueSource? { nil }
    public static func _make(_ values: _ValueSource) -> Self? { nil }

    public var first: Element? { _count(atMost: 1) == 0 ? nil : self[0] }
    public var last: Element? { isEmpty ? nil : self[count - 1] }

    /// 0, because an iteration that meets damage returns fewer elements than `count`, and the standard library ends the
    /// process if an iteration returns fewer elements than this estimate.
    public var underestimatedCount: Int { 0 }

    /// Used by `Array(collection)`: as many elements as an iteration returns.
    public func _copyToContiguousArray() -> ContiguousArray<Element> {
        var elements = ContiguousArray<Element>()
        // A count may be damaged, so it is not trusted for allocation.
        elements.reserveCapacity(Swift.min(count, 1 << 16))
        for element in self { elements.append(element) }
        return elements
    }

    /// The elements at several places, each once, in the order of the collection.
    public func objects(at indexes: some Sequence<Int>) -> [Element] { Set(indexes).sorted().map { self[$0] } }
}

extension RealmCollection {
    /// The place of the first equal element; nil if there is none. Text is compared bytewise.
    /// - Complexity: O(count).
    public func index(of element: Element) -> Int? { firstIndex(of: element) }
}

extension RealmCollection where Element: ObjectBase {
    /// The place of the object's row; nil if it is not in the collection.
    public func index(of object: Element) -> Int? {
        if let column = (self as? any _ColumnCollection)?._column { return column.knownPlace(of: object) ?? nil }
        guard let source = _source, object._frame != nil, !object.isInvalidated else {
            return firstIndex { $0 === object }
        }
        return source.index(of: object._key)
    }
}
