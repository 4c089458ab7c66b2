// Aggregates of the values of a map, and their order.

extension Map {
    /// The smallest value of a property of the objects, or of `self` for plain values; nil if there is none. An object
    /// counts once for each of its keys.
    public func min<Number: _HasPersistedType>(ofProperty property: String) -> Number?
    where Number.PersistedType: MinMaxType { List(values).min(ofProperty: property) }

    public func max<Number: _HasPersistedType>(ofProperty property: String) -> Number?
    where Number.PersistedType: MinMaxType { List(values).max(ofProperty: property) }

    public func sum<Number: _HasPersistedType>(ofProperty property: String) -> Number
    where Number.PersistedType: AddableType { List(values).sum(ofProperty: property) }

    public func average<Number: _HasPersistedType>(ofProperty property: String) -> Number?
    where Number.PersistedType: AddableType { List(values).average(ofProperty: property) }

    /// The objects sorted by a property, or plain values by `self`, without their keys. Live, as other results.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    public func sorted<Descriptors: Sequence<SortDescriptor>>(by descriptors: Descriptors) -> Results<Value> {
        requiredSource.sorted(Array(descriptors)).results()
    }
}

extension Map {
    /// The objects in it, each once for each of its keys.
    private func objects<Target: ObjectBase>() -> List<Target> where Value == Target? {
        List(values.compactMap { $0 })
    }

    public func min<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Number?
    where Value == Target?, Number.PersistedType: MinMaxType { objects().min(of: keyPath) }

    public func max<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Number?
    where Value == Target?, Number.PersistedType: MinMaxType { objects().max(of: keyPath) }

    public func sum<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Number
    where Value == Target?, Number.PersistedType: AddableType { objects().sum(of: keyPath) }

    public func average<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Double?
    where Value == Target?, Number.PersistedType: AddableType { objects().average(of: keyPath) }

    /// The mean as the property's own type; for a type without fractions it is rounded towards zero.
    @_disfavoredOverload
    public func average<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Number?
    where Value == Target?, Number.PersistedType: AddableType { objects().average(of: keyPath) }

    public func sorted<Target: ObjectBase, Member>(
        by keyPath: KeyPath<Target, Member>, ascending: Bool = true
    ) -> Results<Value> where Value == Target? { sorted(byKeyPath: _name(for: keyPath), ascending: ascending) }
}
