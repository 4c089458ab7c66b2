// Comparisons. Operators are written out one by one: the compiler resolves them faster than generic ones, and queries
// consist mostly of them.

extension Query where Value: _HasPersistedType {
    public static func == (query: Query, value: Value) -> Query<Bool> { query.compare(.equal, value._queryConstant) }
    public static func != (query: Query, value: Value) -> Query<Bool> { query.compare(.notEqual, value._queryConstant) }
    public static func == (query: Query, other: Query) -> Query<Bool> { query.compare(.equal, other.expression) }
    public static func != (query: Query, other: Query) -> Query<Bool> { query.compare(.notEqual, other.expression) }

    /// One of several values; for optional properties nil may be one of them.
    public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool> where Values.Element == Value {
        compare(.isIn, .values(values.map(\._queryConstant.expression)))
    }
}

/// Values of enumerations and custom types are compared as their stored values.
extension Query where Value: _HasPersistedType, Value.PersistedType: _QueryOrdered {
    public static func < (query: Query, value: Value) -> Query<Bool> { query.compare(.less, value._queryConstant) }
    public static func <= (query: Query, value: Value) -> Query<Bool> {
        query.compare(.lessOrEqual, value._queryConstant)
    }
    public static func > (query: Query, value: Value) -> Query<Bool> { query.compare(.greater, value._queryConstant) }
    public static func >= (query: Query, value: Value) -> Query<Bool> {
        query.compare(.greaterOrEqual, value._queryConstant)
    }

    public static func < (query: Query, other: Query) -> Query<Bool> { query.compare(.less, other.expression) }
    public static func <= (query: Query, other: Query) -> Query<Bool> { query.compare(.lessOrEqual, other.expression) }
    public static func > (query: Query, other: Query) -> Query<Bool> { query.compare(.greater, other.expression) }
    public static func >= (query: Query, other: Query) -> Query<Bool> {
        query.compare(.greaterOrEqual, other.expression)
    }
}

extension Query where Value: _Scalar {
    /// A minimum, a maximum and an average are nil if there is no value, and so is the value of a missing key of a map.
    public static func == (query: Query, _: _OptionalNilComparisonType) -> Query<Bool> { query.compare(.equal, .null) }
    public static func != (query: Query, _: _OptionalNilComparisonType) -> Query<Bool> {
        query.compare(.notEqual, .null)
    }
}

/// A property compared with one that may be null.
extension Query where Value: OptionalProtocol {
    public static func == (query: Query, other: Query<Value.Wrapped>) -> Query<Bool> {
        query.compare(.equal, other.expression)
    }
    public static func == (query: Query<Value.Wrapped>, other: Query) -> Query<Bool> {
        query.compare(.equal, other.expression)
    }
    public static func != (query: Query, other: Query<Value.Wrapped>) -> Query<Bool> {
        query.compare(.notEqual, other.expression)
    }
    public static func != (query: Query<Value.Wrapped>, other: Query) -> Query<Bool> {
        query.compare(.notEqual, other.expression)
    }

    /// One of several values, none of them nil.
    @_disfavoredOverload
    public func `in`<Values: Sequence>(_ values: Values) -> Query<Bool>
    where Values.Element == Value.Wrapped, Value.Wrapped: _HasPersistedType {
        compare(.isIn, .values(values.map(\._queryConstant.expression)))
    }
}

extension Query
where Value: OptionalProtocol, Value.Wrapped: _HasPersistedType, Value.Wrapped.PersistedType: _QueryOrdered {
    public static func < (query: Query, other: Query<Value.Wrapped>) -> Query<Bool> {
        query.compare(.less, other.expression)
    }
    public static func < (query: Query<Value.Wrapped>, other: Query) -> Query<Bool> {
        query.compare(.less, other.expression)
    }
    public static func <= (query: Query, other: Query<Value.Wrapped>) -> Query<Bool> {
        query.compare(.lessOrEqual, other.expression)
    }
    public static func <= (query: Query<Value.Wrapped>, other: Query) -> Query<Bool> {
        query.compare(.lessOrEqual, other.expression)
    }
    public static func > (query: Query, other: Query<Value.Wrapped>) -> Query<Bool> {
        query.compare(.greater, other.expression)
    }
    public static func > (query: Query<Value.Wrapped>, other: Query) -> Query<Bool> {
        query.compare(.greater, other.expression)
    }
    public static func >= (query: Query, other: Query<Value.Wrapped>) -> Query<Bool> {
        query.compare(.greaterOrEqual, other.expression)
    }
    public static func >= (query: Query<Value.Wrapped>, other: Query) -> Query<Bool> {
        query.compare(.greaterOrEqual, other.expression)
    }
}

// MARK: Ranges

extension Query where Value: _HasPersistedType & Comparable {
    public func contains(_ range: ClosedRange<Value>) -> Query<Bool> { between(range) }
    public func contains(_ range: Range<Value>) -> Query<Bool> { between(range) }
}

extension Query where Value: OptionalProtocol, Value.Wrapped: Comparable {
    public func contains(_ range: ClosedRange<Value.Wrapped>) -> Query<Bool> { between(range) }
    public func contains(_ range: Range<Value.Wrapped>) -> Query<Bool> { between(range) }
}

extension Query {
    private func between<Bound>(_ range: ClosedRange<Bound>) -> Query<Bool> {
        compare(
            .between,
            .values([_QueryConstant.of(range.lowerBound).expression, _QueryConstant.of(range.upperBound).expression]))
    }

    private func between<Bound>(_ range: Range<Bound>) -> Query<Bool> {
        compare(.greaterOrEqual, _QueryConstant.of(range.lowerBound))
            && compare(.less, _QueryConstant.of(range.upperBound))
    }
}

// MARK: Stored values

extension Query where Value: PersistableEnum {
    /// The stored value: `$0.mood.rawValue.starts(with: "c")`.
    public var rawValue: Query<Value.RawValue> { retyped() }
}

extension Query where Value: OptionalProtocol, Value.Wrapped: PersistableEnum {
    /// The stored value.
    public var rawValue: Query<Value.Wrapped.RawValue?> { retyped() }
}

extension Query where Value: _HasPersistedType {
    /// The stored value of a custom type or an enumeration: `$0.temperature.persistableValue.contains(20.0..<30.0)`.
    @_disfavoredOverload
    public var persistableValue: Query<Value.PersistedType> { retyped() }
}

// MARK: Places

extension Query where Value: OptionalProtocol, Value.Wrapped: EmbeddedObject {
    /// Whether the place lies in a ``GeoBox``, a ``GeoCircle`` or a ``GeoPolygon``: `$0.location.geoWithin(circle)`.
    ///
    /// ``GeoPoint`` describes the object that represents a place; for others, the query is an error.
    public func geoWithin<Shape: RLMGeospatial>(_ shape: Shape) -> Query<Bool> { compare(.isIn, .shape(shape._shape)) }
}

extension Query where Value: RealmCollection, Value.Element: EmbeddedObject {
    /// Whether any of the places lies in a shape.
    public func geoWithin<Shape: RLMGeospatial>(_ shape: Shape) -> Query<Bool> { compare(.isIn, .shape(shape._shape)) }
}
