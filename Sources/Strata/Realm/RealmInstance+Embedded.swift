import StrataStorage

/// A row of a class of embedded objects.
struct EmbeddedRow: Hashable {
    var table: Int
    var key: Int64
}

/// Embedded objects: each has exactly one parent.
///
/// Invariant: between calls, every embedded row of the running write is led to by exactly one link, or is in `unowned`
/// because the call that gives it to its parent comes next. What is left there when the write is committed is deleted.
extension RealmInstance {
    /// A row that was made for a parent to be.
    func noteUnowned(_ access: ClassAccess, _ key: Int64) {
        unowned.insert(EmbeddedRow(table: access.table, key: key))
    }

    /// Makes `new` the children of one property in the place of `old`.
    /// - Returns: those of `old` that are children no more; nil, and the write marked, when one of `new` has a parent.
    func adopt(_ new: [Int64], over old: [Int64], _ target: ClassAccess) -> [Int64]? {
        if new.isEmpty { return old }
        let known = Set(old)
        var kept: Set<Int64> = []
        for key in new {
            let isFree =
                known.contains(key)
                || unowned.remove(EmbeddedRow(table: target.table, key: key)) != nil || isMigration
            guard kept.insert(key).inserted, isFree else {
                fail(
                    Realm.Error(
                        .invalidInput,
                        "the embedded \(target.name) has a parent already; give this one an object of its own, such as "
                            + "detached()"))
                return nil
            }
        }
        return old.filter { !kept.contains($0) }
    }

    /// The children that a column holds.
    func children(_ object: ObjectBase, _ property: BoundProperty) -> [Int64] {
        guard let view = currentView, object._stamp == stamp || object._relocate(), let location = object._location
        else { return [] }
        do throws(StorageError) {
            if !property.isCollection { return try view.integer(location, property.column).map { [$0] } ?? [] }
            guard let bytes = try view.bytes(location, property.column) else { return [] }
            guard let reader = LinkPayload.Reader(bytes) else {
                throw view.damage(at: location)
            }
            return reader.links.filter { $0 != LinkPayload.null }
        } catch {
            fail(Realm.Error(error))
            return []
        }
    }

    /// A column of any type with the object that may be in it.
    func anyValue(_ object: ObjectBase, _ property: BoundProperty) -> AnyRealmValue? {
        _CollectionColumn(object, object._access.positions[property.name] ?? 0).withBytes(nil) { bytes in
            AnyEncoding.decode(bytes, self).map { .some($0) }
        }
    }

    /// Deletes what was made for a parent and never got one.
    func deleteUnowned() {
        if unowned.isEmpty { return }
        let rows = unowned.sorted { ($0.table, $0.key) < ($1.table, $1.key) }
        unowned.removeAll()
        for row in rows {
            guard let access = knownAccess(ofTable: row.table) else { continue }
            deleteChildren([row.key], access)
        }
    }

    /// Deletes embedded objects that nothing leads to any more, and theirs.
    func deleteChildren(_ keys: [Int64], _ target: ClassAccess) {
        #if Zoo
            if PlantedMistake.childKept.isPlanted { return }
        #endif
        if keys.isEmpty { return }
        run(keys.map { DeleteRun.Row(access: target, key: $0) })
    }
}

/// Looks whether every object of classes that became embedded has one parent.
struct EmbeddedCheck {
    private let view: ReadView

    init(_ view: ReadView) { self.view = view }

    /// - Complexity: O(rows of the classes).
    func firstOffence(in names: [String]) throws(StorageError) -> Realm.Error? {
        for name in names {
            guard let table = view.schema.position(named: name) else { continue }
            for key in try view.keys(table) {
                let parents = try linkCount(RowKey(key), view.schema.tables[table].id)
                if parents == 1 { continue }
                return Realm.Error(
                    .schemaMismatch,
                    "the \(name) with key \(key) has \(parents) parents, and an embedded object has one; delete it or "
                        + "copy it in the migration block")
            }
        }
        return nil
    }

    private func linkCount(_ key: RowKey, _ id: TableID) throws(StorageError) -> Int {
        var count = 0
        for (table, definition) in view.schema.tables.enumerated() {
            for (column, columnDefinition) in definition.columns.enumerated()
            where columnDefinition.type.isLink && columnDefinition.target == id {
                count += try view.backlinkCount(to: key, of: table, column)
            }
        }
        return count
    }
}
