/// Releases objects that only an unmanaged object references, in a loop. The runtime would release them recursively,
/// and a chain of 100 000 exceeds the stack.
enum UnmanagedRelease {
    /// Called in the deinit of `object`.
    @inline(never)
    static func run(_ object: ObjectBase) {
        var waiting: [ObjectBase] = []
        take(object, &waiting)
        while var next = waiting.popLast() {
            // An object with further references is not released now: it runs this itself when it is.
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

    /// Lists and maps of values of any type that wait to be released. Each is kept as a collection: an `AnyRealmValue`
    /// that holds it would be a second reference, so that it would never be uniquely referenced.
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

    /// Called in the deinit of a collection of values of any type: releases its contents in a loop.
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
