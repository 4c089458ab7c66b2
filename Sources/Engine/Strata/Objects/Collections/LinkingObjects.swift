/// The objects of another class that link to this one by a property; one entry per link.
///
///     final class Dog: Object {
///         @Persisted var name = ""
///         @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
///     }
public struct LinkingObjects<Element: ObjectBase>: RealmCollection {
    /// The linking property of `Element`.
    public let propertyName: String
    private let fixedOwner: ObjectBase?
    /// Set if the field was declared by ``init(fromType:property:)``, without a wrapper: has the owner once it is
    /// managed.
    let anchor: LinkingAnchor?
    /// Offset of the field in its owner, if it is one.
    private let offset: Int

    private var owner: ObjectBase? { fixedOwner ?? anchor?.owner }

    public init(fromType _: Element.Type, property propertyName: String) {
        self.propertyName = propertyName
        fixedOwner = nil
        anchor = LinkingAnchor()
        offset = .max
    }

    /// A declaration by `@Persisted(originProperty:)`, which finds its owner itself.
    @usableFromInline
    init(declared propertyName: String) {
        self.propertyName = propertyName
        fixedOwner = nil
        anchor = nil
        offset = .max
    }

    init(_ owner: ObjectBase, property propertyName: String, offset: Int = .max) {
        self.propertyName = propertyName
        fixedOwner = owner
        anchor = nil
        self.offset = offset
    }

    public var _source: ObjectSource? {
        guard let owner, owner._frame != nil, owner._access.plan != nil,
            let origin = owner._access.origin(of: Element.self, propertyName, offset: offset)
        else { return nil }
        return ObjectSource(
            origin.access, .backlinks(owner, origin: origin.access, property: origin.position))
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

    /// - Complexity: O(log n) if the linking property is a single link or a set. A list or a map may link to the object
    ///   several times: then all nodes that have its links are read.
    public var count: Int { _source?.count ?? 0 }

    /// The object at a place. Beyond the end, the access follows `Configuration.invalidAccess`, as in ``Results``.
    public subscript(position: Int) -> Element {
        if let traced = anchor?.traced as? Element { return traced }
        guard let source = _source else { return _goneElement(position, 0..<0) }
        if let key = source.key(at: position), let element = Element._decodeElement(.link(key), source.context) {
            return element
        }
        return _goneElement(position, 0..<source.count)
    }

    public var _gone: _GoneAccess {
        guard let owner, owner._frame != nil else { return _GoneAccess(unmanaged: "linking objects") }
        return _GoneAccess(owner, "linking objects of '\(owner._access.name)'")
    }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element {
        _gone.tell(place: position, in: bounds)
        return Element._substituteElement(_source?.context ?? .unmanaged)
    }

    /// Iterates over the present links.
    public func makeIterator() -> ResultsIterator<Element> {
        if let walk = backWalk { return ResultsIterator(walk) }
        let source = _source
        if let source, let parts = source.linksInParts() { return ResultsIterator(source, parts) }
        return ResultsIterator(source, keys: source?.keys() ?? [])
    }

    public func _count(atMost most: Int) -> Int { _source?.count(atMost: most) ?? 0 }
}

extension LinkingObjects {
    /// An iteration that copies the keys and needs no source; nil if there are too many links for that.
    private var backWalk: ObjectWalk? {
        #if Zoo
            if PlantedMistake.backlinkLost.isPlanted || PlantedMistake.loopLive.isPlanted { return nil }
        #endif
        guard let owner, owner._frame != nil, owner._access.plan != nil,
            let origin = owner._access.origin(of: Element.self, propertyName, offset: offset)
        else { return nil }
        let column = origin.access.properties[origin.position].column
        return column < 0 ? nil : ObjectWalk.back(to: owner, origin.access, column: column)
    }
}

/// Linking objects of unknown element type.
protocol AnyLinkingObjects {
    var propertyName: String { get }
    /// Linking objects that consist of `element` alone, which records the properties that a key path reads.
    static func traced(_ element: ObjectBase) -> Self
}

extension LinkingObjects: AnyLinkingObjects {
    static func traced(_ element: ObjectBase) -> LinkingObjects {
        let made = LinkingObjects(fromType: Element.self, property: "")
        made.anchor?.traced = element
        return made
    }
}

extension LinkingObjects: _Persistable {
    public static var _shape: _PropertyShape { _PropertyShape(.linkingObjects, objectType: Element.self) }

    public static func _makeDefault() -> LinkingObjects {
        fatalError("declare linking objects with @Persisted(originProperty:)")
    }

    public static func _read(_ object: ObjectBase, _ offset: Int) -> LinkingObjects {
        let field = object._field(offset).assumingMemoryBound(to: Persisted<LinkingObjects>.self)
        return LinkingObjects(object, property: field.pointee.value?.propertyName ?? "", offset: offset)
    }

    public static func _write(_ object: ObjectBase, _ offset: Int, _ value: LinkingObjects) {
        fatalError("linking objects follow from the links of the other class; change those")
    }

    public static func _encode(_ value: LinkingObjects, _ encoder: _RowEncoder, _ column: Int) {}
    public static func _fromAny(_ value: Any?) -> LinkingObjects? { value as? LinkingObjects }
}
