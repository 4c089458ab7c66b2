/// Finds the property names of a key path, by following it through an object whose getters write down where they are.
///
/// Complexity: an object per class on the way; under a microsecond for a property of the class itself.
final class KeyPathTrace {
    private(set) var names: [String] = []
    private var lastType: Any.Type?

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
        let trace = KeyPathTrace()
        let root = Root()
        root._owner = trace
        _ = root[keyPath: keyPath]
        precondition(!trace.names.isEmpty, "the key path leads through no @Persisted property of \(Root.self)")
        return trace.names
    }

    /// A getter was called: notes its property, and gives something that a longer key path can go on with.
    func record<Value: _Persistable>(_ object: ObjectBase, offset: Int, as _: Value.Type) -> Value {
        let plan = ClassPlan.plan(for: type(of: object))
        lastType = Value.self
        if let field = plan.fields.first(where: { $0.offset == offset }) { names.append(field.name) }
        if let target = Value._shape.objectType, Value._shape.type == .object, Value._shape.collection == .none {
            let next = target.init()
            next._owner = self
            if let value = Value._fromAny(next) { return value }
        }
        let address = plan.prototype._field(offset).assumingMemoryBound(to: Persisted<Value>.self)
        return address.pointee.value ?? Value._makeDefault()
    }
}

/// A class whose key paths are followed where only its metatype is known.
protocol TracedRoot: ObjectBase {}

extension ObjectBase: TracedRoot {}

extension TracedRoot {
    /// - Returns: whether the key path is one of this class.
    fileprivate static func follow(_ keyPath: AnyKeyPath, _ trace: KeyPathTrace) -> Bool {
        guard let keyPath = keyPath as? PartialKeyPath<Self> else { return false }
        let root = Self()
        root._owner = trace
        _ = root[keyPath: keyPath]
        return true
    }
}
