import Synchronization

/// Finds the property names of a key path, by following it through an object whose getters write down where they are.
///
/// Complexity: an object per class on the way, the first time; then a dictionary access under a lock.
final class KeyPathTrace {
    private(set) var names: [String] = []
    private var lastType: Any.Type?
    /// Everything on the way that notes what is read of it.
    private var objects: [ObjectBase] = []

    /// The name of the property that a key path of a class is; nil for one that is no persisted property, or has
    /// another type than it.
    static func property(_ type: any TracedRoot.Type, _ keyPath: AnyKeyPath) -> String? {
        let trace = KeyPathTrace()
        guard type.follow(keyPath, trace), trace.names.count == 1,
            trace.lastType == Swift.type(of: keyPath).valueType
        else { return nil }
        return trace.names.first
    }

    /// The names of a key path that goes through persisted properties only.
    static func names<Root: ObjectBase>(of keyPath: PartialKeyPath<Root>) -> [String] {
        KnownKeyPaths.names(of: keyPath) { follow(keyPath, from: { (root: Root) in root }).names }
    }

    /// Follows a key path from something that holds an object.
    /// - Returns: the names of the properties on the way, and what the key path leads to.
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

    /// The key path has led to `value`. A property without a wrapper calls nothing when it is read: what stands in it
    /// says which one it was.
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

    /// A getter was called: notes its property, and gives something that a longer key path can go on with.
    func record<Value: _Persistable>(_ object: ObjectBase, offset: Int, as _: Value.Type) -> Value {
        let plan = ClassPlan.plan(for: type(of: object))
        lastType = Value.self
        if let field = plan.field(at: offset) { names.append(field.name) }
        if let value = next(as: Value.self) { return value }
        let address = plan.prototype._field(offset).assumingMemoryBound(to: Persisted<Value>.self)
        return address.pointee.value ?? Value._makeDefault()
    }

    /// Where a property leads to objects, something with one object that notes what is read of it.
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
        // Not before it is made: an optional value of a custom type is made of what it reads of the object.
        _ = enter(object)
        return made
    }
}

/// The names of key paths that were followed before: a query that is written once is run again and again.
private enum KnownKeyPaths {
    private struct Entry: @unchecked Sendable {  // key paths do not change
        /// Kept, so that no other takes its address.
        let keyPath: AnyKeyPath
        let names: [String]
    }

    private static let known = Mutex<[ObjectIdentifier: Entry]>([:])
    /// A program that makes key paths at run time would fill the memory with them.
    private static let limit = 1000

    static func names(of keyPath: AnyKeyPath, _ trace: () -> [String]) -> [String] {
        let identity = ObjectIdentifier(keyPath)
        if let entry = known.withLock({ $0[identity] }) { return entry.names }
        let entry = Entry(keyPath: keyPath, names: trace())
        known.withLock { if $0.count < limit { $0[identity] = entry } }
        return entry.names
    }
}

/// A class whose key paths are followed where only its metatype is known.
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
