/// A new object of a typed class that is filled with given values while it is unmanaged, and then added once.
///
/// Invariant: setting a value changes the object only, and nothing in a Realm. Values that need the object's row are
/// kept in ``later``. So the caller can drop a draft when a value does not fit.
struct ObjectDraft {
    let object: ObjectBase
    let setters: FieldSetters
    /// Values that are assigned once the object has its row, with the places of their properties.
    private(set) var later: [(place: Int, value: Any)] = []

    /// Nil for a class that the program does not declare, in a migration, and in a write that has failed.
    init?(_ access: ClassAccess, _ write: RunningWrite) {
        guard write.failure == nil, !write.instance.isMigration, let setters = access.setters, let plan = access.plan
        else { return nil }
        self.setters = setters
        object = plan.type.init()
    }

    /// Sets a property by its name; a name that the class does not have is ignored.
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
        // The object that is the default of a link would be added with this one. Since the link is assigned next, that
        // object would stay in the file, and nothing would link to it.
        if setter.way != .plainCollection { _ = setter.field.setAny(object._field(setter.offset), nil) }
        later.append((place, value))
    }
}
