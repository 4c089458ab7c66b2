import StrataFiles
import StrataRepair
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Brings a file to the schema of a configuration: creates, compares, extends, migrates.
///
/// All changes are made in one write transaction, or on a copy that replaces the file at the end (``MigrationCopy``).
/// After an error, file, schema and version are unchanged.
struct SchemaSetup {
    private let store: Store
    private let configuration: RealmConfiguration

    init(_ store: Store, _ configuration: RealmConfiguration) {
        self.store = store
        self.configuration = configuration
    }

    /// Opens a configuration's file, with its schema.
    /// - Throws: ``Realm/Error``, or the error of the migration block.
    static func openStore(_ configuration: RealmConfiguration) throws -> Store {
        try makeDirectory(configuration)
        try SeedFile(configuration)?.copyIfNeeded()
        var store = try openFile(configuration)
        do {
            if try SchemaSetup(store, configuration).needsWorkshop() {
                try storage { () throws(StorageError) in try store.close() }
                try MigrationCopy(configuration, suffix: ".migrating").migrate()
                store = try openFile(configuration)
            }
            if try !SchemaSetup(store, configuration).run() {
                MigrationBackup.expire(configuration)
            }
            return store
        } catch {
            close(store)
            guard let error = error as? RealmError, error.code == .schemaMismatch,
                configuration.deleteRealmIfMigrationNeeded, !configuration.readOnly
            else { throw error }
            try removeFiles(configuration)
            let fresh = try openFile(configuration)
            try SchemaSetup(fresh, configuration).run()
            return fresh
        }
    }

    /// Brings a store with open Realms to the schema of another configuration.
    /// - Throws: `alreadyOpen` for a change that needs exclusive use of the file.
    static func join(_ store: Store, _ configuration: RealmConfiguration) throws {
        let setup = SchemaSetup(store, configuration)
        if try setup.needsWorkshop() {
            throw RealmError(
                .alreadyOpen,
                "\(configuration.path) needs several steps of its migrationPlan and is open; release every Realm "
                    + "and object of it first")
        }
        do { try setup.run() } catch RealmError.schemaMismatch where configuration.deleteRealmIfMigrationNeeded {
            throw RealmError(
                .alreadyOpen,
                "\(configuration.path) needs a migration, and deleteRealmIfMigrationNeeded cannot delete it while it "
                    + "is open; release every Realm and object of it first")
        }
    }

    /// The schema version of an existing file.
    static func schemaVersion(_ configuration: RealmConfiguration) throws -> UInt64 {
        let store = try openFile(configuration)
        defer { close(store) }
        return try storage { () throws(StorageError) in try store.snapshot().view.schema.userVersion }
    }

    /// Removes a file, its log, and the other files beside it that belong to it.
    /// - Returns: whether the file existed.
    @discardableResult
    static func removeFiles(_ configuration: RealmConfiguration) throws(RealmError) -> Bool {
        try storage { () throws(StorageError) in
            try Store.removeFiles(path: configuration.path, options: configuration.storeOptions)
        }
    }

    /// Opens the file itself, repaired if the configuration says so.
    static func openFile(_ configuration: RealmConfiguration) throws(RealmError) -> Store {
        let options = try configuration.sealedOptions()
        return try storage { () throws(StorageError) in
            func told(_ report: StrataRepair.DamageReport) {
                configuration.recoveryHandler?(RealmConfiguration.DamageReport(report))
            }
            let store = try Repair.open(
                path: configuration.path, options: options, onDamage: configuration.onDamage.repair, handler: told)
            guard let failure = try OpenVerification(store, configuration).failure() else { return store }
            let file = store.openedFile
            close(store)
            if configuration.onDamage == .fail { throw failure }
            do throws(StorageError) {
                let report = try Repair.mend(
                    path: configuration.path, options: options, policy: configuration.onDamage.repair, of: file,
                    because: failure)
                if let report { told(report) }
            } catch {
                // Another process has the file open: the next exclusive open repairs it.
                guard case .inUse = error else { throw error }
            }
            return try Store.open(path: configuration.path, options: options)
        }
    }

    static func close(_ store: Store) {
        // An error of closing is dropped: the caller reports the first one.
        do { try store.close() } catch {}
    }

    /// Creates the directory of the default file. That of any other file is the program's to create.
    private static func makeDirectory(_ configuration: RealmConfiguration) throws {
        guard configuration.files == nil, let url = configuration.fileURL,
            url.lastPathComponent == RealmConfiguration.defaultFileName, url == RealmConfiguration.defaultFileURL()
        else { return }
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    // MARK: Schema

    /// Whether the migration takes several transactions, and so a copy of the file: ``MigrationCopy``.
    private func needsWorkshop() throws -> Bool {
        guard configuration.migrationPlan != nil, !configuration.readOnly,
            !configuration.deleteRealmIfMigrationNeeded
        else { return false }
        let known = try storage { () throws(StorageError) in try store.snapshot().view.schema }
        guard !isFresh(known), known.userVersion < configuration.schemaVersion else { return false }
        return try configuration.migrationSteps(from: known.userVersion).count > 1
    }

    private func isFresh(_ known: StoreSchema) -> Bool { known.tables.isEmpty && known.userVersion == 0 }

    /// - Returns: whether the file was changed.
    /// - Throws: `schemaMismatch` if a migration is needed and the version is the same.
    @discardableResult
    func run() throws -> Bool {
        let plans = try configuration.plans()
        while true {
            let snapshot = try storage { () throws(StorageError) in try store.snapshot() }
            if try isSettled(snapshot.view.schema, plans) { return false }
            let (old, transaction) = try storage { () throws(StorageError) in try store.beginMigration() }
            if old.version != snapshot.version {
                // Another thread or process has committed since `snapshot`, perhaps a schema: compare with that.
                transaction.rollback()
                continue
            }
            let known = old.view.schema
            if isFresh(known) || known.userVersion == configuration.schemaVersion {
                let change = try storage { () throws(StorageError) in try SchemaChange(from: old.view, to: plans) }
                try apply(change, plans, transaction)
            } else {
                try migrate(old, transaction)
            }
            return true
        }
    }

    /// Whether a file can be used without a change.
    private func isSettled(_ known: StoreSchema, _ plans: [ClassPlan]) throws -> Bool {
        let change = try storage { () throws(StorageError) in try SchemaChange(from: known, to: plans) }
        if configuration.readOnly {
            try checkReadOnly(known, change, plans)
            return true
        }
        if isFresh(known) { return !change.isChange && configuration.schemaVersion == 0 }
        #if Zoo
            if PlantedMistake.versionDown.isPlanted, known.userVersion > configuration.schemaVersion { return true }
        #endif
        if known.userVersion > configuration.schemaVersion {
            throw RealmError(
                .schemaMismatch,
                "\(configuration.path) has schema version \(known.userVersion), the configuration asks for "
                    + "\(configuration.schemaVersion); the file was written by a newer program")
        }
        if known.userVersion == configuration.schemaVersion || configuration.deleteRealmIfMigrationNeeded {
            guard change.reasons.isEmpty else { throw mismatch(change.reasons) }
        }
        return known.userVersion == configuration.schemaVersion && !change.isChange
    }

    private func mismatch(_ reasons: [String]) -> RealmError {
        RealmError(
            .schemaMismatch,
            "\(configuration.path) needs a migration: " + reasons.joined(separator: "; ")
                + ". Raise schemaVersion and give a migrationBlock")
    }

    /// - Throws: `schemaMismatch` if a read-only file does not fit as it is.
    private func checkReadOnly(_ known: StoreSchema, _ change: SchemaChange, _ plans: [ClassPlan]) throws {
        #if Zoo
            if PlantedMistake.readOnlyIgnored.isPlanted { return }
        #endif
        guard change.reasons.isEmpty && known.userVersion == configuration.schemaVersion else {
            var reasons = change.reasons
            if known.userVersion != configuration.schemaVersion {
                reasons.append("its schema version is \(known.userVersion), not \(configuration.schemaVersion)")
            }
            throw RealmError(
                .schemaMismatch,
                "\(configuration.path) is read-only and cannot be migrated: " + reasons.joined(separator: "; "))
        }
    }

    /// Applies a schema change that needs no conversion of data.
    private func apply(_ change: SchemaChange, _ plans: [ClassPlan], _ transaction: WriteTransaction) throws {
        var schema = change.schema
        schema.userVersion = configuration.schemaVersion
        do {
            try storage { () throws(StorageError) in try transaction.apply(schema: schema) }
            try ClassPlan.uniqueOffence(plans, transaction.view)
            _ = try storage { () throws(StorageError) in try transaction.commit() }
        } catch {
            transaction.rollback()
            throw error
        }
    }

    private func migrate(_ old: Snapshot, _ transaction: WriteTransaction) throws {
        let version = old.view.schema.userVersion
        do {
            let steps = try configuration.migrationSteps(from: version)
            guard steps.count == 1 else {
                throw RealmError(.schemaMismatch, "\(configuration.path) was changed while it was opened; try again")
            }
            let run = try MigrationRun(steps[0], of: configuration, store)
            try MigrationBackup.make(store, configuration, version)
            #if Zoo
                if PlantedMistake.versionFirst.isPlanted { return try runAfterVersion(run, old, transaction) }
            #endif
            do { try run.run(old, transaction) } catch {
                MigrationBackup.discard(configuration, version)
                throw error
            }
        } catch {
            transaction.rollback()
            throw error
        }
    }
}

#if Zoo
    extension SchemaSetup {
        /// Commits the new schema version, and then migrates.
        private func runAfterVersion(_ run: MigrationRun, _ old: Snapshot, _ transaction: WriteTransaction) throws {
            var schema = old.view.schema
            schema.userVersion = configuration.schemaVersion
            let (now, next) = try storage { () throws(StorageError) in
                try transaction.apply(schema: schema)
                try transaction.commit()
                return try store.beginMigration()
            }
            try run.run(now, next)
        }
    }
#endif
