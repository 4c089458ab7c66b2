// What the values of a map come to, and their order.

extension Map where Value: MinMaxType & Comparable {
    /// The smallest value that is not NaN; nil when there is none.
    public func min() -> Value? { List(values).min() }
    /// The largest value that is not NaN; nil when there is none.
    public func max() -> Value? { List(values).max() }
}

extension Map where Value: AddableType {
    /// The sum of the values; 0 when there is none. Integers wrap around at 64 bits.
    public func sum() -> Value { List(values).sum() }
    /// The mean of the values; nil when there is none. The mean of integers is rounded towards zero.
    public func average() -> Value? { List(values).average() }
}

extension Map where Value: _Scalar {
    /// The values in their order, without their keys. Live, as other results.
    public func sorted(ascending: Bool = true) -> Results<Value> {
        guard let column = _column else {
            fatalError("an unmanaged map has no results; add its owner to a Realm first")
        }
        return Results(ValueSource(column).adding(.sort(ascending: ascending)))
    }
}

extension Map {
    /// The objects in it, each as often as it has keys.
    private func objects<Target: ObjectBase>() -> List<Target> where Value == Target? {
        List(values.compactMap { $0 })
    }

    /// The smallest value of a property of the objects; nil when there is none.
    public func min<Target: ObjectBase, Number: MinMaxType>(ofProperty property: String) -> Number?
    where Value == Target? { objects().min(ofProperty: property) }

    public func max<Target: ObjectBase, Number: MinMaxType>(ofProperty property: String) -> Number?
    where Value == Target? { objects().max(ofProperty: property) }

    public func sum<Target: ObjectBase, Number: AddableType>(ofProperty property: String) -> Number
    where Value == Target? { objects().sum(ofProperty: property) }

    public func average<Target: ObjectBase, Number: AddableType>(ofProperty property: String) -> Number?
    where Value == Target? { objects().average(ofProperty: property) }

    public func min<Target: ObjectBase, Number: MinMaxType>(of keyPath: KeyPath<Target, Number>) -> Number?
    where Value == Target? { objects().min(of: keyPath) }

    public func max<Target: ObjectBase, Number: MinMaxType>(of keyPath: KeyPath<Target, Number>) -> Number?
    where Value == Target? { objects().max(of: keyPath) }

    public func sum<Target: ObjectBase, Number: AddableType>(of keyPath: KeyPath<Target, Number>) -> Number
    where Value == Target? { objects().sum(of: keyPath) }

    public func average<Target: ObjectBase, Number: AddableType>(of keyPath: KeyPath<Target, Number>) -> Double?
    where Value == Target? { objects().average(of: keyPath) }

    /// The objects in the order of a property, without their keys. Live, as other results.
    public func sorted<Target: ObjectBase>(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value>
    where Value == Target? { sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)]) }

    public func sorted<Target: ObjectBase, Member>(
        by keyPath: KeyPath<Target, Member>, ascending: Bool = true
    ) -> Results<Value> where Value == Target? { sorted(byKeyPath: _name(for: keyPath), ascending: ascending) }

    public func sorted<Target: ObjectBase, Descriptors: Sequence<SortDescriptor>>(
        by descriptors: Descriptors
    ) -> Results<Value> where Value == Target? {
        guard let source = _source else {
            fatalError("an unmanaged map has no results; add its owner to a Realm first")
        }
        return Results<Value>(Results<Target>(source).sorted(by: descriptors).source)
    }
}
