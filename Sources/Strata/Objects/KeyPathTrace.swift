/// Finds the property names of a key path, by following it through an object whose getters write down where they are.
///
/// Complexity: an object per class on the way; under a microsecond for a property of the class itself.
final class KeyPathTrace {
    private(set) var names: [String] = []

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
