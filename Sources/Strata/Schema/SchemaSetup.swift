import StrataFiles
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Brings a file to the schema of a configuration: creates, compares, extends, migrates.
///
/// Everything happens in one write transaction. When anything throws, file, schema and version are as before.
struct SchemaSetup {
    private let store: Store
    private let configuration: Realm.Configuration

    init(_ store: Store, _ configuration: Realm.Configuration) {
        self.store = store
        self.configuration = configuration
    }

    /// Opens a configuration's file, with its schema.
    /// - Throws: ``Realm/Error``, or what the migration block threw.
    static func openStore(_ configuration: Realm.Configuration) throws -> Store {
        try makeDirectory(configuration)
        let store = try openFile(configuration)
        do {
            try SchemaSetup(store, configuration).run()
            return store
        } catch {
            close(store)
            guard let error = error as? Realm.Error, error.code == .schemaMismatch,
                configuration.deleteRealmIfMigrationNeeded, !configuration.readOnly
            else { throw error }
            try removeFiles(configuration)
            let fresh = try openFile(configuration)
            try SchemaSetup(fresh, configuration).run()
            return fresh
        }
    }

    /// The schema version of a file that is there.
    static func schemaVersion(_ configuration: Realm.Configuration) throws -> UInt64 {
        let store = try openFile(configuration)
        defer { close(store) }
        return try storage { () throws(StorageError) in try store.snapshot().view.schema.userVersion }
    }

    /// Removes a file and its log.
    /// - Returns: whether there was a file.
    @discardableResult
    static func removeFiles(_ configuration: Realm.Configuration) throws(Realm.Error) -> Bool {
        try storage { () throws(StorageError) in
            try Store.removeFiles(path: configuration.path, options: configuration.storeOptions)
        }
    }

    private static func openFile(_ configuration: Realm.Configuration) throws(Realm.Error) -> Store {
        let options = try configuration.sealedOptions()
        return try storage { () throws(StorageError) in try Store.open(path: configuration.path, options: options) }
    }

    private static func close(_ store: Store) {
        // The error that led here is the one to report.
        do { try store.close() } catch {}
    }

    /// The default file's directory is the library's own business.
    private static func makeDirectory(_ configuration: Realm.Configuration) throws {
        guard configuration.fileSystem == nil, let url = configuration.fileURL,
            url == Realm.Configuration.defaultFileURL()
        else { return }
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    // MARK: Schema

    /// - Throws: `schemaMismatch` when a migration is needed and the version says otherwise.
    func run() throws {
        let plans = try configuration.plans()
        let snapshot = try storage { () throws(StorageError) in try store.snapshot() }
        let known = snapshot.view.schema
        let isFresh = known.tables.isEmpty && known.userVersion == 0
        let change = SchemaChange(from: known, to: plans)
        if configuration.readOnly { return try checkReadOnly(known, change, plans) }
        if isFresh {
            if !change.isChange && configuration.schemaVersion == 0 { return }
            return try apply(change)
        }
        if known.userVersion > configuration.schemaVersion {
            throw Realm.Error(
                .schemaMismatch,
                "\(configuration.path) has schema version \(known.userVersion), the configuration asks for "
                    + "\(configuration.schemaVersion); the file was written by a newer program")
        }
        if known.userVersion == configuration.schemaVersion || configuration.deleteRealmIfMigrationNeeded {
            guard change.reasons.isEmpty else { throw mismatch(change.reasons) }
        }
        if known.userVersion == configuration.schemaVersion {
            if change.isChange { try apply(change) }
        } else {
            try migrate(snapshot, change, plans)
        }
    }

    private func mismatch(_ reasons: [String]) -> Realm.Error {
        Realm.Error(
            .schemaMismatch,
            "\(configuration.path) needs a migration: " + reasons.joined(separator: "; ")
                + ". Raise schemaVersion and give a migrationBlock")
    }

    /// A file that is only read has to fit as it is.
    private func checkReadOnly(_ known: StoreSchema, _ change: SchemaChange, _ plans: [ClassPlan]) throws {
        guard change.reasons.isEmpty && known.userVersion == configuration.schemaVersion else {
            var reasons = change.reasons
            if known.userVersion != configuration.schemaVersion {
                reasons.append("its schema version is \(known.userVersion), not \(configuration.schemaVersion)")
            }
            throw Realm.Error(
                .schemaMismatch,
                "\(configuration.path) is read-only and cannot be migrated: " + reasons.joined(separator: "; "))
        }
    }

    /// A change that asks nothing of the data.
    private func apply(_ change: SchemaChange) throws {
        try storage { () throws(StorageError) in
            let transaction = try store.beginWrite()
            var schema = change.schema
            schema.userVersion = configuration.schemaVersion
            do throws(StorageError) {
                try transaction.apply(schema: schema)
                _ = try transaction.commit()
            } catch {
                transaction.rollback()
                throw error
            }
        }
    }

    // MARK: Migration

    private func migrate(_ old: Snapshot, _ change: SchemaChange, _ plans: [ClassPlan]) throws {
        let transaction = try storage { () throws(StorageError) in try store.beginWrite() }
        do {
            var schema = change.schema
            schema.userVersion = configuration.schemaVersion
            try storage { () throws(StorageError) in try transaction.apply(schema: schema) }
            let migration = try makeMigration(old, transaction)
            for conversion in change.conversions {
                migration.copy(conversion.property, to: conversion.property, of: conversion.table)
            }
            try configuration.migrationBlock?(migration, old.view.schema.userVersion)
            try migration.finish(checking: change.newPrimaryKeys)
            let offence = try storage { () throws(StorageError) in
                try EmbeddedCheck(transaction.view).firstOffence(in: change.newlyEmbedded)
            }
            if let offence { throw offence }
            _ = try storage { () throws(StorageError) in try transaction.commit() }
        } catch {
            transaction.rollback()
            throw error
        }
    }

    private func makeMigration(_ old: Snapshot, _ transaction: WriteTransaction) throws(Realm.Error) -> Migration {
        let source = try RealmInstance(
            .migrationSource, store: store, shared: nil, configuration: configuration,
            confinement: .thread(Confinement.currentThread))
        source.show(old)
        let target = try RealmInstance(
            .migrationTarget, store: store, shared: nil, configuration: configuration,
            confinement: .thread(Confinement.currentThread))
        target.show(transaction, number: 1)
        source.failing = target
        return Migration(source, target)
    }
}

/// Runs storage work, and says what went wrong in the terms of the public errors.
func storage<Value>(_ body: () throws(StorageError) -> Value) throws(Realm.Error) -> Value {
    do throws(StorageError) { return try body() } catch { throw Realm.Error(error) }
}
