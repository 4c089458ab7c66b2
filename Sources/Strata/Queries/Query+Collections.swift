// Collections: what is asked of their elements, together or one by one.

extension Query where Value: RealmCollection {
    /// How many elements there are.
    public var count: Query<Int> { aggregate(.count) }
}

extension Query where Value: RealmCollection, Value.Element: ObjectBase {
    /// Any of the objects; what a collection means by itself.
    public var any: Query<Value.Element> { element(.any) }
    /// All of the objects; holds when there are none.
    public var all: Query<Value.Element> { element(.all) }
    /// None of the objects.
    public var none: Query<Value.Element> { element(.none) }

    public func contains(_ object: Value.Element) -> Query<Bool> { compare(.equal, .object(object)) }

    /// Whether any of these objects is an element.
    public func containsAny<Objects: Sequence>(in objects: Objects) -> Query<Bool>
    where Objects.Element == Value.Element { compare(.isIn, .values(objects.map { .object($0) })) }

    private func element(_ quantifier: Predicate.Quantifier) -> Query<Value.Element> {
        var path = path
        if path.collectionLength == nil { path.collectionLength = path.names.count }
        return Query<Value.Element>(path, quantifier)
    }
}

extension Query where Value: RealmCollection, Value.Element: _QueryElement {
    /// Any of the values: `$0.tags.any.starts(with: "x")`.
    public var any: Query<Value.Element> { Query<Value.Element>(path, Predicate.Quantifier.any) }
    /// All of the values; holds when there are none.
    public var all: Query<Value.Element> { Query<Value.Element>(path, Predicate.Quantifier.all) }
    /// None of the values.
    public var none: Query<Value.Element> { Query<Value.Element>(path, Predicate.Quantifier.none) }

    public func contains(_ value: Value.Element) -> Query<Bool> { compare(.equal, value._queryValue) }

    /// Whether any of these values is an element.
    public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool>
    where Values.Element == Value.Element { compare(.isIn, .values(values.map { .value(.init($0._queryValue)) })) }

    public static func == (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.equal, value._queryValue)
    }
    public static func != (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.notEqual, value._queryValue)
    }
    public static func < (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.less, value._queryValue)
    }
    public static func <= (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.lessOrEqual, value._queryValue)
    }
    public static func > (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.greater, value._queryValue)
    }
    public static func >= (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.greaterOrEqual, value._queryValue)
    }

    public var min: Query<Value.Element> { aggregate(.min) }
    public var max: Query<Value.Element> { aggregate(.max) }
    public var sum: Query<Value.Element> { aggregate(.sum) }
    public var avg: Query<Double> { aggregate(.avg) }
}

extension Query where Value: RealmCollection, Value.Element: _Scalar & Comparable {
    /// Whether any element lies within the range.
    public func contains(_ range: ClosedRange<Value.Element>) -> Query<Bool> { between(range) }
    /// Whether any element lies within the range.
    public func contains(_ range: Range<Value.Element>) -> Query<Bool> {
        // One element within both bounds, not one for each: it is counted in a list of its own.
        let low = Predicate.Constant(range.lowerBound._stored)
        let high = Predicate.Constant(range.upperBound._stored)
        return compare(.within, .values([.value(low), .value(high)]))
    }
}

extension Query where Value: _QueryElement {
    public var min: Query<Value> { aggregate(.min) }
    public var max: Query<Value> { aggregate(.max) }
    public var sum: Query<Value> { aggregate(.sum) }
    public var avg: Query<Double> { aggregate(.avg) }
}

/// Plain values of properties and collections, optional or not.
public protocol _QueryElement {
    var _queryValue: _StoredValue { get }
}

extension _Scalar {
    public var _queryValue: _StoredValue { _stored }
}

extension Optional: _QueryElement where Wrapped: _Scalar {
    public var _queryValue: _StoredValue { self?._stored ?? .null }
}

// MARK: Maps

/// A ``Map``, whatever its keys are.
public protocol _QueryMap {
    associatedtype _MapValue
}

extension Map: _QueryMap {
    public typealias _MapValue = Value
}

extension Query where Value: _QueryMap {
    /// Any of the map's values: `$0.phones.values.starts(with: "+39")`.
    public var values: Query<Value._MapValue> { Query<Value._MapValue>(path, Predicate.Quantifier.any) }
    /// How many keys there are.
    public var count: Query<Int> { aggregate(.count) }
    /// Any of the map's keys: `$0.phones.keys == "home"`.
    public var keys: Query<String> {
        var path = path
        path.names.append(Predicate.MapPart.keys.name)
        return Query<String>(path, Predicate.Quantifier.any)
    }

    /// The value of a key; null for a map that does not have it: `$0.scores["math"] > 3`.
    public subscript(key: String) -> Query<Value._MapValue> { member([Predicate.MapPart.entry(key).name]) }
}
