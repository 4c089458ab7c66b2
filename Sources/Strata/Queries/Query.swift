/// An expression over the properties of the objects that a query looks at.
///
///     results.where { $0.age >= 3 && ($0.name.starts(with: "T") || $0.owners.name == "Alice") }
///
/// A collection on the way means any of its values; `.all` and `.none` say otherwise, `.count`, `.min`, `.max`, `.sum`
/// and `.avg` make one value of them, and a condition on the elements of one collection can be counted:
///
///     results.where { ($0.dogs.age > 3 && $0.dogs.name == "Taro").count >= 2 }
@dynamicMemberLookup
public struct Query<Value> {
    enum Node {
        case expression(Predicate.Expression, Predicate.Quantifier?)
        case predicate(Predicate)
    }

    let node: Node

    init(_ node: Node) { self.node = node }

    init(_ path: Predicate.Path, _ quantifier: Predicate.Quantifier? = nil) {
        node = .expression(.path(path), quantifier)
    }

    static func path(_ names: [String]) -> Query { Query(Predicate.Path(names: names)) }

    /// The path that the expression is; stops the program for one that was counted or compared already.
    var path: Predicate.Path {
        if case .expression(.path(let path), _) = node { return path }
        fatalError("a condition or a count has no properties of its own")
    }

    var names: [String] { path.names }

    var expression: Predicate.Expression {
        if case .expression(let expression, _) = node { return expression }
        fatalError("a condition cannot be compared; combine conditions with && and ||")
    }

    var quantifier: Predicate.Quantifier? {
        if case .expression(_, let quantifier) = node { return quantifier }
        return nil
    }

    /// The condition; a boolean property by itself means that it is true.
    var predicate: Predicate {
        if case .predicate(let predicate) = node { return predicate }
        return comparison(.equal, .value(.init(.integer(1), .bool)))
    }

    func comparison(
        _ comparator: Predicate.Comparator, _ value: Predicate.Expression, _ options: TextOptions = []
    ) -> Predicate {
        var comparison = Predicate.Comparison(left: expression, comparator: comparator, right: value)
        comparison.quantifier = quantifier ?? .any
        comparison.isQuantified = quantifier != nil
        comparison.options = options
        return .comparison(comparison)
    }

    func compare(
        _ comparator: Predicate.Comparator, _ value: Predicate.Expression, _ options: TextOptions = []
    ) -> Query<Bool> {
        Query<Bool>(.predicate(comparison(comparator, value, options)))
    }

    func compare(
        _ comparator: Predicate.Comparator, _ value: _StoredValue, _ options: TextOptions = []
    ) -> Query<Bool> {
        compare(comparator, .value(.init(value)), options)
    }

    func aggregate<Result>(_ aggregate: Predicate.Aggregate) -> Query<Result> {
        Query<Result>(.expression(.aggregate(path, aggregate), nil))
    }

    /// The property behind this one.
    func member<Member>(_ names: [String]) -> Query<Member> {
        var path = path
        path.names += names
        return Query<Member>(path, quantifier)
    }
}

// MARK: Properties

extension Query where Value: ObjectBase {
    public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Query<Member> {
        self.member(KeyPathTrace.names(of: member))
    }
}

extension Query {
    public subscript<Target: ObjectBase, Member>(dynamicMember member: KeyPath<Target, Member>) -> Query<Member>
    where Value == Target? {
        self.member(KeyPathTrace.names(of: member))
    }
}

extension Query where Value: RealmCollection, Value.Element: ObjectBase {
    /// Any of the objects.
    public subscript<Member>(dynamicMember member: KeyPath<Value.Element, Member>) -> Query<Member> {
        let names = KeyPathTrace.names(of: member)
        var path = path
        if path.collectionLength == nil { path.collectionLength = path.names.count }
        path.names += names
        return Query<Member>(path, quantifier)
    }
}

// MARK: Logic

extension Query where Value == Bool {
    public static prefix func ! (query: Query) -> Query { Query(.predicate(.negated(query.predicate))) }
    public static func && (a: Query, b: Query) -> Query { Query(.predicate(.both(a.predicate, b.predicate))) }
    public static func || (a: Query, b: Query) -> Query { Query(.predicate(.either(a.predicate, b.predicate))) }

    /// How many elements of a collection the condition holds for.
    ///
    ///     results.where { ($0.dogs.age > 3 && $0.dogs.name == "Taro").count >= 2 }
    ///
    /// Every property behind a collection belongs to the element; the collection must be the same one throughout.
    public var count: Query<Int> {
        let predicate = predicate
        let collections = predicate.collections
        guard collections.count == 1, let collection = collections.first else {
            fatalError(
                "a condition whose matches are counted is about one collection; this one is about "
                    + (collections.isEmpty ? "none" : "\(collections.count): \(predicate)"))
        }
        let variable = "$element\(predicate.depth)"
        let inner = predicate.replacing(collection, by: variable)
        return Query<Int>(.expression(.subquery(collection, variable: variable, inner), nil))
    }
}

extension Predicate {
    /// The first collections on the way of its paths.
    fileprivate var collections: Set<Path> {
        switch self {
        case .constant: return []
        case .not(let inner): return inner.collections
        case .and(let parts), .or(let parts): return parts.reduce(into: []) { $0.formUnion($1.collections) }
        case .comparison(let comparison): return comparison.left.collections.union(comparison.right.collections)
        }
    }

    fileprivate func replacing(_ collection: Path, by variable: String) -> Predicate {
        switch self {
        case .constant: return self
        case .not(let inner): return .not(inner.replacing(collection, by: variable))
        case .and(let parts): return .and(parts.map { $0.replacing(collection, by: variable) })
        case .or(let parts): return .or(parts.map { $0.replacing(collection, by: variable) })
        case .comparison(var comparison):
            comparison.left = comparison.left.replacing(collection, by: variable)
            comparison.right = comparison.right.replacing(collection, by: variable)
            return .comparison(comparison)
        }
    }
}

extension Predicate.Expression {
    fileprivate var collections: Set<Predicate.Path> {
        switch self {
        case .path(let path), .aggregate(let path, _), .subquery(let path, _, _):
            return path.firstCollection.map { [$0] } ?? []
        case .values(let parts): return parts.reduce(into: []) { $0.formUnion($1.collections) }
        case .value, .object: return []
        }
    }

    fileprivate func replacing(_ collection: Predicate.Path, by variable: String) -> Self {
        func replaced(_ path: Predicate.Path) -> Predicate.Path {
            guard path.firstCollection == collection else { return path }
            return Predicate.Path(names: Array(path.names.dropFirst(collection.names.count)), variable: variable)
        }
        switch self {
        case .path(let path): return .path(replaced(path))
        case .aggregate(let path, let aggregate): return .aggregate(replaced(path), aggregate)
        case .subquery(let path, let inner, let predicate): return .subquery(replaced(path), variable: inner, predicate)
        case .values(let parts): return .values(parts.map { $0.replacing(collection, by: variable) })
        case .value, .object: return self
        }
    }
}

extension Predicate.Path {
    /// The path as far as its first collection of objects, when something stands behind it.
    fileprivate var firstCollection: Predicate.Path? {
        collectionLength.map { Predicate.Path(names: Array(names.prefix($0)), variable: variable) }
    }
}
