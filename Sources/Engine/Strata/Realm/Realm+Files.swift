import StrataFiles
import StrataRepair
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Realm {
    /// Writes a compacted copy of the newest version: encrypted with the key, or in plain text without one. The copy is
    /// verified before it gets its name.
    ///
    /// Inside a write, the copy has the write's changes so far, whether they are committed later or not. Of a damaged
    /// file it has committed changes only.
    ///
    /// Of a damaged file, everything readable is copied, as with `onDamage = .salvage`. With a durability other than
    /// `full`, the newest commits may not be in the file yet.
    /// - Returns: what is missing in the copy, class by class; empty for an intact file.
    /// - Throws: `fileExists` if there is a file at `fileURL`.
    @discardableResult
    public func writeCopy(
        toFile fileURL: URL, encryptionKey: Data? = nil
    ) throws -> [Configuration.DamageReport.ClassReport] {
        let cipher = try Configuration.cipher(encryptionKey)
        if try Self.exists(fileURL.path, instance.file.configuration) {
            throw RealmError(.fileExists, "\(fileURL.path) is there already; choose another name", fileURL: fileURL)
        }
        if let failure = instance.write?.failure { throw failure }
        do throws(StorageError) {
            if let write = instance.write {
                try StoreCopy.write(write.transaction, to: fileURL.path, cipher: cipher)
            } else {
                try instance.file.store.writeCopy(to: fileURL.path, cipher: cipher)
            }
        } catch {
            guard error.isUnreadable, instance.file.configuration.inMemoryIdentifier == nil else {
                throw RealmError(error)
            }
            instance.failures.note(error, in: nil)
            return try instance.writeCopyPastDamage(to: fileURL.path, cipher)
        }
        return []
    }

    /// Writes a compacted copy of the newest version to the configuration's file, encrypted with its key.
    /// - Returns: what is missing in the copy, as ``writeCopy(toFile:encryptionKey:)`` does.
    /// - Throws: `fileExists` if the file exists, `invalidInput` for an in-memory configuration.
    @discardableResult
    public func writeCopy(configuration: Configuration) throws -> [Configuration.DamageReport.ClassReport] {
        guard let fileURL = configuration.fileURL else {
            throw RealmError(.invalidInput, "a copy needs a file; give the configuration a fileURL")
        }
        return try writeCopy(toFile: fileURL, encryptionKey: configuration.encryptionKey)
    }

    /// Whether the configuration's file exists.
    public static func fileExists(for configuration: Configuration) -> Bool {
        do { return try exists(configuration.path, configuration) } catch { return false }
    }

    /// Removes a database file and those that belong to it, such as its log.
    /// - Returns: whether the file existed.
    /// - Throws: `alreadyOpen` while this process has it open.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        KeptMemory.end(SharedStore.Key(configuration))
        guard !SharedStore.isOpen(configuration) else {
            throw RealmError(.alreadyOpen, "\(configuration.path) is open; release every Realm and object of it first")
        }
        SharedStore.dropUnclosed(configuration)
        return try SchemaSetup.removeFiles(configuration)
    }

    /// The schema version of a file.
    /// - Throws: `fileNotFound` if there is no file.
    public static func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
        var configuration = Configuration(fileURL: fileURL, encryptionKey: encryptionKey, readOnly: true)
        configuration.files = Configuration.defaultConfiguration.files
        return try SchemaSetup.schemaVersion(configuration)
    }

    /// Opens a file, which migrates it, and closes it again.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try Realm(configuration: configuration)
    }

    private static func exists(_ path: String, _ configuration: Configuration) throws -> Bool {
        let fileSystem = configuration.storeOptions.fileSystem
        do throws(FileError) { return try fileSystem.status(try fileSystem.resolve(path)) != nil } catch {
            throw RealmError(error)
        }
    }
}

extension RealmInstance {
    /// Copies what is readable of a damaged file, while no other transaction of this process runs: salvages it into a
    /// file beside `path`, writes the copy from that file, and removes that file.
    fileprivate func writeCopyPastDamage(
        to path: String, _ cipher: (any Cipher)?
    ) throws -> [RealmConfiguration.DamageReport.ClassReport] {
        let options = try file.configuration.sealedOptions()
        return try storage { () throws(StorageError) in
            let plain = path + ".salvaged"
            var salvage = SalvageOptions()
            salvage.limits = options.limits
            salvage.cipher = options.cipher
            salvage.isOpenHere = true
            func run() throws(StorageError) -> SalvageReport {
                try Salvage.run(from: file.store.path, to: plain, fileSystem: options.fileSystem, options: salvage)
            }
            // A write of this instance holds the gate already.
            let report = isInWrite ? try run() : try StoreVerification(of: file.store).whileNothingIsWritten(run)
            defer { _ = try? Store.removeFiles(path: plain, options: options) }
            // The salvage uses the file's key; the copy gets the requested one.
            let salvaged = try Store.openAlone(path: plain, options: options)
            do throws(StorageError) {
                try salvaged.writeCopy(to: path, cipher: cipher)
                try salvaged.close()
            } catch {
                SchemaSetup.close(salvaged)
                throw error
            }
            return report.tables.map(RealmConfiguration.DamageReport.ClassReport.init)
        }
    }
}

/// The schema version of a file, as ``Realm/schemaVersionAtURL(_:encryptionKey:)`` returns it.
/// - Throws: `fileNotFound` if there is no file.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    try Realm.schemaVersionAtURL(fileURL, encryptionKey: encryptionKey)
}
