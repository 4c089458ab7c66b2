import StrataFiles
import StrataStorage

/// A copy beside a file, on which the steps of a migration run one after the other.
///
/// Each step is a transaction of its own there, so that the next one has a committed version as its old schema. The
/// file itself is not changed before the last step is done; the copy of a process that dies is removed by the next
/// attempt.
struct MigrationCopy {
    private let configuration: RealmConfiguration
    private let options: StoreOptions
    private let path: String
    private let fileSystem: any FileSystem

    /// - Parameter suffix: of the copy's name.
    init(_ configuration: RealmConfiguration, suffix: String) throws(RealmError) {
        self.configuration = configuration
        var options = try configuration.sealedOptions()
        options.compactOnLaunch = nil
        options.readOnly = false
        self.options = options
        path = try configuration.filePath() + suffix
        fileSystem = options.fileSystem
    }

    /// Runs the missing steps, and replaces the file by the result.
    func migrate() throws {
        let original = try storage { () throws(StorageError) in
            try Store.openAlone(path: configuration.path, options: options)
        }
        do {
            let version = try storage { () throws(StorageError) in try original.snapshot().view.schema.userVersion }
            try copy(original)
            try MigrationBackup.make(original, configuration, version)
            do { try runSteps(report: nil) } catch {
                MigrationBackup.discard(configuration, version)
                throw error
            }
            try storage { () throws(StorageError) in try original.replace(by: path) }
        } catch {
            // An error of closing is dropped: the caller reports the first one.
            do throws(StorageError) { try original.close() } catch {}
            remove()
            throw error
        }
    }

    /// Runs the missing steps on a copy, and removes the copy.
    func rehearse(_ original: Store) throws -> MigrationReport {
        defer { remove() }
        try copy(original)
        var report = MigrationReport(configuration.schemaVersion)
        report.fileBytesBefore = try storage { () throws(StorageError) in try original.space().fileBytes }
        try runSteps { try report.note($0, $1, from: $2, to: $3) }
        let result = try open()
        report.fileBytesAfter = try storage { () throws(StorageError) in
            let bytes = try result.space().fileBytes
            try result.close()
            return bytes
        }
        return report
    }

    private func copy(_ original: Store) throws(RealmError) {
        remove()
        try storage { () throws(StorageError) in try original.writeCopy(to: path, cipher: options.cipher) }
    }

    /// - Parameter report: called after each step, with the versions before and after it.
    private func runSteps(
        report: ((MigrationStep, SchemaChange, Snapshot, Snapshot) throws -> Void)?
    ) throws {
        let store = try open()
        do {
            try runSteps(store, report: report)
        } catch {
            do throws(StorageError) { try store.close() } catch {}
            throw error
        }
        // Closing writes and syncs what is only in memory: the copy is complete after it.
        try storage { () throws(StorageError) in try store.close() }
    }

    private func runSteps(
        _ store: Store, report: ((MigrationStep, SchemaChange, Snapshot, Snapshot) throws -> Void)?
    ) throws {
        while true {
            let (old, transaction) = try storage { () throws(StorageError) in try store.beginMigration() }
            let steps = try rollingBack(transaction) { () throws(RealmError) in
                try configuration.migrationSteps(from: old.view.schema.userVersion)
            }
            guard let step = steps.first, old.view.schema.userVersion < configuration.schemaVersion else {
                return transaction.rollback()
            }
            let run = try rollingBack(transaction) { () throws(RealmError) in
                try MigrationRun(step, of: configuration, store)
            }
            try run.run(old, transaction)
            guard let report else { continue }
            let plans = try run.configuration.plans()
            let change = try storage { () throws(StorageError) in try SchemaChange(from: old.view.schema, to: plans) }
            try report(step, change, old, try storage { () throws(StorageError) in try store.snapshot() })
        }
    }

    private func rollingBack<Value>(
        _ transaction: WriteTransaction, _ body: () throws(RealmError) -> Value
    ) throws(RealmError) -> Value {
        do throws(RealmError) { return try body() } catch {
            transaction.rollback()
            throw error
        }
    }

    private func open() throws(RealmError) -> Store {
        var options = options
        // The copy is not used before it is complete; closing it syncs it.
        options.durability = .none
        return try storage { () throws(StorageError) in try Store.openAlone(path: path, options: options) }
    }

    private func remove() {
        do throws(FileError) {
            if try fileSystem.status(path) != nil { try fileSystem.remove(path) }
        } catch {
            // An error is dropped: a copy that stays makes the next attempt fail with a message.
        }
    }
}
