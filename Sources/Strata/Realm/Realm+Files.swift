import StrataFiles
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Realm {
    /// Writes a compacted copy of the newest version: encrypted with the key, or plain without one.
    /// - Throws: `fileExists` when something stands at `fileURL`.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        let cipher = try Configuration.cipher(encryptionKey)
        if try Self.exists(fileURL.path, instance.configuration) {
            throw Error(.fileExists, "\(fileURL.path) is there already; choose another name", fileURL: fileURL)
        }
        do throws(StorageError) { try instance.store.writeCopy(to: fileURL.path, cipher: cipher) } catch {
            throw Error(error)
        }
    }

    /// Writes a compacted copy of the newest version to the configuration's file, encrypted with its key.
    /// - Throws: `fileExists` when the file is there, `invalidInput` for a configuration of memory alone.
    public func writeCopy(configuration: Configuration) throws {
        guard let fileURL = configuration.fileURL else {
            throw Error(.invalidInput, "a copy needs a file; give the configuration a fileURL")
        }
        try writeCopy(toFile: fileURL, encryptionKey: configuration.encryptionKey)
    }

    /// Whether the configuration's file is there.
    public static func fileExists(for configuration: Configuration) -> Bool {
        do { return try exists(configuration.path, configuration) } catch { return false }
    }

    /// Removes a file and what stands beside it.
    /// - Returns: whether there was one.
    /// - Throws: `alreadyOpen` while this process has it open.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        guard !SharedStore.isOpen(configuration) else {
            throw Error(.alreadyOpen, "\(configuration.path) is open; let go of every Realm and object of it first")
        }
        SharedStore.dropUnclosed(configuration)
        return try SchemaSetup.removeFiles(configuration)
    }

    /// The schema version of a file.
    /// - Throws: `fileNotFound` when there is none.
    public static func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
        var configuration = Configuration(fileURL: fileURL, encryptionKey: encryptionKey, readOnly: true)
        configuration.fileSystem = Configuration.defaultConfiguration.fileSystem
        return try SchemaSetup.schemaVersion(configuration)
    }

    /// Migrates a file without using it afterwards.
    public static func performMigration(for configuration: Configuration = .defaultConfiguration) throws {
        _ = try Realm(configuration: configuration)
    }

    private static func exists(_ path: String, _ configuration: Configuration) throws -> Bool {
        do throws(FileError) { return try configuration.storeOptions.fileSystem.status(path) != nil } catch {
            throw Error(error)
        }
    }
}

/// The schema version of a file, as ``Realm/schemaVersionAtURL(_:encryptionKey:)`` tells it.
/// - Throws: `fileNotFound` when there is none.
public func schemaVersionAtURL(_ fileURL: URL, encryptionKey: Data? = nil) throws -> UInt64 {
    try Realm.schemaVersionAtURL(fileURL, encryptionKey: encryptionKey)
}
