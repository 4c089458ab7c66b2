import StrataStorage

/// Brings a store from its schema to another one, in one transaction.
struct MigrationRun {
    let store: Store
    /// With the classes of the schema to be.
    let configuration: Realm.Configuration
    private let block: @Sendable (Migration) throws -> Void
    /// What the program has, which the last step has to lead to.
    private let goal: [ClassPlan]?

    init(_ step: MigrationStep, of configuration: Realm.Configuration, _ store: Store) throws(Realm.Error) {
        self.store = store
        block = step.block
        goal = step.schemaVersion == configuration.schemaVersion ? try configuration.plans() : nil
        var own = configuration
        own.schemaVersion = step.schemaVersion
        own.objectTypes = step.classes ?? configuration.objectTypes
        self.configuration = own
    }

    /// - Parameters:
    ///   - old: the version that `transaction` is based on.
    ///   - transaction: is committed, or rolled back when anything throws.
    /// - Throws: what the block threw, or what it left undone; the transaction is rolled back then.
    func run(_ old: Snapshot, _ transaction: WriteTransaction) throws {
        do {
            let plans = try configuration.plans()
            var wanted = try storage { () throws(StorageError) in try SchemaChange(from: old.view, to: plans) }.schema
            wanted.userVersion = configuration.schemaVersion
            let transition = SchemaTransition(from: old.view.schema, to: wanted)
            try storage { () throws(StorageError) in try transaction.apply(schema: transition.transitional) }
            let migration = try make(old, transaction, transition, Set(plans.map(\.name)))
            CarriedKeys(migration.source, migration.target).copyAll(of: transition.old)
            try block(migration)
            try migration.finish()
            try checkGoal(transaction.view.schema)
            _ = try storage { () throws(StorageError) in try transaction.commit() }
        } catch {
            #if Zoo
                if PlantedMistake.migrationHalf.isPlanted {
                    _ = try storage { () throws(StorageError) in try transaction.commit() }
                }
            #endif
            transaction.rollback()
            throw error
        }
    }

    private func checkGoal(_ schema: StoreSchema) throws(Realm.Error) {
        guard let goal else { return }
        let left = try storage { () throws(StorageError) in try SchemaChange(from: schema, to: goal) }.reasons
        if left.isEmpty { return }
        throw Realm.Error(
            .schemaMismatch,
            "the step to version \(configuration.schemaVersion) does not lead to the classes of the program: "
                + left.joined(separator: "; "))
    }

    private func make(
        _ old: Snapshot, _ transaction: WriteTransaction, _ transition: SchemaTransition, _ wanted: Set<String>
    ) throws(Realm.Error) -> Migration {
        let here = Confinement.thread(Confinement.currentThread)
        let target = try RealmInstance(
            .live, store: store, shared: nil, configuration: configuration, confinement: here, migration: .new())
        target.show(transaction)
        let source = try RealmInstance(
            .frozen, store: store, shared: nil, configuration: configuration, confinement: here,
            migration: .old(before: target))
        source.show(old)
        return Migration(source, target, transition, wanted: wanted)
    }
}

extension Store {
    /// Begins a write, with a snapshot of exactly the version that it is based on.
    func beginMigration() throws(StorageError) -> (old: Snapshot, transaction: WriteTransaction) {
        while true {
            let transaction = try beginWrite()
            let old = try snapshot()
            if old.version == transaction.view.version { return (old, transaction) }
            // Its base is committed and not yet visible; an empty commit waits for that.
            try transaction.commit()
        }
    }
}
