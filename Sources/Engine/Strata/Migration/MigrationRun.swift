import StrataStorage

/// Migrates a store to another schema, in one transaction.
struct MigrationRun {
    let store: Store
    /// With the classes of the new schema.
    let configuration: RealmConfiguration
    private let block: @Sendable (Migration) throws -> Void
    /// The program's classes, to which the last step must lead.
    private let goal: [ClassPlan]?

    init(_ step: MigrationStep, of configuration: RealmConfiguration, _ store: Store) throws(RealmError) {
        self.store = store
        block = step.block
        goal = step.schemaVersion == configuration.schemaVersion ? try configuration.plans() : nil
        var own = configuration
        own.schemaVersion = step.schemaVersion
        own.objectTypes = step.classes ?? configuration.objectTypes
        self.configuration = own
    }

    /// - Parameters:
    ///   - old: the base version of `transaction`.
    ///   - transaction: is committed, or rolled back after an error.
    /// - Throws: the error of the block, or of the final checks; the transaction is rolled back then.
    func run(_ old: Snapshot, _ transaction: WriteTransaction) throws {
        do {
            let plans = try configuration.plans()
            var wanted = try storage { () throws(StorageError) in try SchemaChange(from: old.view, to: plans) }.schema
            wanted.userVersion = configuration.schemaVersion
            let transition = SchemaTransition(from: old.view.schema, to: wanted)
            try storage { () throws(StorageError) in try transaction.apply(schema: transition.transitional) }
            let migration = try make(from: old, in: transaction, applying: transition, classes: Set(plans.map(\.name)))
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

    private func checkGoal(_ schema: StoreSchema) throws(RealmError) {
        guard let goal else { return }
        let left = try storage { () throws(StorageError) in try SchemaChange(from: schema, to: goal) }.reasons
        if left.isEmpty { return }
        throw RealmError(
            .schemaMismatch,
            "the step to version \(configuration.schemaVersion) does not lead to the classes of the program: "
                + left.joined(separator: "; "))
    }

    private func make(
        from old: Snapshot, in transaction: WriteTransaction, applying transition: SchemaTransition,
        classes wanted: Set<String>
    ) throws(RealmError) -> Migration {
        let here = Confinement.thread(Confinement.currentThread)
        let file = OpenedFile(store: store, shared: nil, configuration: configuration)
        let target = try RealmInstance(.migrating(.new()), of: file, confinement: here)
        target.writing.show(transaction)
        let source = try RealmInstance(.migrating(.old(before: target)), of: file, confinement: here)
        source.show(old)
        return Migration(source, target, transition, wanted: wanted)
    }
}

extension Store {
    /// Begins a write, with a snapshot of its base version.
    func beginMigration() throws(StorageError) -> (old: Snapshot, transaction: WriteTransaction) {
        while true {
            let transaction = try beginWrite()
            let old = try snapshot()
            if old.version == transaction.view.version { return (old, transaction) }
            // An earlier commit is the base, and is not visible yet. An empty commit returns when it is.
            try transaction.commit()
        }
    }
}
