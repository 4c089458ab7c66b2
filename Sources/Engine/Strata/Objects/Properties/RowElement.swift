/// An element that is backed by a row: an object, or a projection of one. Its collections are filtered, sorted and
/// observed by the properties of the row's class. For the library's own use.
public protocol _RowElement: RealmCollectionValue {
    /// The names of the properties behind a key path of the element, with dots between them.
    static func _path(of keyPath: AnyKeyPath) -> String
    /// The paths that are observed if the program names none; nil stands for all properties of the row itself.
    static var _watchedPaths: [String]? { get }
}

extension ObjectBase: _RowElement {
    public static var _watchedPaths: [String]? { nil }
}

/// A type that a Realm returns all instances of: the objects of a class, or projections of them.
///
///     func all<Element: RealmFetchable>(_ type: Element.Type) -> Results<Element> { realm.objects(type) }
public protocol RealmFetchable: _RowElement {
    /// The class's name in the file.
    static func className() -> String
    /// The class of the rows behind the instances. For the library's own use.
    static var _rowClass: ObjectBase.Type { get }
}

extension Object: RealmFetchable {
    public static var _rowClass: ObjectBase.Type { self }
}

extension _CheckedReading {
    public static func _path(of keyPath: AnyKeyPath) -> String {
        guard let keyPath = keyPath as? PartialKeyPath<Self> else {
            preconditionFailure("\(keyPath) is no key path of \(Self.self)")
        }
        return KeyPathTrace.names(of: keyPath).joined(separator: ".")
    }
}

/// A key path's property names, for messages, sorts and queries.
///
///     _name(for: \Person.dogs[0].name)              // "dogs.name"
///     _name(for: \PersonProjection.homeCity)        // "address.city"
public func _name<Element: _RowElement>(for keyPath: PartialKeyPath<Element>) -> String {
    Element._path(of: keyPath)
}
