// Properties of an object by name, under the names that collections have for the same.

extension ObjectBase {
    /// A property by name, as `self[key]`; `self` stands for the object. Nil where the class has no property of that
    /// name, which is reported.
    public final func value(forKey key: String) -> Any? { key == "self" ? self : _flatten(_dynamicValue(key)) }

    /// The value that a path of names leads to: `"owner.name"`, `"dogs.@sum.age"`. Nil where a link on the way leads
    /// nowhere.
    ///
    /// Behind a collection it is an array of what its elements have; operators make one value of it, as those of
    /// collections do: see ``RealmCollection/value(forKeyPath:)``.
    public final func value(forKeyPath keyPath: String) -> Any? {
        NamedPath(keyPath, refuse: _refuse).value(of: self)
    }

    /// Gives a property a value of any type that fits, as `self[key] = value`.
    ///
    /// A name that the class does not have, and a value of another type, fail the write.
    public final func setValue(_ value: Any?, forKey key: String) { _setDynamicValue(key, value) }

    /// Gives the property at the end of a path of names a value; nothing where a link on the way leads nowhere. Behind
    /// a collection every element gets it.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        var names = keyPath.split(separator: ".")
        guard let last = names.popLast().map(String.init) else { return }
        let owner = NamedPath(names.joined(separator: "."), refuse: _refuse).value(of: self)
        if let object = owner as? ObjectBase { return object.setValue(value, forKey: last) }
        guard let owner, let elements = NamedElements(of: owner) else { return }
        for element in elements.all { (element as? ObjectBase)?.setValue(value, forKey: last) }
    }

    /// A path of names that cannot be followed: an access to what is not there.
    private final func _refuse(_ reason: String) {
        guard let instance = _instance else { fatalError(reason) }
        instance.misuse(_access, _key, Realm.Error(.invalidInput, reason))
    }
}
