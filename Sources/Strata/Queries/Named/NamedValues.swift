// One property of every element of a collection, by name; and the entries of a map, whatever type they are given in.

extension RealmCollection {
    /// The property of each element: an array, of a set a set. `self` stands for the elements themselves, and plain
    /// values have no other name. Nil stands for a null, and where a class has no property of that name, which is
    /// reported.
    ///
    ///     let names = people.value(forKey: "name") as? [String]
    ///     let tags = article.tags.value(forKey: "self") as? Set<String>     // of a MutableSet
    public func value(forKey key: String) -> Any? {
        if key.hasPrefix("@") { return value(forKeyPath: key) }
        let path = NamedPath("", refuse: refuse)
        return NamedElements(of: self)?.mapped { path.named(key, $0) }
    }

    /// The value that a path of names leads to from each element, `"owner.name"`, or what an operator makes of them:
    ///
    /// - `@count`, `@sum.age`, `@avg.age`, `@min.age`, `@max.age`: one value. Sums are `Int`, `Double` or
    ///   `Decimal128`, 0 of none; means are `Double` or `Decimal128`; extremes are what the property holds. Means and
    ///   extremes of none are nil.
    /// - `@unionOfObjects.name`, `@distinctUnionOfObjects.name`: an array of the values, or of different ones, in the
    ///   order of the collection.
    /// - `@unionOfArrays.dogs`, `@distinctUnionOfArrays.dogs`, `@distinctUnionOfSets.tags`: the elements of
    ///   collections, joined.
    ///
    /// An operator that there is not, or that suits no value of the property, fails the write; outside of a write it
    /// follows `Configuration.invalidAccess`, and the answer is nil. Of a collection that nothing manages it ends the
    /// program, with a message.
    /// - Complexity: each element is read; `@count` alone asks for the count.
    public func value(forKeyPath keyPath: String) -> Any? { NamedPath(keyPath, refuse: refuse).value(of: self) }

    /// Gives the property of each element the same value; of plain values, `self` is the value.
    ///
    /// A name that the elements do not have, and a value of another type, fail the write.
    /// - Complexity: a write of one property for each object that is there now.
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
        default: refuseChange("only a list or a set gives all of its values another one")
        }
    }

    /// Outside of a write a change ends the program.
    private func refuseChange(_ reason: String) {
        if managedSource?.instance.isInWrite != true { fatalError(reason) }
        refuse(reason)
    }

    /// Names that cannot be followed: an access to what is not there.
    private func refuse(_ reason: String) {
        let error = Realm.Error(.invalidInput, reason)
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
    /// The value of a key as whatever it is; nil when the map does not have the key. Operators are those of
    /// collections: `"@count"`.
    public func value(forKey key: String) -> Any? {
        if key.hasPrefix("@") { return value(forKeyPath: key) }
        return Key._from(mapKey: key).flatMap { self[$0] }.flatMap { _flatten($0) }
    }

    /// The value that a path leads to whose first name is a key, or what an operator makes of the values:
    /// `"@sum.self"`, `"@allKeys"`, and those of collections.
    public func value(forKeyPath keyPath: String) -> Any? { NamedPath(keyPath, refuse: refuse).value(of: self) }

    /// The value of a key; nil when the map does not have it.
    public func object(forKey key: Key) -> Any? { self[key].flatMap { _flatten($0) } }

    /// Gives a key a value of any type that fits; nil takes the key out. A null that is a value itself, such as an
    /// optional that generic code hands on, is kept where the values may be null.
    ///
    /// A value that does not fit fails the write, or ends the program where nothing manages the map.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let key = Key._from(mapKey: key) else { return refuseChange("'\(key)' is no key of the map") }
        guard let value else { return removeObject(for: key) }
        guard let element = ElementConversion.element(Value.self, value) else {
            if _flatten(value) == nil { return removeObject(for: key) }
            return refuseChange("a map to \(Value.self) holds no \(type(of: value))")
        }
        self[key] = element
    }

    /// Outside of a write a change ends the program.
    private func refuseChange(_ reason: String) {
        if _column?.owner._instance?.isInWrite != true { fatalError(reason) }
        refuse(reason)
    }

    private func refuse(_ reason: String) {
        guard let owner = _column?.owner else { fatalError(reason) }
        owner._access.instance.misuse(owner._access, owner._key, Realm.Error(.invalidInput, reason))
    }
}
