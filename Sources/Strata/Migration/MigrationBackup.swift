import StrataFiles
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Whether a file is copied before it is migrated.
///
/// A migration that fails leaves the file as it was, with or without a backup; the backup is against one that succeeds
/// and does the wrong thing. It is a compacted copy `NAME.before-vN` beside the file, where N is the version that the
/// file had, encrypted with the file's key. Opening it with a configuration of version N gives the data back.
public enum MigrationBackup: Sendable, Equatable {
    /// No copy.
    case none
    /// Until the migrated file was opened once more with the same schema version: the program got that far and came
    /// back.
    case untilNextOpen
    /// Until somebody removes it.
    case keep
}

extension MigrationBackup {
    /// Where the backup of a file stands.
    static func path(_ path: String, _ version: UInt64) -> String { "\(path).before-v\(version)" }

    /// Copies the newest version of a store beside it. A backup of an earlier attempt is replaced.
    static func make(_ store: Store, _ configuration: Realm.Configuration, _ version: UInt64) throws(Realm.Error) {
        guard configuration.migrationBackup != .none, configuration.inMemoryIdentifier == nil else { return }
        let path = path(store.path, version)
        let fileSystem = store.options.fileSystem
        do throws(FileError) {
            if try fileSystem.status(path) != nil { try fileSystem.remove(path) }
        } catch {
            throw Realm.Error(error)
        }
        try storage { () throws(StorageError) in
            try store.writeCopy(to: path, cipher: store.options.cipher)
        }
    }

    /// Removes a backup whose migration did not happen.
    static func discard(_ configuration: Realm.Configuration, _ version: UInt64) {
        guard configuration.migrationBackup != .none, configuration.inMemoryIdentifier == nil else { return }
        // What failed is the migration; a backup that cannot be removed does no harm.
        guard let path = try? configuration.filePath() else { return }
        do throws(FileError) {
            try configuration.storeOptions.fileSystem.remove(Self.path(path, version))
        } catch {}
    }

    /// Removes the backups of a file that was opened in its newest version.
    static func expire(_ configuration: Realm.Configuration) {
        guard configuration.migrationBackup == .untilNextOpen, !configuration.readOnly,
            configuration.inMemoryIdentifier == nil
        else { return }
        let fileSystem = configuration.storeOptions.fileSystem
        for path in backups(configuration) {
            do throws(FileError) {
                if try fileSystem.status(path) != nil { try fileSystem.remove(path) }
            } catch {
                // It is tried again at the next open.
            }
        }
    }

    /// Paths where a backup of an older version may stand.
    private static func backups(_ configuration: Realm.Configuration) -> [String] {
        let newest = configuration.schemaVersion
        // A path that leads nowhere by now has no backups that could be found.
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
