import Synchronization

/// What all classes of projections have in common; see ``Projection``.
public protocol ProjectionObservable: AnyObject, RealmFetchable, ThreadConfined {
    associatedtype Root: ObjectBase
    var rootObject: Root { get }
    init(projecting object: Root)
}

/// Some properties of a class, under names of their own, as a screen needs them.
///
///     final class PersonProjection: Projection<Person> {
///         @Projected(\Person.firstName) var firstName
///         @Projected(\Person.lastName.localizedUppercase) var lastName
///         @Projected(\Person.address?.city) var homeCity
///         @Projected(\Person.friends.projectTo.firstName) var friendNames: ProjectedCollection<String>
///     }
///     for person in realm.objects(PersonProjection.self) { print(person.homeCity ?? "") }
///
/// It holds the object and no values, so it is as live as the object, and confined to the same thread. Results of
/// projections are filtered and sorted by the names of the projected class.
open class Projection<Root: ObjectBase>: ProjectionObservable, CustomStringConvertible {
    public typealias PersistedType = Root

    /// The object that the properties are read from.
    public let rootObject: Root

    public required init(projecting object: Root) { rootObject = object }

    public static func == (a: Projection, b: Projection) -> Bool { a.rootObject == b.rootObject }
    public func hash(into hasher: inout Hasher) { hasher.combine(rootObject) }

    /// The class, and every projected property with its source.
    open var description: String {
        let address = Unmanaged.passUnretained(rootObject).toOpaque()
        let lines = projectedProperties.map { property in
            "\t\(property.name)(\\.\(property.path)) = \(rootObject[keyPath: property.keyPath]);"
        }
        return "\(type(of: self))<\(type(of: rootObject))> <\(address)> {\n\t"
            + lines.joined(separator: "\n") + "\n}"
    }

    public final var realm: Realm? { rootObject.realm }
    public final var isInvalidated: Bool { rootObject.isInvalidated }
    public final var isFrozen: Bool { rootObject.isFrozen }

    // MARK: As an element and a reference

    public static var _elementShape: _PropertyShape { Root._elementShape }

    public static func _decodeElement(_ value: _StoredValue, _ context: _ElementContext) -> Self? {
        Root._decodeElement(value, context).map { self.init(projecting: $0) }
    }

    public func _encodeElement(_ context: _ElementContext) -> _StoredValue { rootObject._encodeElement(context) }

    public static func _substituteElement(_ context: _ElementContext) -> Self {
        self.init(projecting: Root._substituteElement(context))
    }

    public final var _elementObject: ObjectBase? { rootObject }
    public func _detached() -> _DetachedValue? { rootObject._detached() }

    public static func _found(_ value: _DetachedValue, in realm: Realm) -> Self? {
        Root._found(value, in: realm).map { self.init(projecting: $0) }
    }
}

extension ProjectionObservable {
    public static func className() -> String { Root.className() }
    public static var _rowClass: ObjectBase.Type { Root.self }

    /// The projection of the frozen object, immutable and readable on any thread.
    public func freeze() -> Self { Self(projecting: rootObject.freeze()) }

    /// The projection of the live object on this thread, queue or actor; nil if it was deleted.
    public func thaw() -> Self? { rootObject.thaw().map { Self(projecting: $0) } }
}

/// A property of a class of projections.
struct ProjectedProperty<Root: ObjectBase> {
    let name: String
    /// The names of the properties in its key path, joined by dots.
    let path: String
    let keyPath: PartialKeyPath<Root>
    /// The path to be observed: `path`; for a projected collection, `path` and the projected property of its elements.
    let watched: String
    /// Whether it holds the elements of a collection, or is one.
    let holdsCollection: Bool

    /// The property of the object that the path starts at.
    var rootName: String { String(path.prefix { $0 != "." }) }
}

extension ProjectionObservable {
    /// In order of declaration, those of a superclass first.
    /// - Complexity: a key path per property for the first request of a class; then an access under a lock.
    var projectedProperties: [ProjectedProperty<Root>] {
        let identity = ObjectIdentifier(type(of: self))
        if let known = ProjectedClasses.properties(of: identity) as? [ProjectedProperty<Root>] { return known }
        var mirrors: [Mirror] = []
        var next: Mirror? = Mirror(reflecting: self)
        while let mirror = next {
            mirrors.append(mirror)
            next = mirror.superclassMirror
        }
        let made = mirrors.reversed().flatMap(\.children).compactMap { child -> ProjectedProperty<Root>? in
            guard let label = child.label, let field = child.value as? any ProjectedField,
                let keyPath = field.anyKeyPath as? PartialKeyPath<Root>
            else { return nil }
            let (names, value) = KeyPathTrace.follow(keyPath, from: { (root: Root) in root })
            let path = names.joined(separator: ".")
            let element = (value as? any ProjectedElements)?.elementPath
            return ProjectedProperty(
                name: label.hasPrefix("_") ? String(label.dropFirst()) : label, path: path, keyPath: keyPath,
                watched: element.map { "\(path).\($0)" } ?? path, holdsCollection: field.holdsCollection)
        }
        ProjectedClasses.keep(made, of: identity)
        return made
    }
}

/// Cache of the properties of classes of projections.
private enum ProjectedClasses {
    private struct Known: @unchecked Sendable {  // key paths and names, which never change
        var properties: [ObjectIdentifier: Any] = [:]
    }

    private static let known = Mutex(Known())

    static func properties(of type: ObjectIdentifier) -> Any? { known.withLock { $0.properties[type] } }

    static func keep(_ made: Any, of type: ObjectIdentifier) {
        let carried = Carried(value: made)
        known.withLock { $0.properties[type] = carried.value }
    }
}
