import StrataStorage

/// Copies primary keys that were stored as row keys, and so in no column, to the columns that they have now.
struct CarriedKeys {
    private let source: RealmInstance
    private let target: RealmInstance

    init(_ source: RealmInstance, _ target: RealmInstance) {
        self.source = source
        self.target = target
    }

    /// Copies the old row key to every property that has a column of its own now. Called before the migration block
    /// runs.
    func copyAll(of schema: StoreSchema) {
        for table in schema.tables {
            guard let key = table.rowKeyProperty, let old = source.access(named: table.name, typed: false),
                let new = target.access(named: table.name, typed: false), let into = new.property(key),
                into.column >= 0, into.tag.type == .int, into.tag.collection == .none
            else { continue }
            copy(into: into, old, new)
        }
    }

    /// Copies the row key to a property.
    func copy(into: BoundProperty, _ old: ClassAccess, _ new: ClassAccess) {
        guard let view = target.currentView, let transaction = target.transaction else { return }
        let isWhole = target.migration?.hasDeleted != true
        var steps = KeySteps(old)
        do throws(StorageError) {
            while let keys = try steps.next() {
                for key in keys {
                    if !isWhole, try view.locate(new.table, RowKey(key)) == nil { continue }
                    try transaction.set(new.table, RowKey(key), column: into.column, to: .integer(key))
                }
            }
        } catch {
            target.fail(RealmError(error))
        }
        target.invalidatePlaces()
    }
}
