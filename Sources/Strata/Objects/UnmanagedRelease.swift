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

    /// Lists and maps of values of any type that are to be taken apart. They are kept as what they are, since a value
    /// of any type that holds one would be another reference to it.
    struct Nested {
        fileprivate var lists: [List<AnyRealmValue>] = []
        fileprivate var maps: [Map<String, AnyRealmValue>] = []

        mutating func take(_ value: AnyRealmValue) {
            switch value {
            case .list(let list): lists.append(list)
            case .dictionary(let map): maps.append(map)
            default: break
            }
        }
    }

    /// A collection of values of any type is at its end: what it alone leads to is taken apart in a loop.
    /// - Parameter empty: moves the values out of the collection.
    @inline(never)
    static func run(_ empty: (inout Nested) -> Void) {
        var waiting = Nested()
        empty(&waiting)
        while true {
            if var list = waiting.lists.popLast() {
                if isKnownUniquelyReferenced(&list) { list.empty(into: &waiting) }
            } else if var map = waiting.maps.popLast() {
                if isKnownUniquelyReferenced(&map) { map.empty(into: &waiting) }
            } else {
                return
            }
        }
    }
}
