// Properties of an object by name, under the names that collections have for the same.

extension ObjectBase {
    /// A property by name, as `self[key]`; `self` stands for the object. Nil where the class has no property of that
    /// name, which is reported.
    public final func value(forKey key: String) -> Any? { key == "self" ? self : _flatten(_dynamicValue(key)) }

    /// The value that a path of names leads to: `"owner.name"`. Nil where a link on the way leads nowhere.
    public final func value(forKeyPath keyPath: String) -> Any? {
        _steps(keyPath).reduce(self as Any?) { value, name in (value as? ObjectBase)?.value(forKey: name) }
    }

    /// Gives a property a value of any type that fits, as `self[key] = value`.
    ///
    /// A name that the class does not have, and a value of another type, fail the write.
    public final func setValue(_ value: Any?, forKey key: String) { _setDynamicValue(key, value) }

    /// Gives the property at the end of a path of names a value; nothing where a link on the way leads nowhere.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let steps = _steps(keyPath)
        guard let last = steps.last else { return }
        let owner = steps.count == 1 ? self : self.value(forKeyPath: steps.dropLast().joined(separator: "."))
        (owner as? ObjectBase)?.setValue(value, forKey: last)
    }

    private final func _steps(_ keyPath: String) -> [String] { keyPath.split(separator: ".").map(String.init) }
}
