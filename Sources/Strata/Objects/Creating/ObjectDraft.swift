/// A new object of a typed class that is filled with given values while nothing manages it, and then added once.
///
/// Invariant: values that need the object's row are kept in ``later``, and nothing in a Realm has changed before the
/// object is added. So a draft with a value that does not fit is simply dropped.
struct ObjectDraft {
    let object: ObjectBase
    let setters: FieldSetters
    /// Values to assign once the object has its row, with the places of their properties.
    private(set) var later: [(place: Int, value: Any)] = []

    /// Nil for a class that the program does not declare, in a migration, and in a write that has failed.
    init?(_ access: ClassAccess, _ write: RunningWrite) {
        guard write.failure == nil, !write.instance.isMigration, let setters = access.setters, let plan = access.plan
        else { return nil }
        self.setters = setters
        object = plan.type.init()
    }

    /// Sets the property with a name; a name that the class does not have is passed over.
    /// - Returns: false if the value does not fit.
    @inline(__always)
    mutating func set(_ value: Any, named name: String) -> Bool {
        guard let place = setters.place(of: name) else { return true }
        return set(value, at: place)
    }

    /// - Returns: false if the value does not fit.
    @inline(__always)
    mutating func set(_ value: Any, at place: Int) -> Bool {
        switch setters.set(value, at: place, of: object) {
        case .set: return true
        case .later:
            keep(value, place)
            return true
        case .refused: return false
        }
    }

    private mutating func keep(_ value: Any, _ place: Int) {
        let setter = setters[place]
        // A declared default that is replaced at once would leave an object without an owner.
        if setter.way != .plainCollection { _ = setter.field.setAny(object._field(setter.offset), nil) }
        later.append((place, value))
    }
}
