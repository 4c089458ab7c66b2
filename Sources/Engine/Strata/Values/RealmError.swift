import StrataFiles
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Why the database refused or failed. A program calls it ``Realm/Error``.
///
///     do { let realm = try Realm() } catch let error as Realm.Error where error.code == .invalidDatabase { ... }
public struct RealmError: Error, CustomStringConvertible, Equatable {
    public enum Code: String, Sendable {
        /// Never thrown; kept for programs that name it. Errors of a file have the code `fileOperationFailed` or a
        /// more precise one.
        case fileAccess
        case fail, filePermissionDenied, fileExists, fileNotFound, fileFormatUpgradeRequired
        case incompatibleLockFile, addressSpaceExhausted, schemaMismatch, alreadyOpen, invalidInput
        case outOfDiskSpace, unsupportedFileFormatVersion, fileOperationFailed, invalidDatabase
        /// The program used a deleted object in a call that needs a living one.
        case objectDeleted
        /// An object with this primary key exists already.
        case duplicateKey
        /// A migration leaves objects without a required value.
        case missingValues
        /// The delete rule `deny` forbids the deletion.
        case deleteDenied
        /// The program used a Realm, or something that belongs to it, on another thread, queue or actor than its own.
        case incorrectThread
        /// The program made a call in a state that forbids it: outside a write, or inside one.
        case wrongState
        /// Places of the file are unreadable, and the program has not acknowledged all of them: every write throws
        /// this.
        case damaged
        /// A signal, a debugger or a container stopped the process that has the turn to write. Or it stopped this
        /// process inside a write, and another process took the turn. The write that throws it has changed nothing in
        /// the file.
        case processStopped
        /// More versions are in use than `maximumNumberOfActiveVersions` allows, or this process pins 991, the
        /// maximum. A write that throws it has not begun.
        case tooManyVersions

        /// For patterns such as `catch Realm.Error.fileAccess`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? RealmError)?.code == code
        }
    }

    public let code: Code
    /// The failure and its remedy.
    public let message: String

    /// The file of the failed operation; nil if there is none.
    public let fileURL: URL?

    /// - Parameter message: by default the code's name.
    public init(_ code: Code, _ message: String? = nil, fileURL: URL? = nil) {
        self.code = code
        self.message = message ?? code.rawValue
        self.fileURL = fileURL
    }

    public var description: String { "\(code.rawValue): \(message)" }
    public var localizedDescription: String { message }
    /// The domain of the error as an `NSError`: the name by which programs know the type, and not the struct's own.
    public var _domain: String { "Strata.Realm.Error" }

    public static let fail = Code.fail
    public static let fileAccess = Code.fileAccess
    public static let filePermissionDenied = Code.filePermissionDenied
    public static let fileExists = Code.fileExists
    public static let fileNotFound = Code.fileNotFound
    public static let fileOperationFailed = Code.fileOperationFailed
    public static let fileFormatUpgradeRequired = Code.fileFormatUpgradeRequired
    public static let incompatibleLockFile = Code.incompatibleLockFile
    public static let addressSpaceExhausted = Code.addressSpaceExhausted
    public static let invalidInput = Code.invalidInput
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
    public static let damaged = Code.damaged
    public static let processStopped = Code.processStopped
    public static let tooManyVersions = Code.tooManyVersions
}

extension RealmError {
    /// The remedy for a file of another format.
    private static func remedy(_ version: UInt32) -> String {
        version < Format.version
            ? "an older one than \(Format.version), and was not touched; open it with a version that reads it"
            : "made by a newer version; use that one"
    }

    /// What is wrong with the log of a file, and what to do about it.
    private static func logFinding(_ error: StorageError) -> String {
        switch error {
        case .logMissing(let path): "the log that \(path) needs is missing; put it back"
        case .logMismatch(let path): "the log beside \(path) belongs to another database; put its own log back"
        case .logCorrupt(let path, let offset):
            "the log \(path) is damaged at \(offset); onDamage = .lastGoodVersion recovers the state before that"
        case .logOutdated(let path):
            "the log \(path) is an older copy of itself, or damaged at its end; put the newest one back, or open with "
                + "onDamage = .lastGoodVersion, which recovers the state of the file without it"
        default: "\(error)"
        }
    }

    /// Why a file with `places` unreadable places is not written to, and the remedy.
    private static func refusal(_ path: String, _ places: Int) -> String {
        "\(places == 1 ? "1 place" : "\(places) places") of \(path) cannot be read, so nothing is written; "
            + "Realm.damage lists what is lost. Put a copy of the file back, open it with onDamage = .salvage, or go "
            + "on without what is lost by acknowledgeDamage()"
    }

    init(_ error: StorageError) {
        let found = Self.finding(error)
        self.init(found.code, found.message, fileURL: Self.path(error).map { URL(fileURLWithPath: $0) })
    }

    init(_ error: FileError) { self.init(StorageError(error)) }

    /// The file of the error, if known.
    private static func path(_ error: StorageError) -> String? {
        switch error {
        case .file(let file), .noSpace(let file): file.path
        case .notAStore(let path), .keyRequired(let path), .wrongKey(let path), .notEncrypted(let path),
            .unsupportedFormat(let path, _), .logMissing(let path), .logMismatch(let path), .logCorrupt(let path, _),
            .logOutdated(let path), .inUse(let path), .beingRead(let path, _), .unshared(let path), .stale(let path),
            .busy(let path), .lockFile(let path), .settingsDiffer(let path), .readOnly(let path), .damaged(let path, _),
            .silent(let path, _), .turnTakenBack(let path), .unsound(let path, _):
            path
        default: nil
        }
    }

    /// The code and the message of a storage error.
    private static func finding(_ error: StorageError) -> (code: Code, message: String) {
        switch error {
        case .file(let file): return (Self.code(ofErrno: file.errno), file.description)
        case .noSpace(let file):
            return (.outOfDiskSpace, "\(file); nothing was lost, free some space and try again")
        case .notAStore(let path): return (.invalidDatabase, "\(path) is not a database of this format")
        case .keyRequired(let path):
            return (.invalidDatabase, "\(path) is encrypted; give its key as encryptionKey")
        case .wrongKey(let path): return (.invalidDatabase, "\(path) is encrypted with another key")
        case .notEncrypted(let path):
            return (.invalidDatabase, "\(path) is not encrypted; leave out encryptionKey")
        case .unsupportedFormat(let path, let version):
            return (.unsupportedFileFormatVersion, "\(path) is of format \(version), \(Self.remedy(version))")
        case .corrupt(let page, let offset, let reason):
            return (.invalidDatabase, "\(page), offset \(offset) is damaged (\(reason.rawValue))")
        case .logMissing, .logMismatch, .logCorrupt, .logOutdated: return (.invalidDatabase, Self.logFinding(error))
        case .inUse(let path): return (.alreadyOpen, "another process has \(path) open; close it there, then try again")
        case .beingRead(let path, let processes):
            return (
                .alreadyOpen,
                "\(path) is open for reading only in \(Self.named(processes)), so no process can write it; close it "
                    + "there, then open it again"
            )
        case .unshared(let path):
            return (
                .alreadyOpen,
                "another process has \(path) open exclusively: the disk had no space for the file they would share; "
                    + "free some space, and open it again in both"
            )
        case .stale(let path):
            return (.fileNotFound, "\(path) was replaced or deleted while it was open; open it again")
        case .busy(let path): return (.fail, "the write lock of \(path) could not be taken in time; try again")
        case .silent, .turnTakenBack: return (.processStopped, Self.stoppedFinding(error))
        case .lockFile(let path):
            return (
                .incompatibleLockFile, "\(path) was changed or removed; let all processes close the file, then open it"
            )
        case .settingsDiffer(let path):
            return (.alreadyOpen, "another process has \(path) open with another durability; open it with the same one")
        case .readOnly(let path): return (.filePermissionDenied, "\(path) was opened for reading only")
        case .unsound(let path, let rule):
            return (
                .invalidDatabase,
                "the new copy of \(path) breaks a rule of the format (\(rule)); the file was not replaced. Put a "
                    + "backup of the file back, or use the output of strata dump"
            )
        case .damaged(let path, let places): return (.damaged, Self.refusal(path, places))
        case .poisoned: return (.fail, "an earlier write failed; close every Realm of this file and open it again")
        case .commitOutcomeUnknown(let version):
            return (.fail, "whether \(version) is durable is not known; close every Realm and open it again")
        case .closed: return (.fail, "the Realm is closed")
        case .forked: return (.fail, "the Realm was opened before this process was forked off; open it again here")
        case .misuse(let misuse): return (misuse == .duplicateKey ? .duplicateKey : .invalidInput, misuse.rawValue)
        case .limit(let limit): return Self.finding(limit)
        }
    }

    private static func code(ofErrno errno: Int32) -> Code {
        switch errno {
        case 2: .fileNotFound
        case 1, 13, 30: .filePermissionDenied
        case 17: .fileExists
        case 12: .addressSpaceExhausted
        default: .fileOperationFailed
        }
    }

    /// The process that was stopped while it had the turn to write, and the remedy.
    private static func stoppedFinding(_ error: StorageError) -> String {
        switch error {
        case .silent(let path, let processes):
            "\(named(processes)) has the turn to write \(path) and is stopped, by a signal or a debugger; continue "
                + "it, or end it, and try again"
        case .turnTakenBack(let path):
            "this process was stopped inside a write of \(path), and another one has the turn by now; the write "
                + "changed nothing in the file, so repeat it"
        default: "\(error)"
        }
    }

    /// How many versions of a file a process can pin: what a slot of the process table has room for.
    private static let mostPins = 991

    private static func finding(_ limit: StorageError.Limit) -> (code: Code, message: String) {
        switch limit {
        case .processes: return (.fail, "32 processes have the file open, which is the limit; close it in one of them")
        case .addressSpace:
            return (
                .addressSpaceExhausted,
                "no address space is left to map the file; raise the limit (ulimit -v, RLIMIT_AS) or close others"
            )
        case .pins:
            return (
                .tooManyVersions,
                "this process pins \(mostPins) versions of the file, which is the limit; release frozen Realms, "
                    + "objects and snapshots, and refresh or invalidate Realms of threads that wait"
            )
        case .pages, .valueSize, .columns: return (.fail, "limit of \(limit.rawValue) reached")
        }
    }

    /// Processes by their ids, if known.
    private static func named(_ processes: [some CustomStringConvertible]) -> String {
        processes.isEmpty ? "another process" : "process " + processes.map(\.description).joined(separator: ", ")
    }
}

/// Runs storage work, and translates its errors to the public ones.
func storage<Value>(_ body: () throws(StorageError) -> Value) throws(RealmError) -> Value {
    do throws(StorageError) { return try body() } catch { throw RealmError(error) }
}
