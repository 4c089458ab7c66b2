// Forms of access to values by name for code written for RealmSwift: each value as an object, and equality by a method.
// A caller that names no type gets the forms of NamedValues.swift.

extension List {
    /// The property of each element as an object: `as? String`, `as? Int` and the like give the value back. Empty if
    /// the elements have no property of that name, which is reported.
    ///
    ///     let names: [AnyObject] = people.value(forKey: "name")
    @_disfavoredOverload
    public func value(forKey key: String) -> [AnyObject] { Box.elements(value(forKey: key) as Any?) }

    /// The values of a key path, each as an object; the single value of an operator, `"@count"`, is the only element of
    /// the array.
    @_disfavoredOverload
    public func value(forKeyPath keyPath: String) -> [AnyObject] { Box.elements(value(forKeyPath: keyPath) as Any?) }
}

extension MutableSet {
    /// The different values of the property, each as an object, unordered.
    @_disfavoredOverload
    public func value(forKey key: String) -> [AnyObject] { Box.elements(value(forKey: key) as Any?) }

    /// The values of a key path, each as an object; the single value of an operator, `"@count"`, is the only element of
    /// the array.
    @_disfavoredOverload
    public func value(forKeyPath keyPath: String) -> [AnyObject] { Box.elements(value(forKeyPath: keyPath) as Any?) }
}

extension Map {
    /// The value of a key as an object; nil if the map does not have the key. A null in the map is an object that casts
    /// only to an optional.
    @_disfavoredOverload
    public func value(forKey key: String) -> AnyObject? {
        if key.hasPrefix("@") { return value(forKeyPath: key) }
        return Key._from(mapKey: key).flatMap { self[$0] }.map { Box.object($0) }
    }

    /// The value of a key path, as an object.
    @_disfavoredOverload
    public func value(forKeyPath keyPath: String) -> AnyObject? {
        (value(forKeyPath: keyPath) as Any?).map { Box.object($0) }
    }

    /// The value of a key passed as an object, as an object; nil if it is not a key of the map.
    @_disfavoredOverload
    public func object(forKey key: AnyObject) -> AnyObject? {
        (key as? Key).flatMap { self[$0] }.map { Box.object($0) }
    }

    /// Whether the other value is an equal map, as `==` compares.
    public func isEqual(_ other: Any?) -> Bool { Box.value(other, as: Self.self).map { $0 == self } ?? false }
}

extension RealmCollection {
    /// Whether the other value is an equal collection of this type, as `==` compares.
    public func isEqual(_ other: Any?) -> Bool { Box.value(other, as: Self.self).map { $0 == self } ?? false }
}

extension ObjectBase {
    /// Whether the other value is an object of the same row, or the same object, as `==` compares.
    ///
    /// A class cannot override it: `==` would not call the override.
    public final func isEqual(_ other: Any?) -> Bool { _object(in: other).map { $0 == self } ?? false }
}

/// Values as objects.
private enum Box {
    /// Another value cast to one type. Its own type is tested first: the cast of a dictionary to a class would box
    /// everything in it.
    static func value<Wanted>(_ other: Any?, as wanted: Wanted.Type) -> Wanted? {
        guard let other = _flatten(other), type(of: other) is Wanted.Type else { return nil }
        return other as? Wanted
    }

    /// Each element of a collection, or the one value that is not a collection.
    static func elements(_ value: Any?) -> [AnyObject] {
        guard let value else { return [] }
        guard let elements = NamedElements(of: value) else { return [object(value)] }
        return elements.all.map { object($0 as Any) }
    }

    /// Foundation's object for the value, if the program has Foundation: a cast of an object to `Int` finds an
    /// `NSNumber` and no other object.
    static func object(_ value: Any) -> AnyObject {
        let plain = (value as? AnyRealmValue).map { $0.content as Any } ?? value
        guard let content = _flatten(plain) else { return value as AnyObject }
        if let content = content as? any _ObjectiveCBridgeable { return content._bridgeToObjectiveC() }
        return content as AnyObject
    }
}
