// One property of every element of a collection, by name; and the entries of a map, as values of any type.

extension RealmCollection {
    /// The property of each element: an array, for a set a set. `self` is the element itself, and the only name of
    /// plain values. Nil for a null, and if a class has no property of that name, which is reported.
    ///
    ///     let names = people.value(forKey: "name") as? [String]
    ///     let tags = article.tags.value(forKey: "self") as? Set<String>     // of a MutableSet
    public func value(forKey key: String) -> Any? {
        if key.hasPrefix("@") { return value(forKeyPath: key) }
        let path = NamedPath("", refuse: refuse)
        return NamedElements(of: self)?.mapped { path.named(key, $0) }
    }

    /// The value at the end of a key path from each element, `"owner.name"`, or the value of an operator:
    ///
    /// - `@count`, `@sum.age`, `@avg.age`, `@min.age`, `@max.age`: one value. Sums are `Int`, `Double` or
    ///   `Decimal128`, 0 without values; means are `Double` or `Decimal128`; extremes are of the property's type. Means
    ///   and extremes are nil without values.
    /// - `@unionOfObjects.name`, `@distinctUnionOfObjects.name`: an array of the values, or of different ones, in the
    ///   order of the collection.
    /// - `@unionOfArrays.dogs`, `@distinctUnionOfArrays.dogs`, `@distinctUnionOfSets.tags`: the elements of
    ///   collections, joined.
    ///
    /// An unknown operator, and one that suits no value of the property, fail the write; outside of a write they follow
    /// `Configuration.invalidAccess`, and the value is nil. On an unmanaged collection they end the program, with a
    /// message.
    /// - Complexity: reads each element; `@count` alone reads only the count.
    public func value(forKeyPath keyPath: String) -> Any? { NamedPath(keyPath, refuse: refuse).value(of: self) }

    /// Sets the property of each element to the same value; for plain values, `self` is the value.
    ///
    /// An unknown name and a value of another type fail the write.
    /// - Complexity: a write of one property for each object in the collection at the call.
    public func setValue(_ value: Any?, forKey key: String) {
        if ColumnTag(Element._elementShape, isPrimary: false).type == .object {
            for element in self { element._elementObject?._setDynamicValue(key, value) }
            return
        }
        guard key == "self" else { return refuseChange("plain values have no property '\(key)'; 'self' is the value") }
        guard let element = ElementConversion.element(Element.self, value as Any) else {
            return refuseChange("a collection of \(Element.self) holds no \(value.map { "\(type(of: $0))" } ?? "null")")
        }
        switch self {
        case let list as List<Element>: list._assign(List(repeatElement(element, count: count)))
        case let set as MutableSet<Element>: if !isEmpty { set._assign(MutableSet([element])) }
        default: refuseChange("only the values of a list or a set can all be set")
        }
    }

    /// Fails the write. Outside of a write a change ends the program.
    private func refuseChange(_ reason: String) {
        if managedSource?.instance.isInWrite != true { fatalError(reason) }
        refuse(reason)
    }

    /// Reports a name that cannot be followed, as an invalid access.
    private func refuse(_ reason: String) {
        let error = RealmError(.invalidInput, reason)
        switch managedSource {
        case .objects(let source)?: source.instance.misuse(source.access, source.owner?._key, error)
        case .values(let source)?:
            let owner = source.column.owner
            owner._access.instance.misuse(owner._access, owner._key, error)
        case nil: fatalError(reason)
        }
    }
}

extension Map {
    /// The value of a key, of any type; nil if the map does not have the key. Operators are those of collections:
    /// `"@count"`.
    public func value(forKey key: String) -> Any? {
        if key.hasPrefix("@") { return value(forKeyPath: key) }
        return Key._from(mapKey: key).flatMap { self[$0] }.flatMap { _flatten($0) }
    }

    /// The value at the end of a path whose first name is a key, or the value of an operator on the map's values:
    /// `"@sum.self"`, `"@allKeys"`, and those of collections.
    public func value(forKeyPath keyPath: String) -> Any? { NamedPath(keyPath, refuse: refuse).value(of: self) }

    /// The value of a key; nil if the map does not have it.
    public func object(forKey key: Key) -> Any? { self[key].flatMap { _flatten($0) } }

    /// Sets the value of a key to a value of any type that fits; nil removes the key. A null that is itself a value,
    /// such as an optional passed on by generic code, is stored if the map's values are optional.
    ///
    /// A value that does not fit fails the write, or ends the program if the map is unmanaged.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let key = Key._from(mapKey: key) else { return refuseChange("'\(key)' is not a key of the map") }
        guard let value else { return removeObject(for: key) }
        guard let element = ElementConversion.element(Value.self, value) else {
            if _flatten(value) == nil { return removeObject(for: key) }
            return refuseChange("a map to \(Value.self) holds no \(type(of: value))")
        }
        self[key] = element
    }

    /// Fails the write. Outside of a write a change ends the program.
    private func refuseChange(_ reason: String) {
        if _column?.owner._instance?.isInWrite != true { fatalError(reason) }
        refuse(reason)
    }

    private func refuse(_ reason: String) {
        guard let owner = _column?.owner else { fatalError(reason) }
        owner._access.instance.misuse(owner._access, owner._key, RealmError(.invalidInput, reason))
    }
}
