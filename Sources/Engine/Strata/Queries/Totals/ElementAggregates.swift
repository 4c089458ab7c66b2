// Aggregates of the elements of a collection of any stored type: nulls are skipped.

extension RealmCollectionValue {
    /// The aggregate of some elements; nil if there is none, or if the type cannot hold it.
    fileprivate static func total(_ aggregate: Predicate.Aggregate, _ elements: some Sequence<Self>) -> Self? {
        if Self.self == AnyRealmValue.self {
            return AnyNumbers(elements.lazy.compactMap { $0 as? AnyRealmValue }).total(aggregate) as? Self
        }
        let value = aggregate.of(elements.map { $0._encodeElement(.unmanaged) })
        return value.isNull ? nil : _decodeElement(value, .unmanaged)
    }

    /// For values of any type a sum is a decimal. The empty sum of a map or of an unmanaged collection is the integer
    /// 0, as in RealmSwift.
    fileprivate static func sum(_ elements: some Collection<Self>, isManagedElements: Bool) -> Self {
        if Self.self == AnyRealmValue.self, !isManagedElements, elements.isEmpty,
            let zero = AnyRealmValue.int(0) as? Self
        {
            return zero
        }
        if let sum = total(.sum, elements) ?? _number(.integer(0)) { return sum }
        fatalError("\(Self.self) has no value for a sum")
    }

    /// The mean as a number of the wanted type.
    fileprivate static func mean<Number: _HasPersistedType>(_ elements: some Sequence<Self>) -> Number? {
        if Self.self == AnyRealmValue.self {
            let mean = AnyNumbers(elements.lazy.compactMap { $0 as? AnyRealmValue }).mean
            return mean.flatMap { Number._mean(.decimal($0)) }
        }
        return Number._mean(Predicate.Aggregate.avg.of(elements.map { $0._encodeElement(.unmanaged) }))
    }
}

extension _HasPersistedType {
    /// The number as a value of this type; nil if it is not a value type, or refuses the number.
    static func _number(_ value: _StoredValue) -> Self? {
        if self == AnyRealmValue.self { return AnyRealmValue(number: value) as? Self }
        func made<Known: _Persistable>(_ type: Known.Type) -> Self? { Known._fromPlain(value) as? Self }
        return (self as? any _Persistable.Type).flatMap { made($0) }
    }

    /// The mean as a value of this type; nil for null. For a type without fractions it is rounded towards zero.
    static func _mean(_ value: _StoredValue) -> Self? {
        if value.isNull { return nil }
        return _number(value)
            ?? value.number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.flatMap { _number(.integer($0)) }
    }
}

extension RealmCollection where Element.PersistedType: MinMaxType {
    /// The smallest stored value that is neither null nor NaN; nil if there is none.
    @_disfavoredOverload
    public func min() -> Element? { Element.total(.min, self) }
    /// The largest stored value that is neither null nor NaN; nil if there is none.
    @_disfavoredOverload
    public func max() -> Element? { Element.total(.max, self) }
}

extension RealmCollection where Element.PersistedType: AddableType {
    /// The sum of the stored values that are not null; 0 if there is none. Integers wrap around at 64 bits. Stops the
    /// program if a custom type refuses it.
    @_disfavoredOverload
    public func sum() -> Element { Element.sum(self, isManagedElements: realm != nil) }

    /// The mean of the values that are not null, as a number of the wanted type; nil if there is none. For a type
    /// without fractions it is rounded towards zero.
    ///
    ///     let mean: Double? = article.marks.average()
    @_disfavoredOverload
    public func average<Number: _HasPersistedType>() -> Number? where Number.PersistedType: AddableType {
        Element.mean(self)
    }
}

extension Map where Value.PersistedType: MinMaxType {
    /// The smallest value that is neither null nor NaN; nil if there is none.
    public func min() -> Value? { Value.total(.min, values) }
    /// The largest value that is neither null nor NaN; nil if there is none.
    public func max() -> Value? { Value.total(.max, values) }
}

extension Map where Value.PersistedType: AddableType {
    /// The sum of the values that are not null; 0 if there is none. Integers wrap around at 64 bits.
    public func sum() -> Value { Value.sum(values, isManagedElements: false) }

    /// The mean of the values that are not null, as a number of the wanted type; nil if there is none.
    @_disfavoredOverload
    public func average<Number: _HasPersistedType>() -> Number? where Number.PersistedType: AddableType {
        Value.mean(values)
    }

    /// The mean of the values that are not null; nil if there is none. The mean of integers is rounded towards zero.
    public func average() -> Value? { Value.mean(values) }
}

extension Map where Value.PersistedType: SortableType {
    /// The values sorted, null first, without their keys. Live, as other results.
    public func sorted(ascending: Bool = true) -> Results<Value> {
        requiredSource.sorted([SortDescriptor(keyPath: "self", ascending: ascending)]).results()
    }
}
