/// A type-erased collection of known elements: a list, a set, results or linking objects.
///
///     func show(_ people: AnyRealmCollection<Person>) { ... }
///     show(AnyRealmCollection(team.members))
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
    private let base: any RealmCollection<Element>

    public init<Base: RealmCollection>(_ base: Base) where Base.Element == Element { self.base = base }

    public var realm: Realm? { base.realm }
    public var isInvalidated: Bool { base.isInvalidated }
    public var count: Int { base.count }
    public func _count(atMost most: Int) -> Int { base._count(atMost: most) }
    public subscript(position: Int) -> Element { base[position] }
    public var _gone: _GoneAccess { base._gone }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element { base._goneElement(position, bounds) }
    public func makeIterator() -> AnyIterator<Element> { Self.iterator(base) }

    private static func iterator(_ base: some RealmCollection<Element>) -> AnyIterator<Element> {
        AnyIterator(base.makeIterator())
    }

    public var _source: ObjectSource? { base._source }
    public var _values: _ValueSource? { base._values }
    public static func _make(_ source: ObjectSource) -> Self? { Self(Results<Element>(source)) }
    public static func _make(_ values: _ValueSource) -> Self? { Self(Results<Element>(values.source)) }
}

extension AnyRealmCollection: Encodable where Element: Encodable {
    public func encode(to encoder: any Encoder) throws { try encodableElements().encode(to: encoder) }
}
