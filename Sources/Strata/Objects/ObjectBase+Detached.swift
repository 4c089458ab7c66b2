extension _CheckedReading {
    /// An unmanaged copy with everything that it leads to, of values that belong to nobody else.
    ///
    /// Objects that lead to each other are copied once, so circles stay circles. Inverses are left out. For encoding,
    /// for another Realm, and for code that must not follow changes.
    /// - Complexity: O(objects that can be reached and their values); takes no stack for long chains.
    public func detached() -> Self {
        var run = DetachRun()
        guard let copy = run.copy(self) as? Self else {
            fatalError("a \(_shortDescription) has no class to copy it to")
        }
        return copy
    }
}

/// Copies objects, first their shells, then what stands in them. Of one run, an object has one copy.
struct DetachRun {
    /// Objects in one file, or unmanaged ones.
    private enum Identity: Hashable {
        case row(table: UInt32, key: Int64)
        case object(ObjectIdentifier)
    }

    private var copies: [Identity: ObjectBase] = [:]
    private var waiting: [(from: ObjectBase, to: ObjectBase)] = []
    /// Whose objects are led to as they are.
    private let home: RealmInstance?

    init(into home: RealmInstance? = nil) { self.home = home }

    mutating func copy(_ object: ObjectBase) -> ObjectBase {
        let copy = shell(object)
        while let next = waiting.popLast() { fill(next.to, from: next.from) }
        return copy
    }

    private mutating func shell(_ object: ObjectBase) -> ObjectBase {
        precondition(
            object._frame == nil || object._access.plan != nil,
            "an object that is known by name alone cannot be detached: its class is not part of the program")
        let identity: Identity =
            object._frame == nil
            ? .object(ObjectIdentifier(object)) : .row(table: object._access.tableID.rawValue, key: object._key)
        if let known = copies[identity] { return known }
        let made = type(of: object).init()
        copies[identity] = made
        waiting.append((from: object, to: made))
        return made
    }

    private mutating func fill(_ copy: ObjectBase, from object: ObjectBase) {
        for field in ClassPlan.plan(for: type(of: object)).fields where field.isStored {
            let value =
                object._frame == nil
                ? field.field.getAny(object._field(field.offset)) : field.field.readAny(object, field.offset)
            _ = field.field.setAny(copy._field(field.offset), converted(_flatten(value)))
        }
    }

    private mutating func target(_ object: ObjectBase) -> ObjectBase {
        home?.manages(object) == true ? object : shell(object)
    }

    private mutating func converted(_ value: Any?) -> Any? {
        switch value {
        case let object as ObjectBase: return target(object)
        case let collection as any _ColumnCollection: return withShells { collection._mapObjects($0) as Any? }
        case let any as AnyRealmValue: return withShells { any._mapObject($0) as Any? }
        default: return value
        }
    }

    /// Collections are mapped by a closure that does not escape; what it meets waits here.
    private mutating func withShells<Value>(_ body: ((ObjectBase) -> ObjectBase) -> Value) -> Value {
        var run = self
        let value = body { run.target($0) }
        self = run
        return value
    }
}
