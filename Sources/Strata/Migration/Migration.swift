import StrataStorage

/// An object of a migration: read and written by name, because its class may be gone or different.
public typealias MigrationObject = DynamicObject

/// The way from the schema that a file has to the one that the program has.
///
///     migrationBlock: { migration, oldVersion in
///         if oldVersion < 1 {
///             migration.enumerateObjects(ofType: "Person") { old, new in
///                 new?["fullName"] = "\(old?["firstName"] as? String ?? "") \(old?["lastName"] as? String ?? "")"
///             }
///         }
///     }
///
/// Everything happens in one transaction: when the block throws, or does what cannot be done, the file is as before.
/// Concurrency: for the block's own thread, and for as long as it runs.
public final class Migration {
    private let source: RealmInstance
    private let target: RealmInstance
    /// Names that a property had between the old and the new schema, when versions are skipped.
    private var aliases: [String: [String: String]] = [:]

    init(_ source: RealmInstance, _ target: RealmInstance) {
        self.source = source
        self.target = target
    }

    public var oldSchema: Schema { Schema(source.currentView?.schema ?? StoreSchema()) }
    public var newSchema: Schema { Schema(target.currentView?.schema ?? StoreSchema()) }

    /// Walks the objects of a class: `(old, new)` where it is in both schemas, `(old, nil)` where the program has it no
    /// more, `(nil, new)` where it is new. Objects that were deleted by the migration are left out, those that it
    /// creates while walking are not visited.
    /// - Complexity: O(rows); memory for one key per row.
    public func enumerateObjects(
        ofType typeName: String, _ block: (_ old: MigrationObject?, _ new: MigrationObject?) throws -> Void
    ) rethrows {
        let old = source.access(named: typeName, typed: false)
        let new = isWanted(typeName) ? target.access(named: typeName, typed: false) : nil
        for key in keys(old ?? new) {
            let oldObject = old.flatMap { source.materialize($0, RowKey(key)) as? MigrationObject }
            let newObject = new.flatMap { target.materialize($0, RowKey(key)) as? MigrationObject }
            if new != nil && newObject == nil { continue }
            try block(oldObject, newObject)
        }
    }

    private func keys(_ access: ClassAccess?) -> [Int64] {
        guard let access, let view = access.instance.currentView else { return [] }
        do throws(StorageError) { return try view.keys(access.table) } catch {
            fail(Realm.Error(error))
            return []
        }
    }

    private func isWanted(_ typeName: String) -> Bool {
        do { return try target.configuration.plans().contains { $0.name == typeName } } catch { return false }
    }

    /// Makes an object in the new schema.
    @discardableResult
    public func create(_ typeName: String, value: Any = [String: Any]()) -> MigrationObject {
        guard let access = target.access(named: typeName, typed: false) else {
            fail(Realm.Error(.invalidInput, "the new schema has no class '\(typeName)'"))
            return MigrationObject()
        }
        return target.create(access, value, .error) as? MigrationObject ?? MigrationObject()
    }

    /// Deletes an object of the new schema. Its old twin stays readable.
    public func delete(_ object: MigrationObject) {
        if object._instance === source {
            return fail(Realm.Error(.invalidInput, "an object of the old schema cannot be deleted; delete the new one"))
        }
        target.delete([object])
    }

    /// Deletes a class with its data; its rows at least, when the program still has the class.
    /// - Returns: whether there was such a class.
    @discardableResult
    public func deleteData(forType typeName: String) -> Bool {
        guard let access = target.access(named: typeName, typed: false), let transaction = target.transaction else {
            return false
        }
        do throws(StorageError) {
            try transaction.deleteAll(access.table)
            if !isWanted(typeName) {
                var schema = transaction.view.schema
                let isLinkedTo = schema.tables.contains { table in
                    table.id != access.tableID && table.columns.contains { $0.target == access.tableID }
                }
                if !isLinkedTo {
                    schema.tables.removeAll { $0.id == access.tableID }
                    try transaction.apply(schema: schema)
                    target.schemaDidChange()
                }
            }
        } catch {
            fail(Realm.Error(error))
        }
        target.invalidatePlaces()
        return true
    }

    /// Gives the values of a property of the old schema to one of the new schema.
    ///
    /// Names of versions in between may be used, so that renamings of several steps work when versions are skipped.
    public func renameProperty(onType typeName: String, from oldName: String, to newName: String) {
        let original = aliases[typeName]?[oldName] ?? oldName
        guard let old = source.access(named: typeName, typed: false), old.property(original) != nil else {
            return fail(Realm.Error(.invalidInput, "the old schema has no property '\(typeName).\(oldName)' to rename"))
        }
        guard let new = target.access(named: typeName, typed: false), new.property(newName) != nil else {
            aliases[typeName, default: [:]][newName] = original
            return
        }
        copy(original, to: newName, of: typeName)
    }

    /// Copies a property's values; a null becomes the type's default where the new property is required.
    func copy(_ oldName: String, to newName: String, of typeName: String) {
        guard let old = source.access(named: typeName, typed: false), let from = old.property(oldName),
            let new = target.access(named: typeName, typed: false), let into = new.property(newName),
            let oldView = source.currentView, let transaction = target.transaction
        else { return }
        guard from.tag.columnType == into.tag.columnType, from.tag.collection == into.tag.collection,
            from.tag.columnType != .bytes || from.tag.type == into.tag.type
        else {
            return fail(
                Realm.Error(
                    .schemaMismatch, "'\(typeName).\(oldName)' is a \(from.tag.type), '\(newName)' a \(into.tag.type)"))
        }
        guard into.column >= 0 else { return }
        do throws(StorageError) {
            for key in try oldView.keys(old.table) {
                guard let row = try oldView.locate(old.table, RowKey(key)),
                    try transaction.view.locate(new.table, RowKey(key)) != nil
                else { continue }
                let value: _StoredValue =
                    from.column == Int(ColumnSlot.key) ? .integer(key) : try oldView.value(row, from.column, from.tag)
                if value.isNull && !into.tag.isOptional && into.tag.columnType != .link { continue }
                try value.withCell { (cell) throws(StorageError) in
                    try transaction.set(new.table, RowKey(key), into.column, cell)
                }
            }
        } catch {
            fail(Realm.Error(error))
        }
        target.invalidatePlaces()
    }

    private func fail(_ error: Realm.Error) { target.fail(error) }

    /// - Throws: what went wrong without being thrown, and primary keys that are there twice.
    func finish(checking classNames: [String]) throws(Realm.Error) {
        if let failure = target.failure { throw failure }
        for name in classNames {
            guard let access = target.access(named: name, typed: false), let primary = access.primary,
                primary.column >= 0, let view = target.currentView
            else { continue }
            var seen: Set<_StoredValue> = []
            let twice = try storage { () throws(StorageError) -> _StoredValue? in
                for key in try view.keys(access.table) {
                    guard let row = try view.locate(access.table, RowKey(key)) else { continue }
                    let value = try view.value(row, primary.column, primary.tag)
                    if !seen.insert(value).inserted { return value }
                }
                return nil
            }
            if let twice {
                let shown = twice.any(as: primary.tag.type).map { "\($0)" } ?? "nil"
                throw Realm.Error(
                    .duplicateKey,
                    "the primary key '\(name).\(primary.name)' has the value \(shown) more than once after the "
                        + "migration; give every \(name) a value of its own in the migration block")
            }
        }
    }
}
