// Conditions on the elements of collections, together or one by one.

extension Query where Value: RealmCollection {
    /// The number of elements.
    public var count: Query<Int> { aggregate(.count) }
    /// Any of the elements; the default for a collection: `$0.tags.any.starts(with: "x")`.
    public var any: Query<Value.Element> { element(.any) }
    /// All of the elements; holds for an empty collection.
    public var all: Query<Value.Element> { element(.all) }
    /// None of the elements.
    public var none: Query<Value.Element> { element(.none) }

    private func element(_ quantifier: Predicate.Quantifier) -> Query<Value.Element> {
        Query<Value.Element>(path.behindCollection, quantifier)
    }

    public func contains(_ value: Value.Element) -> Query<Bool> { compare(.equal, value._queryConstant) }

    /// Whether any of these values is an element.
    public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool> where Values.Element == Value.Element {
        compare(.isIn, .values(values.map(\._queryConstant.expression)))
    }

    /// Any of the elements.
    public static func == (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.equal, value._queryConstant)
    }
    public static func != (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.notEqual, value._queryConstant)
    }

}

extension Query where Value: RealmCollection, Value.Element.PersistedType: RealmCollectionValue {
    /// The stored values of custom types or enumerations.
    public var persistableValue: Query<List<Value.Element.PersistedType>> { retyped() }
}

extension Query where Value: RealmCollection, Value.Element.PersistedType: _QueryOrdered {
    public static func < (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.less, value._queryConstant)
    }
    public static func <= (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.lessOrEqual, value._queryConstant)
    }
    public static func > (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.greater, value._queryConstant)
    }
    public static func >= (query: Query, value: Value.Element) -> Query<Bool> {
        query.compare(.greaterOrEqual, value._queryConstant)
    }
}

extension Query where Value: RealmCollection, Value.Element.PersistedType: _QueryNumeric {
    public var min: Query<Value.Element> { aggregate(.min) }
    public var max: Query<Value.Element> { aggregate(.max) }
    public var sum: Query<Value.Element> { aggregate(.sum) }
    public var avg: Query<Value.Element> { aggregate(.avg) }
}

extension Query where Value: RealmCollection, Value.Element: Comparable {
    /// Whether all elements lie within the range, and there are any; nulls do not count.
    public func contains(_ range: ClosedRange<Value.Element>) -> Query<Bool> { lies(within: range) }
    /// Whether all elements lie within the range, and there are any; nulls do not count.
    public func contains(_ range: Range<Value.Element>) -> Query<Bool> { lies(within: range) }
}

extension Query where Value: RealmCollection, Value.Element: OptionalProtocol, Value.Element.Wrapped: Comparable {
    /// Whether all elements lie within the range, and there are any; nulls do not count.
    public func contains(_ range: ClosedRange<Value.Element.Wrapped>) -> Query<Bool> { lies(within: range) }
    /// Whether all elements lie within the range, and there are any; nulls do not count.
    public func contains(_ range: Range<Value.Element.Wrapped>) -> Query<Bool> { lies(within: range) }
}

extension Query where Value: RealmCollection, Value.Element: PersistableEnum {
    /// The stored values of the elements.
    public var rawValue: Query<List<Value.Element.RawValue>> { retyped() }
}

extension Query where Value: RealmCollection, Value.Element: OptionalProtocol, Value.Element.Wrapped: PersistableEnum {
    /// The stored values of the elements.
    public var rawValue: Query<List<Value.Element.Wrapped.RawValue?>> { retyped() }
}

extension Query {
    /// Whether the smallest and the largest value lie within the range: then all values do.
    func lies<Bound>(within range: ClosedRange<Bound>) -> Query<Bool> {
        least(.greaterOrEqual, range.lowerBound) && greatest(.lessOrEqual, range.upperBound)
    }

    func lies<Bound>(within range: Range<Bound>) -> Query<Bool> {
        least(.greaterOrEqual, range.lowerBound) && greatest(.less, range.upperBound)
    }

    private func least<Bound>(_ comparator: Predicate.Comparator, _ bound: Bound) -> Query<Bool> {
        (aggregate(.min) as Query<Bound>).compare(comparator, _QueryConstant.of(bound))
    }

    private func greatest<Bound>(_ comparator: Predicate.Comparator, _ bound: Bound) -> Query<Bool> {
        (aggregate(.max) as Query<Bound>).compare(comparator, _QueryConstant.of(bound))
    }
}

// MARK: Values behind a collection

extension Query where Value: _HasPersistedType, Value.PersistedType: _QueryNumeric {
    /// The smallest of the values behind a collection, without nulls: `$0.dogs.age.min >= 2`.
    public var min: Query { aggregate(.min) }
    public var max: Query { aggregate(.max) }
    public var sum: Query { aggregate(.sum) }
    public var avg: Query { aggregate(.avg) }
}

// A mean of integers may be compared with a fraction too.

extension Query where Value: _PersistableInteger {
    @_disfavoredOverload public var avg: Query<Double> { aggregate(.avg) }
}

extension Query where Value: RealmCollection, Value.Element: _PersistableInteger {
    @_disfavoredOverload public var avg: Query<Double> { aggregate(.avg) }
}

// MARK: Maps

extension Query where Value: _KeyedCollection {
    /// Any of the map's values: `$0.phones.values.starts(with: "+39")`.
    public var values: Query<Value.Value> { Query<Value.Value>(path.behindCollection, Predicate.Quantifier.any) }

    /// Any of the map's keys: `$0.phones.keys == "home"`.
    public var keys: Query<String> {
        var path = path
        path.names.append(Predicate.MapPart.keys.name)
        return Query<String>(path, Predicate.Quantifier.any)
    }

    /// The number of keys.
    public var count: Query<Int> { aggregate(.count) }

    /// The value of a key; null for a map that does not have it: `$0.scores["math"] > 3`.
    public subscript(key: Value.Key) -> Query<Value.Value> { member([Predicate.MapPart.entry(key._mapKey).name]) }

    /// Whether it is one of the map's values.
    public func contains(_ value: Value.Value) -> Query<Bool> { compare(.equal, value._queryConstant) }

    /// Whether any of these is one of the map's values.
    public func containsAny<Values: Sequence>(in values: Values) -> Query<Bool> where Values.Element == Value.Value {
        compare(.isIn, .values(values.map(\._queryConstant.expression)))
    }
}

extension Query where Value: _KeyedCollection, Value.Value.PersistedType: RealmCollectionValue {
    /// The stored values of custom types or enumerations.
    public var persistableValue: Query<Map<Value.Key, Value.Value.PersistedType>> { retyped() }
}

extension Query where Value: _KeyedCollection, Value.Value.PersistedType: _QueryNumeric {
    public var min: Query<Value.Value> { aggregate(.min) }
    public var max: Query<Value.Value> { aggregate(.max) }
    public var sum: Query<Value.Value> { aggregate(.sum) }
    public var avg: Query<Value.Value> { aggregate(.avg) }
}

extension Query where Value: _KeyedCollection, Value.Value: _PersistableInteger {
    @_disfavoredOverload public var avg: Query<Double> { aggregate(.avg) }
}

extension Query where Value: _KeyedCollection, Value.Value: Comparable {
    /// Whether all values lie within the range, and there are any; nulls do not count.
    public func contains(_ range: ClosedRange<Value.Value>) -> Query<Bool> { lies(within: range) }
    /// Whether all values lie within the range, and there are any; nulls do not count.
    public func contains(_ range: Range<Value.Value>) -> Query<Bool> { lies(within: range) }
}

extension Query where Value: _KeyedCollection, Value.Value: OptionalProtocol, Value.Value.Wrapped: Comparable {
    /// Whether all values lie within the range, and there are any; nulls do not count.
    public func contains(_ range: ClosedRange<Value.Value.Wrapped>) -> Query<Bool> { lies(within: range) }
    /// Whether all values lie within the range, and there are any; nulls do not count.
    public func contains(_ range: Range<Value.Value.Wrapped>) -> Query<Bool> { lies(within: range) }
}

extension Query where Value: _KeyedCollection, Value.Value: PersistableEnum {
    /// The stored values.
    public var rawValue: Query<Map<Value.Key, Value.Value.RawValue>> { retyped() }
}

extension Query where Value: _KeyedCollection, Value.Value: OptionalProtocol, Value.Value.Wrapped: PersistableEnum {
    /// The stored values.
    public var rawValue: Query<Map<Value.Key, Value.Value.Wrapped.RawValue?>> { retyped() }
}

// MARK: Lists and dictionaries in values of any type

extension Query where Value == AnyRealmValue {
    /// The element at an index of a list; null if there is none: `$0.content[0] == .int(1)`.
    public subscript(position: Int) -> Query { member([Predicate.MapPart.index(position).name]) }

    /// The value of a key of a dictionary; null if there is none: `$0.content["size"] > .int(3)`.
    public subscript(key: String) -> Query { member([Predicate.MapPart.entry(key).name]) }

    /// Any of the elements of a list, or of the values of a dictionary: `$0.content["sizes"].any == .int(4)`.
    public var any: Query {
        var path = path
        path.names.append(Predicate.MapPart.each.name)
        return Query(path, quantifier ?? .any)
    }
}
