// What optional values, cases of enumerations and values of the program's own types come to: nulls are passed over.

extension RealmCollection {
    /// Of what the elements are stored as.
    fileprivate func stored(_ aggregate: Predicate.Aggregate) -> Element? {
        let value = aggregate.of(map { $0._encodeElement(.unmanaged) })
        return value.isNull ? nil : Element._decodeElement(value, .unmanaged)
    }

    /// The mean as whatever number is wanted; one that has no fractions gets it rounded towards zero.
    fileprivate func mean<Number: AddableType>() -> Number? {
        let mean = Predicate.Aggregate.avg.of(map { $0._encodeElement(.unmanaged) })
        return Number._from(mean)
            ?? mean.number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }.flatMap { Number._from(.integer($0)) }
    }
}

extension RealmCollection {
    /// The smallest value that is neither null nor NaN; nil when there is none.
    public func min<Wrapped: MinMaxType>() -> Element? where Element == Wrapped? { stored(.min) }
    /// The largest value that is neither null nor NaN; nil when there is none.
    public func max<Wrapped: MinMaxType>() -> Element? where Element == Wrapped? { stored(.max) }
    /// The sum of the values that are not null; 0 when there is none. Integers wrap around at 64 bits.
    public func sum<Wrapped: AddableType>() -> Element where Element == Wrapped? { stored(.sum) ?? nil }

    /// The mean of the values that are not null; nil when there is none.
    ///
    ///     let mean: Double? = article.ratings.average()
    public func average<Wrapped: AddableType, Number: AddableType>() -> Number? where Element == Wrapped? { mean() }
}

extension RealmCollection where Element: AddableType {
    /// The mean as a number of the wanted type; nil when there is no value.
    ///
    ///     let mean: Double? = article.marks.average()
    @_disfavoredOverload
    public func average<Number: AddableType>() -> Number? { mean() }
}

extension RealmCollection where Element: FailableCustomPersistable, Element.PersistedType: MinMaxType {
    /// The smallest value, by what the values are stored as; nil when there is none.
    public func min() -> Element? { stored(.min) }
    /// The largest value, by what the values are stored as; nil when there is none.
    public func max() -> Element? { stored(.max) }
}

extension RealmCollection where Element: FailableCustomPersistable, Element.PersistedType: AddableType {
    /// The sum of what the values are stored as; nil when the type refuses it.
    public func sum() -> Element? { stored(.sum) }
    /// The mean of what the values are stored as; nil when there is none.
    public func average<Number: AddableType>() -> Number? { mean() }
}

extension Map {
    /// The smallest value that is neither null nor NaN; nil when there is none.
    public func min<Wrapped: MinMaxType>() -> Value? where Value == Wrapped? { List(values).min() }
    /// The largest value that is neither null nor NaN; nil when there is none.
    public func max<Wrapped: MinMaxType>() -> Value? where Value == Wrapped? { List(values).max() }
    /// The sum of the values that are not null; 0 when there is none. Integers wrap around at 64 bits.
    public func sum<Wrapped: AddableType>() -> Value where Value == Wrapped? { List(values).sum() }
    /// The mean of the values that are not null; nil when there is none.
    public func average<Wrapped: AddableType, Number: AddableType>() -> Number? where Value == Wrapped? {
        List(values).average()
    }

    /// The values in their order, null first, without their keys. Live, as other results.
    public func sorted<Wrapped: _Scalar>(ascending: Bool = true) -> Results<Value> where Value == Wrapped? {
        guard let column = _column else {
            fatalError("an unmanaged map has no results; add its owner to a Realm first")
        }
        return Results(ValueSource(column).adding(.sort(ascending: ascending)))
    }
}

extension Map where Value: AddableType {
    /// The mean as a number of the wanted type; nil when there is no value.
    @_disfavoredOverload
    public func average<Number: AddableType>() -> Number? { List(values).average() }
}
