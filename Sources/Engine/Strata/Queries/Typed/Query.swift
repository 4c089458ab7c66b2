/// An expression over the properties of the queried objects.
///
///     results.where { $0.age >= 3 && ($0.name.starts(with: "T") || $0.owners.name == "Alice") }
///
/// A collection in a path means any of its values; `.all` and `.none` are the other quantifiers, `.count`, `.min`,
/// `.max`, `.sum` and `.avg` aggregate them, and a condition on the elements of one collection can be counted:
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

    /// The path of the expression; stops the program if it is already counted or compared.
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
        _ comparator: Predicate.Comparator, _ value: _QueryConstant, _ options: StringOptions = []
    ) -> Query<Bool> {
        compare(comparator, value.expression, options.textOptions)
    }

    /// The same expression with another type.
    func retyped<Other>() -> Query<Other> { Query<Other>(.expression(expression, quantifier)) }

    func aggregate<Result>(_ aggregate: Predicate.Aggregate) -> Query<Result> {
        Query<Result>(.expression(.aggregate(path, aggregate), nil))
    }

    /// The expression for a property of this expression's value.
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

extension Query where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    public subscript<Member>(dynamicMember member: KeyPath<Value.Wrapped, Member>) -> Query<Member> {
        self.member(KeyPathTrace.names(of: member))
    }
}

extension Query where Value: RealmCollection, Value.Element: ObjectBase {
    /// Any of the objects.
    public subscript<Member>(dynamicMember member: KeyPath<Value.Element, Member>) -> Query<Member> {
        var path = path.behindCollection
        path.names += KeyPathTrace.names(of: member)
        return Query<Member>(path, quantifier)
    }
}

// MARK: Logic

extension Query where Value == Bool {
    /// For a boolean property by itself it requires false, which a missing link does not satisfy.
    public static prefix func ! (query: Query) -> Query {
        if case .expression(.path(let path), nil) = query.node, path.collectionLength == nil {
            return query.compare(.equal, .value(.init(.integer(0), .bool)))
        }
        return Query(.predicate(.negated(query.predicate)))
    }
    public static func && (a: Query, b: Query) -> Query { Query(.predicate(.both(a.predicate, b.predicate))) }
    public static func || (a: Query, b: Query) -> Query { Query(.predicate(.either(a.predicate, b.predicate))) }

    /// The number of elements of a collection that satisfy the condition.
    ///
    ///     results.where { ($0.dogs.age > 3 && $0.dogs.name == "Taro").count >= 2 }
    ///
    /// Every property is one of the element, even if no collection precedes it; the collection must be the same one
    /// throughout.
    public var count: Query<Int> { Query<Int>(.expression(CountedCondition.expression(predicate), nil)) }
}
