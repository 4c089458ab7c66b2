// An object's properties by name, with the method names that collections have.

extension ObjectBase {
    /// The property of a name, as `self[key]`; `self` is the object. Nil if the class has no property of that name,
    /// which is reported.
    public final func value(forKey key: String) -> Any? { key == "self" ? self : _flatten(_dynamicValue(key)) }

    /// The value at the end of a key path: `"owner.name"`, `"dogs.@sum.age"`. Nil if a link of the path is missing.
    ///
    /// Behind a collection it is an array of the values of its elements; operators aggregate them to one value, see
    /// ``RealmCollection/value(forKeyPath:)``.
    public final func value(forKeyPath keyPath: String) -> Any? {
        NamedPath(keyPath, refuse: _refuse).value(of: self)
    }

    /// Sets a property to a value of any type that fits, as `self[key] = value`.
    ///
    /// An unknown name and a value of another type fail the write.
    public final func setValue(_ value: Any?, forKey key: String) { _setDynamicValue(key, value) }

    /// Sets the property at the end of a key path. Has no effect if a link of the path is missing. Behind a collection
    /// every element is set.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        var names = keyPath.split(separator: ".")
        guard let last = names.popLast().map(String.init) else { return }
        let owner = NamedPath(names.joined(separator: "."), refuse: _refuse).value(of: self)
        if let object = owner as? ObjectBase { return object.setValue(value, forKey: last) }
        guard let owner, let elements = NamedElements(of: owner) else { return }
        for element in elements.all { (element as? ObjectBase)?.setValue(value, forKey: last) }
    }

    /// Reports a key path that cannot be followed, as an invalid access.
    private final func _refuse(_ reason: String) {
        guard let instance = _instance else { fatalError(reason) }
        instance.misuse(_access, _key, RealmError(.invalidInput, reason))
    }
}
