import Synchronization

/// Finds the property names of a key path by following it through an object whose getters record their names.
///
/// Complexity: one object for each class along the path at the first request of a key path; then a dictionary look-up
/// under a lock.
final class KeyPathTrace {
    private(set) var names: [String] = []
    private var lastType: Any.Type?
    /// The recording objects along the path.
    private var objects: [ObjectBase] = []

    /// The property name of a key path of a class; nil for one that is no persisted property, or of another type.
    static func property(_ type: any TracedRoot.Type, _ keyPath: AnyKeyPath) -> String? {
        let trace = KeyPathTrace()
        guard type.follow(keyPath, trace), trace.names.count == 1,
            trace.lastType == Swift.type(of: keyPath).valueType
        else { return nil }
        return trace.names.first
    }

    /// The names of a key path of persisted properties.
    static func names<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> [String] {
        KnownKeyPaths.names(of: keyPath) { follow(keyPath, from: { (root: Root) in root }).names }
    }

    /// Follows a key path from a value that holds an object.
    /// - Returns: the names of the properties along it, and its value.
    static func follow<Root: ObjectBase, Start>(
        _ keyPath: PartialKeyPath<Start>, from start: (Root) -> Start
    ) -> (names: [String], value: Any) {
        let trace = KeyPathTrace()
        let value = start(trace.enter(Root()))[keyPath: keyPath]
        trace.finish(value)
        precondition(!trace.names.isEmpty, "the key path leads through no persisted property of \(Root.self)")
        return (trace.names, value)
    }

    fileprivate func enter<Traced: ObjectBase>(_ object: Traced) -> Traced {
        object._owner = self
        objects.append(object)
        return object
    }

    /// Called after the key path returned `value`. A property without a wrapper has no getter that records it, so its
    /// field is recognized by its content, which is `value`.
    fileprivate func finish(_ value: Any) {
        let visited = objects
        objects.removeAll()
        for object in visited.reversed() {
            let fields = ClassPlan.plan(for: type(of: object)).plainFields
            if let field = fields.first(where: { $0.field.holds(object._field($0.offset), value) }) {
                names.append(field.name)
                lastType = Swift.type(of: value)
                return
            }
        }
    }

    /// Called by the getter of a property on the key path: records the property, and returns a value with which a
    /// longer key path can continue.
    func record<Value: _Persistable>(_ object: ObjectBase, offset: Int, as _: Value.Type) -> Value {
        let plan = ClassPlan.plan(for: type(of: object))
        lastType = Value.self
        if let field = plan.field(at: offset) { names.append(field.name) }
        if let value = next(as: Value.self) { return value }
        let address = plan.prototype._field(offset).assumingMemoryBound(to: Persisted<Value>.self)
        return address.pointee.value ?? Value._makeDefault()
    }

    /// For a property of objects: a value that contains a recording object. Nil for any other property.
    private func next<Value: _Persistable>(as _: Value.Type) -> Value? {
        let shape = Value._shape
        guard let target = shape.objectType, shape.customType == nil else { return nil }
        if let linking = Value.self as? any AnyLinkingObjects.Type {
            return linking.traced(enter(target.init())) as? Value
        }
        guard shape.type == .object else { return nil }
        let object = target.init()
        let made: Value? =
            switch shape.collection {
            case .none: Value._fromAny(object)
            case .list, .set: Value._fromAny([object])
            case .map: Value._fromAny(["": object])
            }
        // The object records only after the value is made: converting it to an optional custom type reads its
        // properties.
        _ = enter(object)
        return made
    }
}

/// The names of key paths that were followed before: a query in a program's source passes the same key path each time.
private enum KnownKeyPaths {
    private struct Entry: @unchecked Sendable {  // key paths do not change
        /// Retained, so that its address is not reused.
        let keyPath: AnyKeyPath
        let names: [String]
    }

    private static let known = Mutex<[ObjectIdentifier: Entry]>([:])
    /// Bounds the memory for programs that make key paths at run time.
    private static let limit = 1000

    static func names(of keyPath: AnyKeyPath, _ trace: () -> [String]) -> [String] {
        let identity = ObjectIdentifier(keyPath)
        if let entry = known.withLock({ $0[identity] }) { return entry.names }
        let entry = Entry(keyPath: keyPath, names: trace())
        known.withLock { if $0.count < limit { $0[identity] = entry } }
        return entry.names
    }
}

/// A class whose key paths are followed through its metatype.
protocol TracedRoot: ObjectBase {}

extension ObjectBase: TracedRoot {}

extension TracedRoot {
    /// - Returns: whether the key path is one of this class.
    fileprivate static func follow(_ keyPath: AnyKeyPath, _ trace: KeyPathTrace) -> Bool {
        guard let keyPath = keyPath as? PartialKeyPath<Self> else { return false }
        trace.finish(trace.enter(Self())[keyPath: keyPath])
        return true
    }
}
