import Harness
import StrataFiles
import StrataStorage

extension StorageEngine: CheckingEngine {
    /// The check of `strata check`: opens the store for reading, and examines every node by every rule.
    package func check(_ location: DatabaseLocation) throws(EngineError) {
        try Self.check(path: location.mainFile, key)
    }

    static func check(path: String, _ key: StoreKey?) throws(EngineError) {
        var options = StoreOptions(readOnly: true)
        options.fileSystem = POSIXFileSystem()
        options.cipher = key?.cipher
        do {
            let store = try Store.open(path: path, options: options)
            try store.checkInvariants()
            try store.close()
        } catch let error as StorageError {
            throw EngineError(error)
        } catch {
            throw EngineError(.damaged, "\(error)")
        }
    }
}

extension StrataEngine: CheckingEngine {
    package func check(_ location: DatabaseLocation) throws(EngineError) {
        guard let group = ClassGroup.found(at: location, in: POSIXFileSystem()) else {
            throw EngineError(.refused, "there is no database")
        }
        try StorageEngine.check(path: group.path(at: location), key)
    }
}
