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
    /// Of another version of the format: an older one where the number is below ``Format/version``. No damage, and the
    /// file was not touched.
    case unsupportedFormat(path: String, version: UInt32)
    /// Bytes on disk are not what was written.
    case corrupt(page: PageNumber, offset: Int, reason: Corruption)
    /// The header says that a log is needed, and there is none.
    case logMissing(path: String)
    /// The log belongs to another store or to another life of this one.
    case logMismatch(path: String)
    /// A record of the log that was durable fails its checksum.
    case logCorrupt(path: String, offset: Int)
    /// The log is an older copy of itself: the header says that it has reached further.
    case logOutdated(path: String)
    /// What was made of the store at this path, a copy or a salvage, breaks a rule of the format: it did not get its
    /// name, and the store is as it was.
    case unsound(path: String, rule: String)
    /// Another process has the store open.
    case inUse(path: String)
    /// Processes that only read, and share it with no writer, have the store open; their numbers where they are known.
    case beingRead(path: String, by: [Int32])
    /// Another process keeps the store for itself: the disk had no room for the file that processes share.
    case unshared(path: String)
    /// The path leads to another file by now, or to none: the one that is open was replaced or deleted.
    case stale(path: String)
    /// Others kept the write lock for longer than ``StoreOptions/writeTimeout``.
    case busy(path: String)
    /// A process that has the turn to write gave no sign of life for ``StoreOptions/silenceLimit``: it is stopped. Its
    /// number is there where it can be told.
    case silent(path: String, [Int32])
    /// This process gave no sign of life inside a transaction, and its turn to write was taken back: nothing of the
    /// transaction was written.
    case turnTakenBack(path: String)
    /// The file that the processes share beside the store is gone, or not what they share.
    case lockFile(path: String)
    /// Another process has the store open with a log, and this one would go without, or the other way round.
    case settingsDiffer(path: String)
    /// A write to a store that was opened for reading only.
    case readOnly(path: String)
    /// So many places of the file are known to be unreadable, and the program has not acknowledged all of them: nothing
    /// is written.
    case damaged(path: String, places: Int)
    /// An earlier write or sync failed; reopen the store.
    case poisoned
    /// This commit, or one that it was built on, may or may not be durable; reopen the store to see.
    case commitOutcomeUnknown(TransactionID)
    /// The store, snapshot or transaction was closed.
    case closed
    /// The store was opened before this process was forked off, and is the parent's: open it again here.
    case forked
    /// Called with a key, table or column that is not there, or with a value of another type.
    case misuse(Misuse)
    /// A limit of the format or of the machine was reached.
    case limit(Limit)

    /// A node that is not built as its kind says, or not as what leads to it says.
    static func structure(_ reference: NodeReference) -> StorageError {
        .corrupt(page: PageNumber(reference.page), offset: 0, reason: .structure)
    }

    package enum Corruption: String, Sendable {
        case checksum, structure, fileTooShort, header, slotsDiffer, seal
        /// The medium did not give the page back, or somebody cut the file.
        case unreadable
    }

    package enum Misuse: String, Sendable {
        case duplicateKey, noSuchRow, noSuchTable, noSuchColumn, wrongType, notOptional, transactionEnded
        case transactionFailed, noSuchPlace
        /// Asked of a version, and what was given is an open transaction's view.
        case transactionOpen
        /// Elements of a set, or keys of a map, that would not ascend.
        case notAscending
    }

    package enum Limit: String, Sendable {
        case pages, addressSpace, valueSize, columns, pins, processes
    }

    package init(_ error: FileError) {
        self =
            switch error.operation {
            case .wrongKey: .wrongKey(path: error.path)
            case .notEncrypted: .notEncrypted(path: error.path)
            case .map where error.isNoAddressSpace: .limit(.addressSpace)
            default: error.isNoSpace ? .noSpace(error) : .file(error)
            }
    }
}

extension StorageError {
    /// Whether room, descriptors or memory were missing before anything could be in doubt: what was begun can be given
    /// up, and done again once they are there.
    var mayBeTriedAgain: Bool {
        switch self {
        case .noSpace, .limit: true
        case .file(let file): !file.mayHaveLostBytes
        default: false
        }
    }

    /// Whether it is about a file of an older version of the format.
    var isOlderFormat: Bool {
        if case .unsupportedFormat(_, let version) = self { return version < Format.version }
        return false
    }

    /// Whether bytes on disk are not what was written. Not for files that are no store, or of another format.
    package var isDamage: Bool {
        switch self {
        case .corrupt, .logMissing, .logMismatch, .logCorrupt, .logOutdated, .unsound: true
        case .file, .noSpace, .notAStore, .keyRequired, .wrongKey, .notEncrypted, .unsupportedFormat, .inUse,
            .beingRead,
            .unshared, .readOnly, .damaged,
            .poisoned, .commitOutcomeUnknown, .closed, .forked, .misuse, .limit, .stale, .busy, .silent,
            .turnTakenBack, .lockFile, .settingsDiffer:
            false
        }
    }
}
