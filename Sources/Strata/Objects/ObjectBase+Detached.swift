extension _CheckedReading {
    /// An unmanaged deep copy, which shares no objects with others.
    ///
    /// Objects in cycles are copied once, so cycles are kept. Inverses are left out. For encoding, for another Realm,
    /// and for code that must not see changes.
    /// - Complexity: O(reachable objects and their values); takes no stack for long chains.
    public func detached() -> Self {
        let run = DetachRun()
        guard let copy = run.copy(self) as? Self else {
            fatalError("a \(_shortDescription) has no class to copy it to")
        }
        return copy
    }
}

/// Copies objects: first empty ones, then their values. A run makes one copy of each object.
///
/// A class: collections are mapped by a closure, and copying the set of known objects would take time linear in the
/// chain.
final class DetachRun {
    /// Objects of one file, or unmanaged ones.
    private enum Identity: Hashable {
        case row(table: UInt32, key: Int64)
        case object(ObjectIdentifier)
    }

    private var copies: [Identity: ObjectBase] = [:]
    private var waiting: [(from: ObjectBase, to: ObjectBase)] = []
    /// The instance whose objects are linked to without a copy.
    private let home: RealmInstance?

    init(into home: RealmInstance? = nil) { self.home = home }

    func copy(_ object: ObjectBase) -> ObjectBase {
        let copy = shell(object)
        while let next = waiting.popLast() { fill(next.to, from: next.from) }
        return copy
    }

    private func shell(_ object: ObjectBase) -> ObjectBase {
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

    private func fill(_ copy: ObjectBase, from object: ObjectBase) {
        for field in ClassPlan.plan(for: type(of: object)).fields where field.isStored {
            let value =
                object._frame == nil
                ? field.field.getAny(object._field(field.offset)) : field.field.readAny(object, field.offset)
            _ = field.field.setAny(copy._field(field.offset), converted(_flatten(value)))
        }
    }

    private func target(_ object: ObjectBase) -> ObjectBase {
        home?.manages(object) == true ? object : shell(object)
    }

    private func converted(_ value: Any?) -> Any? {
        switch value {
        case let object as ObjectBase: return target(object)
        case let collection as any _ColumnCollection: return collection._mapObjects { target($0) }
        case let any as AnyRealmValue: return any._mapObject { target($0) }
        default: return value
        }
    }
}
