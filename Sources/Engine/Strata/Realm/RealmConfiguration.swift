import Platform
import StrataCrypto
import StrataFiles
import StrataStorage
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs when a file is opened whose schema version is older than the configuration's. If it throws, the file is
/// unchanged, and the open throws the same error.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) throws -> Void

/// Where the database is, and the options for opening it. A program calls it ``Realm/Configuration``.
///
///     let configuration = Realm.Configuration(fileURL: url, schemaVersion: 2, migrationBlock: { migration, old in
///         if old < 1 { ... }
///         if old < 2 { ... }
///     })
public struct RealmConfiguration: Sendable {
    /// What the database guarantees for a commit when `write` returns.
    public enum Durability: Sendable {
        /// The commit survives a loss of power.
        case full
        /// A loss of power may lose the newest commits, and none before them; the file stays consistent.
        case periodic
        /// The database guarantees nothing: the kernel writes its page cache back at its own time.
        case none
    }

    /// Whether the file system guarantees what the database relies on: locks and mappings that all processes share,
    /// and syncs that reach the disk.
    public enum FileSystemTrust: Sendable {
        /// An open of a file on NFS, CIFS, FUSE, 9p or a similar file system reports by ``RealmConfiguration/report``
        /// what is not safe there.
        case checked
        /// The program vouches for the file system: a single machine opens the file, and its syncs reach a disk. An
        /// open reports nothing.
        case trusted
    }

    /// What happens when the program reads a deleted object or something else that does not exist.
    public enum InvalidAccess: Sendable {
        /// The read returns a substitute, such as the property's declared default, and the Realm reports it to
        /// ``RealmConfiguration/invalidAccessHandler`` and ``RealmConfiguration/report``.
        case substitute
        /// The program ends with a message, as with RealmSwift.
        case trap
    }

    /// A read of something deleted, missing or unreadable.
    public struct InvalidAccessReport: Sendable {
        /// The class that the program read; `Realm` for a read of an invalidated Realm; empty if no class is known, for
        /// instance if the Realm can pin no further version.
        public let className: String
        /// The row's key; nil if the read was of no single row.
        public let key: Int64?
        /// The version that the Realm showed; 0 if it showed none, and in reports of damage or of sections.
        public let version: UInt64
        public let message: String
    }

    private static let standard = Mutex(RealmConfiguration())

    /// The configuration that `Realm()` uses.
    public static var defaultConfiguration: RealmConfiguration {
        get { standard.withLock { $0 } }
        set { standard.withLock { $0 = newValue } }
    }

    /// The file; nil for an in-memory Realm. Setting it clears `inMemoryIdentifier`.
    public var fileURL: URL? {
        didSet { if fileURL != nil { inMemoryIdentifier = nil } }
    }
    /// The name of an in-memory Realm, which lives as long as its instances, or longer with
    /// ``keepsInMemoryRealms``.
    public var inMemoryIdentifier: String? {
        didSet { if inMemoryIdentifier != nil { fileURL = nil } }
    }
    /// 64 bytes that encrypt a new file, or open an encrypted one. Needs a build with the trait Crypto.
    public var encryptionKey: Data?
    public var readOnly: Bool
    public var schemaVersion: UInt64
    public var migrationBlock: MigrationBlock?
    /// One step per version of the schema, instead of `migrationBlock`.
    public var migrationPlan: MigrationPlan?
    /// Whether an open copies the file before it migrates it, and which open removes the copy.
    public var migrationBackup: MigrationBackup
    /// The migration calls it with its progress after some thousand objects each, on the thread that opens the file.
    public var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
    /// Whether an open deletes a file that needs a migration, so that the Realm starts empty, and migrates nothing.
    public var deleteRealmIfMigrationNeeded: Bool
    /// The file that an open copies to `fileURL` if none is there yet: compacted, and encrypted with the same key. The
    /// open migrates the copy like any other file.
    public var seedFilePath: URL?
    /// How many versions of the file may be in use: the newest, and those that other processes, frozen Realms,
    /// snapshots and Realms that were not refreshed have pinned. Nil for no limit. While more are in use, a write
    /// throws `tooManyVersions`; the program may retry it later.
    public var maximumNumberOfActiveVersions: UInt?
    /// The first open of the file in this process calls it with total and used bytes, and rewrites the file if it
    /// returns true.
    public var shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)?
    /// How the file grows; small fixed steps suit many small commits, large ones bulk loads.
    public var growth: GrowthPolicy
    /// When the database compacts the file, besides ``shouldCompactOnLaunch``.
    public var compaction: CompactionPolicy
    /// The classes of this Realm; an open adds the classes that they link to. Nil for all classes of the program.
    public var objectTypes: [ObjectBase.Type]?
    public var durability: Durability
    public var invalidAccess: InvalidAccess
    /// The database calls it with every event that no call can throw: damage, reads of missing values, a close that
    /// failed. It calls it on the thread that found the event. If the program sets neither this nor the handler of that
    /// kind, the database prints the first twenty different reports of a file to standard error, and counts the rest.
    public var report: (@Sendable (Report) -> Void)?
    /// The Realm calls it with every read that returned a substitute, on the thread that read.
    public var invalidAccessHandler: (@Sendable (InvalidAccessReport) -> Void)?
    /// What an open does with a damaged file; that of a read-only Realm always throws. Policies other than `fail`
    /// verify the file when it is opened, like ``Verification/atOpen``, and also act on damage that an earlier
    /// process found.
    public var onDamage: DamagePolicy
    /// Whether the database verifies each page when the program first reads it, or all when it opens the file.
    public var verification: Verification
    /// An open verifies a file of at most this many bytes before it returns, and a larger one in the background.
    public var verificationLimit: Int
    /// An open calls it, on its own thread and before it returns, with what ``onDamage`` did to a damaged file.
    public var recoveryHandler: (@Sendable (DamageReport) -> Void)?
    /// The thread that released the last Realm of a file calls it if it could not close the file. If the program sets
    /// neither this nor ``report``, that thread prints a line to standard error.
    ///
    /// With ``Durability/full`` no commit is lost. With the other classes the newest commits may be in memory only, for
    /// instance because the disk is full: the file then stays open, and the next open in this process writes them, once
    /// there is space. The commits are lost if the process ends before.
    public var closeFailureHandler: (@Sendable (RealmError) -> Void)?
    /// For how many seconds a write waits for another process that has the turn to write and gives no sign of life,
    /// because it was stopped by a signal, by a debugger or with its container. Then the write throws
    /// `processStopped`. A process in a long write gives signs of life, and the write keeps waiting for it.
    public var stoppedProcessTimeout: Double = 20
    /// Whether an open reports that another machine or a program serves the file system.
    public var fileSystem = FileSystemTrust.checked
    /// File system and scheduler, for tests and for a harness.
    package var files: (any FileSystem)?
    package var scheduling: (any Scheduling)?

    public init(
        fileURL: URL? = RealmConfiguration.defaultFileURL(), inMemoryIdentifier: String? = nil,
        encryptionKey: Data? = nil, readOnly: Bool = false, schemaVersion: UInt64 = 0,
        migrationBlock: MigrationBlock? = nil, deleteRealmIfMigrationNeeded: Bool = false,
        shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil, objectTypes: [ObjectBase.Type]? = nil,
        durability: Durability = .full, invalidAccess: InvalidAccess = .substitute,
        invalidAccessHandler: (@Sendable (InvalidAccessReport) -> Void)? = nil,
        onDamage: DamagePolicy = .fail, recoveryHandler: (@Sendable (DamageReport) -> Void)? = nil,
        migrationPlan: MigrationPlan? = nil, migrationBackup: MigrationBackup = .none,
        migrationProgress: (@Sendable (MigrationProgress) -> Void)? = nil, seedFilePath: URL? = nil,
        maximumNumberOfActiveVersions: UInt? = nil, growth: GrowthPolicy = .standard,
        compaction: CompactionPolicy = .never, closeFailureHandler: (@Sendable (RealmError) -> Void)? = nil,
        report: (@Sendable (Report) -> Void)? = nil, verification: Verification = .whenRead,
        verificationLimit: Int = RealmConfiguration.standardVerificationLimit
    ) {
        self.fileURL = inMemoryIdentifier == nil ? fileURL : nil
        self.inMemoryIdentifier = inMemoryIdentifier
        self.encryptionKey = encryptionKey
        self.readOnly = readOnly
        self.schemaVersion = schemaVersion
        self.migrationBlock = migrationBlock
        self.deleteRealmIfMigrationNeeded = deleteRealmIfMigrationNeeded
        self.shouldCompactOnLaunch = shouldCompactOnLaunch
        self.objectTypes = objectTypes
        self.durability = durability
        self.invalidAccess = invalidAccess
        self.invalidAccessHandler = invalidAccessHandler
        self.onDamage = onDamage
        self.recoveryHandler = recoveryHandler
        self.migrationPlan = migrationPlan
        self.migrationBackup = migrationBackup
        self.migrationProgress = migrationProgress
        self.seedFilePath = seedFilePath
        self.maximumNumberOfActiveVersions = maximumNumberOfActiveVersions
        self.growth = growth
        self.compaction = compaction
        self.closeFailureHandler = closeFailureHandler
        self.report = report
        self.verification = verification
        self.verificationLimit = verificationLimit
    }

    /// `default.strata` in the user's data directory, under the program's name.
    public static func defaultFileURL() -> URL? {
        let base = variable("XDG_DATA_HOME") ?? (variable("HOME") ?? ".") + "/.local/share"
        let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "strata"
        return URL(filePath: base + "/" + program + "/" + defaultFileName, directoryHint: .notDirectory)
    }

    static let defaultFileName = "default.strata"

    /// Reads one variable of the environment, without copying all of them.
    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

extension RealmConfiguration {
    /// The path that identifies the store in this process.
    var path: String { inMemoryIdentifier.map { "memory:" + $0 } ?? fileURL?.path ?? "" }

    /// The path of the file itself, also if ``path`` is a symbolic link: copies that may replace it are made beside it.
    func filePath() throws(RealmError) -> String {
        try storage { () throws(StorageError) in try storeOptions.resolve(path) }
    }

    var storeOptions: StoreOptions {
        var options = StoreOptions()
        if let files { options.fileSystem = files }
        if let scheduling { options.scheduling = scheduling }
        if inMemoryIdentifier != nil { options.fileSystem = MemoryFileSystem() }
        options.readOnly = readOnly
        switch durability {
        case .full: options.durability = .full
        case .periodic: options.durability = .periodic
        case .none: options.durability = .none
        }
        options.growth = growth.storage
        options.compaction = compaction.storage
        options.compactOnLaunch = shouldCompactOnLaunch
        options.silenceLimit = Int(max(0.1, min(stoppedProcessTimeout, 1e9)) * 1e6)
        return options
    }

    /// ``storeOptions`` with the cipher of the encryption key.
    /// - Throws: `invalidInput` for a key of another length, for an in-memory Realm, and in a build without Crypto.
    func sealedOptions() throws(RealmError) -> StoreOptions {
        var options = storeOptions
        options.cipher = try Self.cipher(encryptionKey)
        if encryptionKey != nil && inMemoryIdentifier != nil {
            throw RealmError(.invalidInput, "a Realm in memory is not encrypted; leave out its encryptionKey")
        }
        return options
    }

    static func cipher(_ key: Data?) throws(RealmError) -> (any Cipher)? {
        guard let key else { return nil }
        do throws(EncryptionKey.Refusal) { return try EncryptionKey.cipher([UInt8](key)) } catch {
            switch error {
            case .size(let count):
                throw RealmError(.invalidInput, "an encryption key has 64 bytes, not \(count)")
            case .notBuilt:
                throw RealmError(
                    .invalidInput, "this build has no encryption; install libssl-dev and build with the trait Crypto")
            }
        }
    }

    /// The classes that this configuration opens.
    func plans() throws(RealmError) -> [ClassPlan] {
        if let objectTypes { return try ClassPlan.closure(of: objectTypes, named: true) }
        let found = ClassDiscovery.allClasses().filter { $0.shouldIncludeInDefaultSchema() }
        return try ClassPlan.closure(of: found, named: false)
    }
}
