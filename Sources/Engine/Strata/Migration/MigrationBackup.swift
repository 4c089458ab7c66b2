import StrataFiles
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Whether a file is copied before it is migrated.
///
/// A failed migration leaves the file unchanged, with or without a backup; the backup protects against one that
/// succeeds with a wrong result. It is a compacted copy `NAME.before-vN` beside the file, where N is the file's old
/// version, encrypted with the file's key. Opening it with a configuration of version N restores the data.
public enum MigrationBackup: Sendable, Equatable {
    /// No copy.
    case none
    /// A copy that is removed when the migrated file is opened once more with the same schema version, which shows that
    /// the program works with it.
    case untilNextOpen
    /// A copy that stays until the user removes it.
    case keep
}

extension MigrationBackup {
    /// Path of a file's backup.
    static func path(_ path: String, _ version: UInt64) -> String { "\(path).before-v\(version)" }

    /// Copies the newest version of a store beside it. The backup of an earlier attempt is replaced.
    static func make(_ store: Store, _ configuration: RealmConfiguration, _ version: UInt64) throws(RealmError) {
        guard configuration.migrationBackup != .none, configuration.inMemoryIdentifier == nil else { return }
        let path = path(store.path, version)
        let fileSystem = store.options.fileSystem
        do throws(FileError) {
            if try fileSystem.status(path) != nil { try fileSystem.remove(path) }
        } catch {
            throw RealmError(error)
        }
        try storage { () throws(StorageError) in
            try store.writeCopy(to: path, cipher: store.options.cipher)
        }
    }

    /// Removes the backup of a failed migration.
    static func discard(_ configuration: RealmConfiguration, _ version: UInt64) {
        guard configuration.migrationBackup != .none, configuration.inMemoryIdentifier == nil else { return }
        // Errors are dropped: the migration's error is the one to report, and a remaining backup does no harm.
        guard let path = try? configuration.filePath() else { return }
        do throws(FileError) {
            try configuration.storeOptions.fileSystem.remove(Self.path(path, version))
        } catch {}
    }

    /// Removes the backups of a file that was opened in its newest version.
    static func expire(_ configuration: RealmConfiguration) {
        guard configuration.migrationBackup == .untilNextOpen, !configuration.readOnly,
            configuration.inMemoryIdentifier == nil
        else { return }
        let fileSystem = configuration.storeOptions.fileSystem
        for path in backups(configuration) {
            do throws(FileError) {
                if try fileSystem.status(path) != nil { try fileSystem.remove(path) }
            } catch {
                // The next open tries again.
            }
        }
    }

    /// Possible paths of backups of older versions.
    private static func backups(_ configuration: RealmConfiguration) -> [String] {
        let newest = configuration.schemaVersion
        // An unresolvable path has no backups.
        guard let filePath = try? configuration.filePath() else { return [] }
        guard configuration.files == nil else {
            return ((newest > 64 ? newest - 64 : 0)..<newest).map { path(filePath, $0) }
        }
        let file = URL(fileURLWithPath: filePath)
        let directory = file.deletingLastPathComponent()
        let prefix = file.lastPathComponent + ".before-v"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path) else { return [] }
        return names.compactMap { name in
            guard name.hasPrefix(prefix), let version = UInt64(name.dropFirst(prefix.count)), version < newest else {
                return nil
            }
            return path(filePath, version)
        }
    }
}
