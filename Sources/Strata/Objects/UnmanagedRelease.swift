/// Takes apart what an unmanaged object alone leads to, object by object. The runtime would release one inside the
/// other, and a chain of 100 000 is deeper than a stack.
enum UnmanagedRelease {
    /// `object` is at its end: nothing else refers to it.
    @inline(never)
    static func run(_ object: ObjectBase) {
        var waiting: [ObjectBase] = []
        take(object, &waiting)
        while var next = waiting.popLast() {
            // What another reference leads to as well stays whole.
            if next._frame == nil, isKnownUniquelyReferenced(&next) { take(next, &waiting) }
        }
    }

    private static func take(_ object: ObjectBase, _ waiting: inout [ObjectBase]) {
        guard let plan = ClassPlan.planAtEnd(of: type(of: object)) else { return }
        for place in plan.bound {
            let field = plan.fields[place]
            field.field.takeTargets(object._field(field.offset), into: &waiting)
        }
    }

    /// The values of a collection that is at its end: the lists and dictionaries that nothing else holds.
    @inline(never)
    static func run(_ values: [AnyRealmValue]) {
        var waiting = values.filter(\.isCollection)
        while var next = waiting.popLast() {
            switch next {
            case .list(var list):
                next = .none
                if isKnownUniquelyReferenced(&list) { waiting += list.takeCollections() }
            case .dictionary(var map):
                next = .none
                if isKnownUniquelyReferenced(&map) { waiting += map.takeCollections() }
            default: break
            }
        }
    }
}

extension AnyRealmValue {
    fileprivate var isCollection: Bool {
        switch self {
        case .list, .dictionary: true
        default: false
        }
    }
}

extension Sequence where Element: RealmCollectionValue {
    /// The values of any type that are lists or dictionaries; none where the elements are of another type.
    func anyCollections() -> [AnyRealmValue] {
        guard Element.self == AnyRealmValue.self else { return [] }
        return compactMap { $0 as? AnyRealmValue }.filter(\.isCollection)
    }
}
