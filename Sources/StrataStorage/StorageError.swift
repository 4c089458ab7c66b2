package import StrataFiles

/// Why the storage engine refused or failed.
package enum StorageError: Error, Sendable, Equatable {
    /// A file operation failed. Nothing was lost, unless ``commitOutcomeUnknown`` says so.
    case file(FileError)
    /// No space for the operation; the store is as it was before.
    case noSpace(FileError)
    /// Not a store: no header of this format. The file was not touched.
    case notAStore(path: String)
    /// The file is encrypted, and no key was given. It was not touched.
    case keyRequired(path: String)
    /// The file is encrypted under another key. It was not touched.
    case wrongKey(path: String)
    /// A key was given for a file that is not encrypted. It was not touched.
    case notEncrypted(path: String)
    /// Made by a newer or unknown version of the format. The file was not touched.
    case unsupportedFormat(path: String, version: UInt32)
    /// Bytes on disk are not what was written.
    case corrupt(page: PageNumber, offset: Int, reason: Corruption)
    /// The header says that a log is needed, and there is none.
    case logMissing(path: String)
    /// The log belongs to another store or to another life of this one.
    case logMismatch(path: String)
    /// A record of the log that was durable fails its checksum.
    case logCorrupt(path: String, offset: Int)
    /// Another process has the store open.
    case inUse(path: String)
    /// The path leads to another file by now, or to none: the one that is open was replaced or deleted.
    case stale(path: String)
    /// Others kept the write lock for longer than ``StoreOptions/writeTimeout``.
    case busy(path: String)
    /// The file that the processes share beside the store is gone, or not what they share.
    case lockFile(path: String)
    /// Another process has the store open with a log, and this one would go without, or the other way round.
    case settingsDiffer(path: String)
    /// A write to a store that was opened for reading only.
    case readOnly(path: String)
    /// An earlier write or sync failed; reopen the store.
    case poisoned
    /// This commit, or one that it was built on, may or may not be durable; reopen the store to see.
    case commitOutcomeUnknown(TransactionID)
    /// The store, snapshot or transaction was closed.
    case closed
    /// Called with a key, table or column that is not there, or with a value of another type.
    case misuse(Misuse)
    /// A limit of the format or of the machine was reached.
    case limit(Limit)

    package enum Corruption: String, Sendable {
        case checksum, structure, fileTooShort, header, slotsDiffer, seal
        /// The medium did not give the page back, or somebody cut the file.
        case unreadable
    }

    package enum Misuse: String, Sendable {
        case duplicateKey, noSuchRow, noSuchTable, noSuchColumn, wrongType, notOptional, transactionEnded
        case transactionFailed
    }

    package enum Limit: String, Sendable {
        case pages, addressSpace, valueSize, columns, pins, processes
    }

    init(_ error: FileError) {
        self =
            switch error.operation {
            case .wrongKey: .wrongKey(path: error.path)
            case .notEncrypted: .notEncrypted(path: error.path)
            default: error.isNoSpace ? .noSpace(error) : .file(error)
            }
    }
}
