import Dispatch

/// One property of each object in a list or a set.
///
///     @Projected(\Person.friends.projectTo.firstName) var friendNames: ProjectedCollection<String>
///
/// It is as live as the collection. Assigning to an index writes to the object there.
public struct ProjectedCollection<Element>: _PlacedCollection, CustomStringConvertible {
    private let backing: any ProjectedBacking<Element>

    fileprivate init(_ backing: any ProjectedBacking<Element>) { self.backing = backing }

    public var startIndex: Int { 0 }
    public var endIndex: Int { backing.count }
    public var realm: Realm? { backing.realm }
    public var isInvalidated: Bool { backing.isInvalidated }
    public var isFrozen: Bool { backing.isFrozen }

    public subscript(position: Int) -> Element {
        get { backing.value(at: position) }
        nonmutating set { backing.setValue(newValue, at: position) }
    }

    public var _gone: _GoneAccess { backing.gone }

    public func _goneElement(_ position: Int, _ bounds: Range<Int>) -> Element {
        backing.goneValue(position, bounds)
    }

    /// Iterates over the values of the objects at the call.
    public func makeIterator() -> AnyIterator<Element> { backing.values() }

    public var description: String {
        let lines = enumerated().map { "\t[\($0.offset)] \($0.element)\n" }
        return "ProjectedCollection<\(Element.self)> {\n\(lines.joined())}"
    }

    /// A frozen copy, immutable and readable on any thread.
    public func freeze() -> ProjectedCollection { ProjectedCollection(backing.frozen()) }

    /// The live collection on this thread, queue or actor; nil if its owner was deleted.
    public func thaw() -> ProjectedCollection? { backing.thawed().map { ProjectedCollection($0) } }

    /// Notifies of the initial contents, and then of every change.
    /// - Parameter keyPaths: the properties whose changes count as modifications of an object; nil for its own
    ///   properties and those of objects that it leads to by at most four links.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping (RealmCollectionChange<ProjectedCollection<Element>>) -> Void
    ) -> NotificationToken {
        backing.observe(keyPaths, queue) { change in
            switch change {
            case .initial(let backing): block(.initial(ProjectedCollection(backing)))
            case .update(let backing, let deletions, let insertions, let modifications):
                block(
                    .update(
                        ProjectedCollection(backing), deletions: deletions, insertions: insertions,
                        modifications: modifications))
            case .error(let error): block(.error(error))
            }
        }
    }
}

extension ProjectedCollection where Element: Equatable {
    /// The first index of a value.
    public func index(of object: Element) -> Int? { firstIndex(of: object) }
}

/// A projected collection of unknown element type.
protocol ProjectedElements {
    /// The names of the projected property.
    var elementPath: String { get }
}

extension ProjectedCollection: ProjectedElements {
    var elementPath: String { backing.path }
}

/// The source of a projected collection: objects of some class, and the value read from each.
private protocol ProjectedBacking<Value> {
    associatedtype Value
    var path: String { get }
    var count: Int { get }
    var realm: Realm? { get }
    var isInvalidated: Bool { get }
    var isFrozen: Bool { get }
    func value(at position: Int) -> Value
    func values() -> AnyIterator<Value>
    var gone: _GoneAccess { get }
    func goneValue(_ position: Int, _ bounds: Range<Int>) -> Value
    func setValue(_ value: Value, at position: Int)
    func frozen() -> any ProjectedBacking<Value>
    func thawed() -> (any ProjectedBacking<Value>)?
    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<any ProjectedBacking<Value>>) -> Void
    ) -> NotificationToken
}

private struct ProjectedObjects<Objects: RealmCollection, Value>: ProjectedBacking where Objects.Element: ObjectBase {
    let objects: Objects
    let keyPath: KeyPath<Objects.Element, Value>

    var path: String { _name(for: keyPath) }
    var count: Int { objects.count }
    var realm: Realm? { objects.realm }
    var isInvalidated: Bool { objects.isInvalidated }
    var isFrozen: Bool { objects.isFrozen }
    func value(at position: Int) -> Value { objects[position][keyPath: keyPath] }

    func values() -> AnyIterator<Value> {
        var walk = objects.makeIterator()
        let keyPath = keyPath
        return AnyIterator { walk.next().map { $0[keyPath: keyPath] } }
    }

    var gone: _GoneAccess { objects._gone }

    func goneValue(_ position: Int, _ bounds: Range<Int>) -> Value {
        objects._goneElement(position, bounds)[keyPath: keyPath]
    }

    func setValue(_ value: Value, at position: Int) {
        guard let keyPath = keyPath as? ReferenceWritableKeyPath<Objects.Element, Value> else {
            fatalError("values that follow from others cannot be written: change what they are projected from")
        }
        objects[position][keyPath: keyPath] = value
    }

    private func with(_ objects: Objects) -> any ProjectedBacking<Value> {
        ProjectedObjects(objects: objects, keyPath: keyPath)
    }

    func frozen() -> any ProjectedBacking<Value> { with(objects.freeze()) }
    func thawed() -> (any ProjectedBacking<Value>)? { objects.thaw().map { with($0) } }

    func observe(
        _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping (RealmCollectionChange<any ProjectedBacking<Value>>) -> Void
    ) -> NotificationToken {
        objects.observe(keyPaths: keyPaths, on: queue) { change in
            switch change {
            case .initial(let objects): block(.initial(with(objects)))
            case .update(let objects, let deletions, let insertions, let modifications):
                block(
                    .update(
                        with(objects), deletions: deletions, insertions: insertions, modifications: modifications))
            case .error(let error): block(.error(error))
            }
        }
    }
}

/// Maps a list or a set to one property of each of its objects.
@dynamicMemberLookup
public struct CollectionElementMapper<Element: ObjectBase> {
    fileprivate enum Objects {
        case list(List<Element>)
        case set(MutableSet<Element>)
    }

    fileprivate let objects: Objects

    public subscript<Value>(dynamicMember member: KeyPath<Element, Value>) -> ProjectedCollection<Value> {
        switch objects {
        case .list(let list): ProjectedCollection(ProjectedObjects(objects: list, keyPath: member))
        case .set(let set): ProjectedCollection(ProjectedObjects(objects: set, keyPath: member))
        }
    }
}

extension List where Element: ObjectBase {
    /// One property of each object: `person.friends.projectTo.firstName`.
    public var projectTo: CollectionElementMapper<Element> { CollectionElementMapper(objects: .list(self)) }
}

extension MutableSet where Element: ObjectBase {
    /// One property of each object; equal values of several objects are repeated.
    public var projectTo: CollectionElementMapper<Element> { CollectionElementMapper(objects: .set(self)) }
}
