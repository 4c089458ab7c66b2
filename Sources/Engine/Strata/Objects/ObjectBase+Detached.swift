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

/// Copies objects and all that they lead to: for each object first an empty copy, then its values. A run makes one copy
/// of each object.
///
/// A class and not a struct: a collection is mapped by a closure that looks up and adds copies. A struct's dictionary
/// of the copies would be copied for each collection, which takes time linear in the length of a chain.
final class DetachRun {
    /// Identifies a managed object by its row, so that two accessors of a row get one copy, and an unmanaged one by its
    /// address. All managed objects of a run are of one file.
    private enum Identity: Hashable {
        case row(table: UInt32, key: Int64)
        case object(ObjectIdentifier)
    }

    private var copies: [Identity: ObjectBase] = [:]
    private var waiting: [(from: ObjectBase, to: ObjectBase)] = []
    /// The Realm that the copies will be added to: its own objects are linked to without a copy. Nil if all are copied.
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
