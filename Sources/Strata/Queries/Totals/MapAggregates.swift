// What the values of a map come to, and their order.

extension Map {
    /// The objects in it, each as often as it has keys.
    private func objects<Target: ObjectBase>() -> List<Target> where Value == Target? {
        List(values.compactMap { $0 })
    }

    /// The smallest value of a property of the objects; nil when there is none.
    public func min<Target: ObjectBase, Number: _HasPersistedType>(ofProperty property: String) -> Number?
    where Value == Target?, Number.PersistedType: MinMaxType { objects().min(ofProperty: property) }

    public func max<Target: ObjectBase, Number: _HasPersistedType>(ofProperty property: String) -> Number?
    where Value == Target?, Number.PersistedType: MinMaxType { objects().max(ofProperty: property) }

    public func sum<Target: ObjectBase, Number: _HasPersistedType>(ofProperty property: String) -> Number
    where Value == Target?, Number.PersistedType: AddableType { objects().sum(ofProperty: property) }

    public func average<Target: ObjectBase, Number: _HasPersistedType>(ofProperty property: String) -> Number?
    where Value == Target?, Number.PersistedType: AddableType { objects().average(ofProperty: property) }

    public func min<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Number?
    where Value == Target?, Number.PersistedType: MinMaxType { objects().min(of: keyPath) }

    public func max<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Number?
    where Value == Target?, Number.PersistedType: MinMaxType { objects().max(of: keyPath) }

    public func sum<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Number
    where Value == Target?, Number.PersistedType: AddableType { objects().sum(of: keyPath) }

    public func average<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Double?
    where Value == Target?, Number.PersistedType: AddableType { objects().average(of: keyPath) }

    /// The mean as the property's own type; one that has no fractions gets it rounded towards zero.
    @_disfavoredOverload
    public func average<Target: ObjectBase, Number: _HasPersistedType>(of keyPath: KeyPath<Target, Number>) -> Number?
    where Value == Target?, Number.PersistedType: AddableType { objects().average(of: keyPath) }

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
