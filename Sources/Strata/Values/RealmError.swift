import StrataStorage

extension Realm {
    /// Why the database refused or failed.
    ///
    ///     do { let realm = try Realm() } catch let error as Realm.Error where error.code == .invalidDatabase { ... }
    public struct Error: Swift.Error, CustomStringConvertible, Equatable {
        public enum Code: String, Sendable {
            case fail, fileAccess, filePermissionDenied, fileExists, fileNotFound, fileFormatUpgradeRequired
            case incompatibleLockFile, addressSpaceExhausted, schemaMismatch, alreadyOpen, invalidInput
            case outOfDiskSpace, unsupportedFileFormatVersion, fileOperationFailed, invalidDatabase
            /// A deleted object was used where that is an error.
            case objectDeleted
            /// A primary key that is there already.
            case duplicateKey
            /// A migration leaves objects without a value that they must have.
            case missingValues
            /// A delete rule forbids it.
            case deleteDenied
            /// Used on another thread or queue than the one it belongs to.
            case incorrectThread
            /// Called at a moment when it is not allowed: outside a write, or inside one.
            case wrongState
            /// More versions are in use than `maximumNumberOfActiveVersions` allows.
            case tooManyVersions

            /// For `catch Realm.Error.fileAccess` and its like.
            public static func ~= (code: Code, error: any Swift.Error) -> Bool {
                (error as? Realm.Error)?.code == code
            }
        }

        public let code: Code
        /// What happened and what to do about it.
        public let message: String

        public init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }

        public var description: String { "\(code.rawValue): \(message)" }
        public var localizedDescription: String { message }

        public static let fail = Code.fail
        public static let fileAccess = Code.fileAccess
        public static let filePermissionDenied = Code.filePermissionDenied
        public static let fileExists = Code.fileExists
        public static let fileNotFound = Code.fileNotFound
        public static let schemaMismatch = Code.schemaMismatch
        public static let alreadyOpen = Code.alreadyOpen
        public static let outOfDiskSpace = Code.outOfDiskSpace
        public static let invalidDatabase = Code.invalidDatabase
        public static let unsupportedFileFormatVersion = Code.unsupportedFileFormatVersion
        public static let objectDeleted = Code.objectDeleted
        public static let duplicateKey = Code.duplicateKey
        public static let missingValues = Code.missingValues
        public static let deleteDenied = Code.deleteDenied
        public static let incorrectThread = Code.incorrectThread
        public static let wrongState = Code.wrongState
        public static let tooManyVersions = Code.tooManyVersions
    }
}

extension Realm.Error {
    /// What helps with a file of another format.
    private static func remedy(_ version: UInt32) -> String {
        version < Format.version
            ? "an older one than \(Format.version), and was not touched; open it with a version that reads it"
            : "made by a newer version; use that one"
    }

    /// What is wrong with a log, and what helps beside ``Realm/Configuration/onDamage``.
    private static func logFinding(_ error: StorageError) -> String {
        switch error {
        case .logMissing(let path): "the log that \(path) needs is missing"
        case .logMismatch(let path): "the log beside \(path) belongs to another database"
        case .logCorrupt(let path, let offset):
            "the log \(path) is damaged at \(offset); onDamage = .lastGoodVersion takes what stands before that"
        case .logOutdated(let path):
            "the log \(path) is an older copy of itself, or damaged at its end; put the newest one back, or open with "
                + "onDamage = .lastGoodVersion, which goes on from what the file without it has"
        default: "\(error)"
        }
    }

    init(_ error: StorageError) {
        switch error {
        case .file(let file):
            let code: Code =
                switch file.errno {
                case 2: .fileNotFound
                case 1, 13, 30: .filePermissionDenied
                case 17: .fileExists
                case 12: .addressSpaceExhausted
                default: file.operation == .open ? .fileAccess : .fileOperationFailed
                }
            self.init(code, file.description)
        case .noSpace(let file):
            self.init(.outOfDiskSpace, "\(file); nothing was lost, free some space and try again")
        case .notAStore(let path): self.init(.invalidDatabase, "\(path) is not a database of this format")
        case .keyRequired(let path):
            self.init(.invalidDatabase, "\(path) is encrypted; give its key as encryptionKey")
        case .wrongKey(let path): self.init(.invalidDatabase, "\(path) is encrypted with another key")
        case .notEncrypted(let path):
            self.init(.invalidDatabase, "\(path) is not encrypted; leave out encryptionKey")
        case .unsupportedFormat(let path, let version):
            self.init(.unsupportedFileFormatVersion, "\(path) is of format \(version), \(Self.remedy(version))")
        case .corrupt(let page, let offset, let reason):
            self.init(.invalidDatabase, "\(page), offset \(offset) is damaged (\(reason.rawValue))")
        case .logMissing, .logMismatch, .logCorrupt, .logOutdated: self.init(.invalidDatabase, Self.logFinding(error))
        case .inUse(let path): self.init(.alreadyOpen, "another process has \(path) open")
        case .beingRead(let path, let processes):
            self.init(.alreadyOpen, "\(Self.named(processes)) reads \(path), and shares it with no writer")
        case .unshared(let path):
            self.init(
                .alreadyOpen,
                "another process keeps \(path) for itself: the disk had no room for the file they would share")
        case .stale(let path):
            self.init(.fileNotFound, "\(path) was replaced or deleted while it was open; open it again")
        case .busy(let path): self.init(.fail, "the write lock of \(path) was not to be had in time; try again")
        case .lockFile(let path):
            self.init(
                .incompatibleLockFile, "\(path) was changed or removed; let all processes close the file, then open it")
        case .settingsDiffer(let path):
            self.init(.alreadyOpen, "another process has \(path) open with another durability")
        case .readOnly(let path): self.init(.filePermissionDenied, "\(path) was opened for reading only")
        case .poisoned: self.init(.fail, "an earlier write failed; close every Realm of this file and open it again")
        case .commitOutcomeUnknown(let version):
            self.init(.fail, "whether \(version) is durable is not known; close every Realm and open it again")
        case .closed: self.init(.fail, "the Realm is closed")
        case .forked: self.init(.fail, "the Realm was opened before this process was forked off; open it again here")
        case .misuse(let misuse): self.init(misuse == .duplicateKey ? .duplicateKey : .invalidInput, misuse.rawValue)
        case .limit(.processes): self.init(.fail, "32 processes have the file open, which is the limit")
        case .limit(.addressSpace):
            self.init(
                .addressSpaceExhausted,
                "no address space is left to map the file; raise the limit (ulimit -v, RLIMIT_AS) or close others")
        case .limit(let limit): self.init(.fail, "limit of \(limit.rawValue) reached")
        }
    }

    /// Processes by their numbers, where these are known.
    private static func named(_ processes: [some CustomStringConvertible]) -> String {
        processes.isEmpty ? "another process" : "process " + processes.map(\.description).joined(separator: ", ")
    }
}

/// Runs storage work, and says what went wrong in the terms of the public errors.
func storage<Value>(_ body: () throws(StorageError) -> Value) throws(Realm.Error) -> Value {
    do throws(StorageError) { return try body() } catch { throw Realm.Error(error) }
}
