// Operators are written out one by one: the compiler finds them faster than generic ones, and a query is full of them.

/// What an enumeration's raw value, a number, a text and so on are compared with.
extension Query where Value: _Scalar {
    public static func == (query: Query, value: Value) -> Query<Bool> { query.compare(.equal, value._stored) }
    public static func != (query: Query, value: Value) -> Query<Bool> { query.compare(.notEqual, value._stored) }
    public static func < (query: Query, value: Value) -> Query<Bool> { query.compare(.less, value._stored) }
    public static func <= (query: Query, value: Value) -> Query<Bool> { query.compare(.lessOrEqual, value._stored) }
    public static func > (query: Query, value: Value) -> Query<Bool> { query.compare(.greater, value._stored) }
    public static func >= (query: Query, value: Value) -> Query<Bool> { query.compare(.greaterOrEqual, value._stored) }

    public static func == (query: Query, other: Query) -> Query<Bool> { query.compare(.equal, other.expression) }
    public static func != (query: Query, other: Query) -> Query<Bool> { query.compare(.notEqual, other.expression) }
    public static func < (query: Query, other: Query) -> Query<Bool> { query.compare(.less, other.expression) }
    public static func <= (query: Query, other: Query) -> Query<Bool> { query.compare(.lessOrEqual, other.expression) }
    public static func > (query: Query, other: Query) -> Query<Bool> { query.compare(.greater, other.expression) }
    public static func >= (query: Query, other: Query) -> Query<Bool> {
        query.compare(.greaterOrEqual, other.expression)
    }

    /// A minimum, a maximum and an average are nil when there is no value.
    public static func == (query: Query, _: _OptionalNilComparisonType) -> Query<Bool> {
        query.compare(.equal, .null)
    }
    public static func != (query: Query, _: _OptionalNilComparisonType) -> Query<Bool> {
        query.compare(.notEqual, .null)
    }

    /// One of several values.
    public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool> where Values.Element == Value {
        compare(.isIn, .values(values.map { .value(.init($0._stored)) }))
    }
}

extension Query {
    public static func == <Wrapped: _Scalar>(query: Query, value: Wrapped?) -> Query<Bool> where Value == Wrapped? {
        query.compare(.equal, value?._stored ?? .null)
    }
    public static func != <Wrapped: _Scalar>(query: Query, value: Wrapped?) -> Query<Bool> where Value == Wrapped? {
        query.compare(.notEqual, value?._stored ?? .null)
    }
    public static func < <Wrapped: _Scalar>(query: Query, value: Wrapped) -> Query<Bool> where Value == Wrapped? {
        query.compare(.less, value._stored)
    }
    public static func <= <Wrapped: _Scalar>(query: Query, value: Wrapped) -> Query<Bool> where Value == Wrapped? {
        query.compare(.lessOrEqual, value._stored)
    }
    public static func > <Wrapped: _Scalar>(query: Query, value: Wrapped) -> Query<Bool> where Value == Wrapped? {
        query.compare(.greater, value._stored)
    }
    public static func >= <Wrapped: _Scalar>(query: Query, value: Wrapped) -> Query<Bool> where Value == Wrapped? {
        query.compare(.greaterOrEqual, value._stored)
    }

    public static func == <Wrapped: _Scalar>(query: Query, other: Query) -> Query<Bool> where Value == Wrapped? {
        query.compare(.equal, other.expression)
    }
    public static func == <Wrapped: _Scalar>(query: Query, other: Query<Wrapped>) -> Query<Bool>
    where Value == Wrapped? { query.compare(.equal, other.expression) }
    public static func == <Wrapped: _Scalar>(query: Query<Wrapped>, other: Query) -> Query<Bool>
    where Value == Wrapped? { query.compare(.equal, other.expression) }
    public static func != <Wrapped: _Scalar>(query: Query, other: Query) -> Query<Bool> where Value == Wrapped? {
        query.compare(.notEqual, other.expression)
    }
    public static func != <Wrapped: _Scalar>(query: Query, other: Query<Wrapped>) -> Query<Bool>
    where Value == Wrapped? { query.compare(.notEqual, other.expression) }
    public static func != <Wrapped: _Scalar>(query: Query<Wrapped>, other: Query) -> Query<Bool>
    where Value == Wrapped? { query.compare(.notEqual, other.expression) }
    public static func < <Wrapped: _Scalar>(query: Query, other: Query) -> Query<Bool> where Value == Wrapped? {
        query.compare(.less, other.expression)
    }
    public static func < <Wrapped: _Scalar>(query: Query, other: Query<Wrapped>) -> Query<Bool>
    where Value == Wrapped? { query.compare(.less, other.expression) }
    public static func < <Wrapped: _Scalar>(query: Query<Wrapped>, other: Query) -> Query<Bool>
    where Value == Wrapped? { query.compare(.less, other.expression) }
    public static func <= <Wrapped: _Scalar>(query: Query, other: Query) -> Query<Bool> where Value == Wrapped? {
        query.compare(.lessOrEqual, other.expression)
    }
    public static func <= <Wrapped: _Scalar>(query: Query, other: Query<Wrapped>) -> Query<Bool>
    where Value == Wrapped? { query.compare(.lessOrEqual, other.expression) }
    public static func <= <Wrapped: _Scalar>(query: Query<Wrapped>, other: Query) -> Query<Bool>
    where Value == Wrapped? { query.compare(.lessOrEqual, other.expression) }
    public static func > <Wrapped: _Scalar>(query: Query, other: Query) -> Query<Bool> where Value == Wrapped? {
        query.compare(.greater, other.expression)
    }
    public static func > <Wrapped: _Scalar>(query: Query, other: Query<Wrapped>) -> Query<Bool>
    where Value == Wrapped? { query.compare(.greater, other.expression) }
    public static func > <Wrapped: _Scalar>(query: Query<Wrapped>, other: Query) -> Query<Bool>
    where Value == Wrapped? { query.compare(.greater, other.expression) }
    public static func >= <Wrapped: _Scalar>(query: Query, other: Query) -> Query<Bool> where Value == Wrapped? {
        query.compare(.greaterOrEqual, other.expression)
    }
    public static func >= <Wrapped: _Scalar>(query: Query, other: Query<Wrapped>) -> Query<Bool>
    where Value == Wrapped? { query.compare(.greaterOrEqual, other.expression) }
    public static func >= <Wrapped: _Scalar>(query: Query<Wrapped>, other: Query) -> Query<Bool>
    where Value == Wrapped? { query.compare(.greaterOrEqual, other.expression) }

    /// One of several values; nil is one too.
    public func `in`<Wrapped: _Scalar, Values: Sequence>(_ values: Values) -> Query<Bool>
    where Value == Wrapped?, Values.Element == Wrapped? {
        compare(.isIn, .values(values.map { .value(.init($0?._stored ?? .null)) }))
    }

    public func `in`<Wrapped: _Scalar, Values: Sequence>(_ values: Values) -> Query<Bool>
    where Value == Wrapped?, Values.Element == Wrapped {
        compare(.isIn, .values(values.map { .value(.init($0._stored)) }))
    }
}

// MARK: Ranges

extension Query where Value: _Scalar & Comparable {
    public func contains(_ range: ClosedRange<Value>) -> Query<Bool> { between(range) }
    public func contains(_ range: Range<Value>) -> Query<Bool> { between(range) }
}

extension Query {
    public func contains<Wrapped: _Scalar & Comparable>(_ range: ClosedRange<Wrapped>) -> Query<Bool>
    where Value == Wrapped? { between(range) }
    public func contains<Wrapped: _Scalar & Comparable>(_ range: Range<Wrapped>) -> Query<Bool>
    where Value == Wrapped? { between(range) }

    /// The same expression with another type.
    func retyped<Other>() -> Query<Other> { Query<Other>(.expression(expression, quantifier)) }

    func between<Bound: _Scalar>(_ range: ClosedRange<Bound>) -> Query<Bool> {
        compare(
            .between,
            .values([.value(.init(range.lowerBound._stored)), .value(.init(range.upperBound._stored))]))
    }

    func between<Bound: _Scalar>(_ range: Range<Bound>) -> Query<Bool> {
        compare(.greaterOrEqual, range.lowerBound._stored) && compare(.less, range.upperBound._stored)
    }
}

// MARK: Enumerations

extension Query where Value: PersistableEnum {
    /// What is stored: `$0.mood.rawValue.starts(with: "c")`.
    public var rawValue: Query<Value.RawValue> { retyped() }
}

// MARK: Objects

extension Query {
    public static func == <Target: ObjectBase>(query: Query, object: Target?) -> Query<Bool> where Value == Target? {
        query.compare(.equal, object.map { .object($0) } ?? .value(.init(.null)))
    }
    public static func != <Target: ObjectBase>(query: Query, object: Target?) -> Query<Bool> where Value == Target? {
        query.compare(.notEqual, object.map { .object($0) } ?? .value(.init(.null)))
    }
    public static func == <Target: ObjectBase>(query: Query, other: Query) -> Query<Bool> where Value == Target? {
        query.compare(.equal, other.expression)
    }
    public static func != <Target: ObjectBase>(query: Query, other: Query) -> Query<Bool> where Value == Target? {
        query.compare(.notEqual, other.expression)
    }

    /// One of several objects.
    public func `in`<Target: ObjectBase, Objects: Sequence>(_ objects: Objects) -> Query<Bool>
    where Value == Target?, Objects.Element == Target { compare(.isIn, .values(objects.map { .object($0) })) }
}

extension Query where Value: ObjectBase {
    public static func == (query: Query, object: Value) -> Query<Bool> { query.compare(.equal, .object(object)) }
    public static func != (query: Query, object: Value) -> Query<Bool> { query.compare(.notEqual, .object(object)) }

    /// One of several objects.
    public func `in`<Objects: Sequence>(_ objects: Objects) -> Query<Bool> where Objects.Element == Value {
        compare(.isIn, .values(objects.map { .object($0) }))
    }
}
