import StrataFiles
import StrataStorage

/// Lets a file that does not exist start as a copy of another, for example of one shipped with the application.
///
/// Invariant: at any moment, and for every process, the path leads to no file or to the complete copy. If several
/// processes open the missing file at once, all use the copy of the one that renames first.
struct SeedFile {
    private let configuration: RealmConfiguration
    private let seed: String

    /// Nil if the configuration has no seed.
    init?(_ configuration: RealmConfiguration) {
        guard let seed = configuration.seedFilePath else { return nil }
        self.configuration = configuration
        self.seed = seed.path
    }

    /// - Throws: `fileNotFound` if the seed is needed and missing; `invalidDatabase` if it is damaged, or encrypted
    ///   with another key than the configuration's.
    func copyIfNeeded() throws(RealmError) {
        guard configuration.inMemoryIdentifier == nil else {
            throw RealmError(.invalidInput, "a Realm in memory starts empty; leave out its seedFilePath")
        }
        let options = try configuration.sealedOptions()
        let fileSystem = options.fileSystem
        guard try !exists(configuration.path, fileSystem) else { return }
        guard try exists(seed, fileSystem) else {
            throw RealmError(
                .fileNotFound, "\(seed) is not there, and \(configuration.path) cannot start as a copy of it")
        }
        let path = try configuration.filePath()
        let copy = path + ".seed-" + String(fileSystem.randomBits(), radix: 16)
        try write(to: copy, options)
        do throws(FileError) {
            do throws(FileError) {
                try fileSystem.renameNew(copy, to: path)
            } catch  where error.isAlreadyThere {
                // Another process has put its copy there meanwhile.
                return try fileSystem.remove(copy)
            }
            try fileSystem.syncDirectory(of: path)
        } catch {
            throw RealmError(.file(error))
        }
    }

    private func exists(_ path: String, _ fileSystem: any FileSystem) throws(RealmError) -> Bool {
        do throws(FileError) { return try fileSystem.status(try fileSystem.resolve(path)) != nil } catch {
            throw RealmError(error)
        }
    }

    /// Opens the seed for reading, because it may be on a read-only medium, and writes a compacted copy.
    private func write(to copy: String, _ options: StoreOptions) throws(RealmError) {
        var reading = options
        reading.readOnly = true
        reading.compactOnLaunch = nil
        try storage { () throws(StorageError) in
            let store = try Store.open(path: seed, options: reading)
            do throws(StorageError) {
                try store.writeCopy(to: copy, cipher: options.cipher, isNew: true)
            } catch {
                do throws(StorageError) { try store.close() } catch {}
                throw error
            }
            try store.close()
        }
    }
}
