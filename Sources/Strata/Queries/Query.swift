/// An expression over the properties of the objects that a query looks at.
///
///     results.where { $0.age >= 3 && ($0.name.starts(with: "T") || $0.owners.name == "Alice") }
@dynamicMemberLookup
public struct Query<Value> {
    enum Node {
        case path([String])
        case aggregate([String], Predicate.Aggregate)
        case predicate(Predicate)
    }

    let node: Node

    init(_ node: Node) { self.node = node }
    static func path(_ names: [String]) -> Query { Query(.path(names)) }

    var names: [String] {
        switch node {
        case .path(let names), .aggregate(let names, _): return names
        case .predicate: fatalError("a condition has no properties")
        }
    }

    /// The condition; a boolean property by itself means that it is true.
    var predicate: Predicate {
        switch node {
        case .predicate(let predicate): return predicate
        case .path(let names):
            return .comparison(.init(path: names, comparator: .equal, value: .value(.integer(1))))
        case .aggregate: fatalError("a number is not a condition; compare it")
        }
    }

    func compare(
        _ comparator: Predicate.Comparator, _ value: Predicate.Operand, ignoresCase: Bool = false
    ) -> Query<Bool> {
        var comparison = Predicate.Comparison(path: names, comparator: comparator, value: value)
        comparison.ignoresCase = ignoresCase
        if case .aggregate(_, let aggregate) = node { comparison.aggregate = aggregate }
        return Query<Bool>(.predicate(.comparison(comparison)))
    }
}

// MARK: Properties

extension Query where Value: ObjectBase {
    public subscript<Member>(dynamicMember member: KeyPath<Value, Member>) -> Query<Member> {
        Query<Member>(.path(names + KeyPathTrace.names(of: member)))
    }
}

extension Query {
    public subscript<Target: ObjectBase, Member>(dynamicMember member: KeyPath<Target, Member>) -> Query<Member>
    where Value == Target? {
        Query<Member>(.path(names + KeyPathTrace.names(of: member)))
    }
}

extension Query where Value: RealmCollection, Value.Element: ObjectBase {
    /// Any of the objects.
    public subscript<Member>(dynamicMember member: KeyPath<Value.Element, Member>) -> Query<Member> {
        Query<Member>(.path(names + KeyPathTrace.names(of: member)))
    }

    public func contains(_ object: Value.Element) -> Query<Bool> { compare(.equal, .object(object)) }
}

extension Query where Value: RealmCollection {
    public var count: Query<Int> { Query<Int>(.aggregate(names, .count)) }
}

extension Query where Value: RealmCollection, Value.Element: _Scalar {
    public func contains(_ value: Value.Element) -> Query<Bool> { compare(.equal, .value(value._stored)) }
}

extension Query where Value: _Scalar {
    public var min: Query<Value> { Query(.aggregate(names, .min)) }
    public var max: Query<Value> { Query(.aggregate(names, .max)) }
    public var sum: Query<Value> { Query(.aggregate(names, .sum)) }
    public var avg: Query<Double> { Query<Double>(.aggregate(names, .avg)) }
}

// MARK: Comparisons

extension Query where Value: _Scalar {
    public static func == (query: Query, value: Value) -> Query<Bool> { query.compare(.equal, .value(value._stored)) }
    public static func != (query: Query, value: Value) -> Query<Bool> {
        query.compare(.notEqual, .value(value._stored))
    }
    public static func < (query: Query, value: Value) -> Query<Bool> { query.compare(.less, .value(value._stored)) }
    public static func <= (query: Query, value: Value) -> Query<Bool> {
        query.compare(.lessOrEqual, .value(value._stored))
    }
    public static func > (query: Query, value: Value) -> Query<Bool> { query.compare(.greater, .value(value._stored)) }
    public static func >= (query: Query, value: Value) -> Query<Bool> {
        query.compare(.greaterOrEqual, .value(value._stored))
    }
    public static func == (query: Query, other: Query) -> Query<Bool> { query.compare(.equal, .path(other.names)) }
    public static func != (query: Query, other: Query) -> Query<Bool> { query.compare(.notEqual, .path(other.names)) }
    public static func < (query: Query, other: Query) -> Query<Bool> { query.compare(.less, .path(other.names)) }
    public static func > (query: Query, other: Query) -> Query<Bool> { query.compare(.greater, .path(other.names)) }

    /// One of several values.
    public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool> where Values.Element == Value {
        compare(.isIn, .values(values.map { .value($0._stored) }))
    }
}

extension Query where Value: _Scalar & Comparable {
    public func contains(_ range: ClosedRange<Value>) -> Query<Bool> {
        compare(.between, .values([.value(range.lowerBound._stored), .value(range.upperBound._stored)]))
    }

    public func contains(_ range: Range<Value>) -> Query<Bool> {
        let low = compare(.greaterOrEqual, .value(range.lowerBound._stored))
        return low && compare(.less, .value(range.upperBound._stored))
    }
}

extension Query {
    public static func == <Wrapped: _Scalar>(query: Query, value: Wrapped?) -> Query<Bool> where Value == Wrapped? {
        query.compare(.equal, .value(value?._stored ?? .null))
    }
    public static func != <Wrapped: _Scalar>(query: Query, value: Wrapped?) -> Query<Bool> where Value == Wrapped? {
        query.compare(.notEqual, .value(value?._stored ?? .null))
    }
    public static func < <Wrapped: _Scalar>(query: Query, value: Wrapped) -> Query<Bool> where Value == Wrapped? {
        query.compare(.less, .value(value._stored))
    }
    public static func <= <Wrapped: _Scalar>(query: Query, value: Wrapped) -> Query<Bool> where Value == Wrapped? {
        query.compare(.lessOrEqual, .value(value._stored))
    }
    public static func > <Wrapped: _Scalar>(query: Query, value: Wrapped) -> Query<Bool> where Value == Wrapped? {
        query.compare(.greater, .value(value._stored))
    }
    public static func >= <Wrapped: _Scalar>(query: Query, value: Wrapped) -> Query<Bool> where Value == Wrapped? {
        query.compare(.greaterOrEqual, .value(value._stored))
    }
    public static func == <Target: ObjectBase>(query: Query, object: Target?) -> Query<Bool> where Value == Target? {
        query.compare(.equal, object.map { .object($0) } ?? .value(.null))
    }
    public static func != <Target: ObjectBase>(query: Query, object: Target?) -> Query<Bool> where Value == Target? {
        query.compare(.notEqual, object.map { .object($0) } ?? .value(.null))
    }
}

// MARK: Text

/// How text is compared.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Upper and lower case are the same.
    public static let caseInsensitive = StringOptions(rawValue: 1)
}

/// Text properties, optional or not.
public protocol _QueryText {}
extension String: _QueryText {}
extension Optional: _QueryText where Wrapped == String {}

extension Query where Value: _QueryText {
    public func contains(_ text: String, options: StringOptions = []) -> Query<Bool> { match(.contains, text, options) }
    public func starts(with text: String, options: StringOptions = []) -> Query<Bool> {
        match(.beginsWith, text, options)
    }
    public func ends(with text: String, options: StringOptions = []) -> Query<Bool> { match(.endsWith, text, options) }
    /// `?` stands for one character, `*` for any number of them.
    public func like(_ text: String, caseInsensitive: Bool = false) -> Query<Bool> {
        match(.like, text, caseInsensitive ? .caseInsensitive : [])
    }
    public func equals(_ text: String, options: StringOptions = []) -> Query<Bool> { match(.equal, text, options) }

    private func match(_ comparator: Predicate.Comparator, _ text: String, _ options: StringOptions) -> Query<Bool> {
        compare(comparator, .value(.text(text)), ignoresCase: options.contains(.caseInsensitive))
    }
}

// MARK: Logic

extension Query where Value == Bool {
    public static prefix func ! (query: Query) -> Query { Query(.predicate(.not(query.predicate))) }
    public static func && (a: Query, b: Query) -> Query { Query(.predicate(.and(a.predicate, b.predicate))) }
    public static func || (a: Query, b: Query) -> Query { Query(.predicate(.or(a.predicate, b.predicate))) }
}
