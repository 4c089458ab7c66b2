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
    /// Another version of the format: an older one if the number is below ``Format/version``. Neither damaged nor
    /// touched.
    case unsupportedFormat(path: String, version: UInt32)
    /// Bytes on disk differ from those that were written.
    case corrupt(page: PageNumber, offset: Int, reason: Corruption)
    /// The header requires a log, and there is none.
    case logMissing(path: String)
    /// The log belongs to another store, or to another epoch of this one.
    case logMismatch(path: String)
    /// A durable record of the log fails its checksum.
    case logCorrupt(path: String, offset: Int)
    /// The log is an older copy of itself: it ends before the LSN that the header says it has reached.
    case logOutdated(path: String)
    /// A copy or a salvage of the store at this path breaks a rule of the format. It did not get its name, and the
    /// store is unchanged.
    case unsound(path: String, rule: String)
    /// Another process has the store open.
    case inUse(path: String)
    /// Processes that only read, without a process table, have the store open; their process ids where known.
    case beingRead(path: String, by: [Int32])
    /// Another process keeps the store for itself, because the disk had no room for the process table's file.
    case unshared(path: String)
    /// The path leads to another file than the open one, or to none: the open file was replaced or deleted.
    case stale(path: String)
    /// Other writers held the write gate for longer than ``StoreOptions/writeTimeout``.
    case busy(path: String)
    /// The process that has the turn to write gave no sign of life for ``StoreOptions/silenceLimit``: it is stopped.
    /// With its process ids where known.
    case silent(path: String, [Int32])
    /// This process gave no sign of life during a transaction, and the owner of writing withdrew its turn: none of the
    /// transaction was written.
    case turnTakenBack(path: String)
    /// The process table's file beside the store is gone, or is not the one that the processes share.
    case lockFile(path: String)
    /// Another process has the store open with a log, and this one would use none, or the reverse.
    case settingsDiffer(path: String)
    /// A write to a store that was opened read-only.
    case readOnly(path: String)
    /// This many places of the file are known to be unreadable, and the program has not acknowledged all of them:
    /// writes are refused.
    case damaged(path: String, places: Int)
    /// An earlier write or sync failed; reopen the store.
    case poisoned
    /// This commit, or one that it builds on, may or may not be durable; reopen the store to find out.
    case commitOutcomeUnknown(TransactionID)
    /// The store, snapshot or transaction was closed.
    case closed
    /// The store belongs to the parent of this process, which was forked off after the open: open it again here.
    case forked
    /// The caller broke a rule of the interface, for example by naming a table or a row that does not exist.
    case misuse(Misuse)
    /// A limit of the format or of the machine was reached.
    case limit(Limit)

    /// A node that is malformed for its kind, or differs from its reference.
    static func structure(_ reference: NodeReference) -> StorageError {
        .corrupt(page: PageNumber(reference.page), offset: 0, reason: .structure)
    }

    /// The kind of damage of bytes on disk.
    package enum Corruption: String, Sendable {
        case checksum, structure, fileTooShort, header, slotsDiffer, seal
        /// The medium did not return the page, or the file was truncated.
        case unreadable
    }

    /// Which rule of the interface the caller broke.
    package enum Misuse: String, Sendable {
        case duplicateKey, noSuchRow, noSuchTable, noSuchColumn, wrongType, notOptional, transactionEnded
        case transactionFailed, noSuchPlace
        /// An open transaction's view was passed where a version is required.
        case transactionOpen
        /// Elements of a set, or keys of a map, that would not ascend.
        case notAscending
    }

    /// The limit that the operation would have exceeded.
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
    /// Whether space, descriptors or memory were missing before any outcome was in doubt: the operation can be undone,
    /// and repeated later.
    var mayBeTriedAgain: Bool {
        switch self {
        case .noSpace, .limit: true
        case .file(let file): !file.mayHaveLostBytes
        default: false
        }
    }

    /// Whether the file has an older version of the format.
    var isOlderFormat: Bool {
        if case .unsupportedFormat(_, let version) = self { return version < Format.version }
        return false
    }

    /// Whether bytes on disk differ from those that were written. False for other files and other formats.
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
