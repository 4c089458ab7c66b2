/// The objects of another class whose property leads to this one; one entry per link.
///
///     final class Dog: Object {
///         @Persisted var name = ""
///         @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
///     }
public struct LinkingObjects<Element: ObjectBase>: RealmCollection {
    /// The property of `Element` that leads here.
    public let propertyName: String
    private let fixedOwner: ObjectBase?
    /// Of the older form of declaration.
    let anchor: LinkingAnchor?

    private var owner: ObjectBase? { fixedOwner ?? anchor?.owner }

    public init(fromType _: Element.Type, property propertyName: String) {
        self.propertyName = propertyName
        fixedOwner = nil
        anchor = LinkingAnchor()
    }

    /// A declaration by `@Persisted(originProperty:)`, which finds its owner by itself.
    init(declared propertyName: String) {
        self.propertyName = propertyName
        fixedOwner = nil
        anchor = nil
    }

    init(_ owner: ObjectBase, property propertyName: String) {
        self.propertyName = propertyName
        fixedOwner = owner
        anchor = nil
    }

    public var _source: ObjectSource? {
        guard let owner, let instance = owner._instance,
            let origin = owner._access.plan == nil ? nil : instance.access(for: Element.self)
        else { return nil }
        return Self.source(owner, origin, propertyName)
    }

    static func source(_ owner: ObjectBase, _ origin: ClassAccess, _ propertyName: String) -> ObjectSource? {
        guard let property = origin.positions[propertyName] else { return nil }
        return ObjectSource(origin, .backlinks(owner, origin: origin, property: property))
    }

    public static func _make(_ source: ObjectSource) -> LinkingObjects? {
        guard case .backlinks(let owner, let origin, let property) = source.base else { return nil }
        return LinkingObjects(owner, property: origin.properties[property].name)
    }

    public var realm: Realm? { owner?.realm }
    public var isInvalidated: Bool { owner?.isInvalidated ?? false }
    public var count: Int { _source?.count ?? 0 }

    public subscript(position: Int) -> Element {
        guard let source = _source else { fatalError("an unmanaged object has no linking objects") }
        return Results<Element>(source)[position]
    }

    /// Walks the links of this moment.
    public func makeIterator() -> AnyIterator<Element> {
        guard let source = _source else { return AnyIterator { nil } }
        var inner = ResultsIterator<Element>(source, keys: source.keys())
        return AnyIterator { inner.next() }
    }
}

/// Linking objects whose element type is not known.
protocol AnyLinkingObjects {
    var propertyName: String { get }
}

extension LinkingObjects: AnyLinkingObjects {}

extension LinkingObjects: _Persistable {
    public static var _shape: _PropertyShape { _PropertyShape(.linkingObjects, objectType: Element.self) }

    public static func _makeDefault() -> LinkingObjects {
        fatalError("declare linking objects with @Persisted(originProperty:)")
    }

    public static func _read(_ object: ObjectBase, _ offset: Int) -> LinkingObjects {
        let field = object._field(offset).assumingMemoryBound(to: Persisted<LinkingObjects>.self)
        return LinkingObjects(object, property: field.pointee.value?.propertyName ?? "")
    }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: LinkingObjects) {
        fatalError("linking objects follow from the links of the other class; change those")
    }

    public static func _encode(_ value: LinkingObjects, _ encoder: _RowEncoder, _ column: Int) {}
    public static func _fromAny(_ value: Any?) -> LinkingObjects? { value as? LinkingObjects }
}
