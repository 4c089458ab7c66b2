// One property of every object of a collection, by name; and the entries of a map, whatever type they are given in.

extension RealmCollection where Element: ObjectBase {
    /// The property of each object; `self` stands for the objects themselves. Nil where a class has no property of that
    /// name, which is reported.
    ///
    ///     let names = people.value(forKey: "name") as? [String]
    public func value(forKey key: String) -> [Any?] {
        map { key == "self" ? $0 as Any : _flatten($0._dynamicValue(key)) }
    }

    /// The value that a path of names leads to from each object: `"owner.name"`.
    public func value(forKeyPath keyPath: String) -> [Any?] {
        let names = keyPath.split(separator: ".").map(String.init)
        return map { object in
            names.reduce(object as Any?) { value, name in
                (_flatten(value) as? ObjectBase).flatMap { _flatten($0._dynamicValue(name)) }
            }
        }
    }

    /// Gives the property of each object the same value.
    ///
    /// A name that the class does not have, and a value of another type, fail the write.
    /// - Complexity: a write of one property for each object that is there now.
    public func setValue(_ value: Any?, forKey key: String) {
        for element in self { element._setDynamicValue(key, value) }
    }
}

extension Map {
    /// The value of a key as whatever it is; nil when the map does not have the key.
    public func value(forKey key: String) -> Any? {
        Key._from(mapKey: key).flatMap { self[$0] }.flatMap { _flatten($0) }
    }

    /// The value of a key; nil when the map does not have it.
    public func object(forKey key: Key) -> Any? { self[key].flatMap { _flatten($0) } }

    /// Gives a key a value of any type that fits; nil takes the key out.
    ///
    /// A value that does not fit fails the write, or ends the program where nothing manages the map.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let key = Key._from(mapKey: key) else { return refuse("'\(key)' is no key of the map") }
        guard let value = _flatten(value) else { return removeObject(for: key) }
        guard let element = ElementConversion.element(Value.self, value) else {
            return refuse("a map to \(Value.self) holds no \(type(of: value))")
        }
        self[key] = element
    }

    private func refuse(_ reason: String) {
        guard let owner = _column?.owner, owner._instance?.isInWrite == true else { fatalError(reason) }
        owner._instance?.misuse(owner._access, owner._key, Realm.Error(.invalidInput, reason))
    }
}
