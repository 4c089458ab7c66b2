import StrataCrypto
import StrataFiles
import StrataStorage
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs when a file's schema version is older than the program's. Throwing leaves file, version and schema as they
/// were.
public typealias MigrationBlock = @Sendable (_ migration: Migration, _ oldSchemaVersion: UInt64) throws -> Void

extension Realm {
    /// Where a Realm lives and how it is opened.
    ///
    ///     let configuration = Realm.Configuration(fileURL: url, schemaVersion: 2, migrationBlock: { migration, old in
    ///         if old < 1 { ... }
    ///         if old < 2 { ... }
    ///     })
    public struct Configuration: Sendable {
        /// How sure a commit is when `write` returns.
        public enum Durability: Sendable {
            /// Every commit survives a loss of power.
            case full
            /// The last commits may be lost, in order; never inconsistent.
            case periodic
            /// Whatever the system writes in time.
            case none
        }

        /// Whether the file system keeps what the database rests on: locks and maps that all processes share, and syncs
        /// that reach the disk.
        public enum FileSystemTrust: Sendable {
            /// An open of a file on NFS, CIFS, FUSE, 9p or a file system of their kind says by
            /// ``Configuration/report`` what is not safe there.
            case checked
            /// The program knows that it does: one machine alone has the file open, and its syncs reach a disk.
            case trusted
        }

        /// What reading a deleted object does.
        public enum InvalidAccess: Sendable {
            /// Reads the property's declared default, and tells ``Configuration/invalidAccessHandler``.
            case substitute
            /// Ends the program with a message, as Realm does.
            case trap
        }

        /// A read of something that is no longer there.
        public struct InvalidAccessReport: Sendable {
            /// Empty where it is about the Realm: no more versions can be kept.
            public let className: String
            /// The row's key; nil when an index led nowhere.
            public let key: Int64?
            /// The version in which it was found missing.
            public let version: UInt64
            public let message: String
        }

        private static let standard = Mutex(Configuration())

        /// What `Realm()` opens.
        public static var defaultConfiguration: Configuration {
            get { standard.withLock { $0 } }
            set { standard.withLock { $0 = newValue } }
        }

        /// Nil for a Realm in memory. Setting it ends `inMemoryIdentifier`.
        public var fileURL: URL? {
            didSet { if fileURL != nil { inMemoryIdentifier = nil } }
        }
        /// A Realm in memory, which lives as long as one of its instances, or longer by ``keepsInMemoryRealms``.
        public var inMemoryIdentifier: String? {
            didSet { if inMemoryIdentifier != nil { fileURL = nil } }
        }
        /// 64 bytes that encrypt a new file, or open one that was made with them. Needs a build with the trait Crypto.
        public var encryptionKey: Data?
        public var readOnly: Bool
        public var schemaVersion: UInt64
        public var migrationBlock: MigrationBlock?
        /// One step per version, instead of a block.
        public var migrationPlan: MigrationPlan?
        /// Whether the file is copied before it is migrated.
        public var migrationBackup: MigrationBackup
        /// Told how far a migration is, on the thread that opens, some thousand objects apart.
        public var migrationProgress: (@Sendable (MigrationProgress) -> Void)?
        /// Starts with an empty file instead of migrating.
        public var deleteRealmIfMigrationNeeded: Bool
        /// A file that `fileURL` starts as a copy of when it is not there yet: compacted, encrypted with the same key.
        /// The copy is migrated like any other file.
        public var seedFilePath: URL?
        /// How many versions of the file may be in use before no more writes begin, counting the newest, those of other
        /// processes, and those that frozen Realms, snapshots and Realms without a refresh hold on to. Nil for any
        /// number. A write that would begin beyond it throws `tooManyVersions`, and is welcome again later.
        public var maximumNumberOfActiveVersions: UInt?
        /// Asked at the first open of the file in this process, with total and used bytes: true rewrites the file.
        public var shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)?
        /// How the file grows; fixed steps suit many small commits, large ones bulk loads.
        public var growth: GrowthPolicy
        /// When the file is made smaller, beside ``shouldCompactOnLaunch``.
        public var compaction: CompactionPolicy
        /// The classes of this Realm, and with them those that they lead to; nil takes every class of the program.
        public var objectTypes: [ObjectBase.Type]?
        public var durability: Durability
        public var invalidAccess: InvalidAccess
        /// Told of everything that happens to the database where no call can throw it: damage, reads of what is not
        /// there, a close that failed. Called on the thread that met it. Where neither this nor the handler of the kind
        /// is set, standard error gets it: the first twenty places of a file in full, then one line with the count.
        public var report: (@Sendable (Report) -> Void)?
        /// Told of every substituted read. Called on the thread that read.
        public var invalidAccessHandler: (@Sendable (InvalidAccessReport) -> Void)?
        /// What opening a damaged file does; a Realm that is read-only always throws. Another policy than `fail`
        /// verifies the file at its open, as ``Verification/atOpen`` does, and acts as well on damage that an earlier
        /// session met.
        public var onDamage: DamagePolicy
        /// When pages are verified that no read has met yet.
        public var verification: Verification
        /// A file of at most so many bytes is verified before the open returns, a larger one beside it.
        public var verificationLimit: Int
        /// Told what became of a damaged file before the open returns, on the thread that opens.
        public var recoveryHandler: (@Sendable (DamageReport) -> Void)?
        /// Told when the last Realm of the file is gone and closing it failed, on the thread that let go of it. Without
        /// one, a line on standard error says so.
        ///
        /// Under ``Durability/full`` nothing is lost by that. Under the others the newest commits may be in memory
        /// alone, on a full disk for instance: the file stays open then, and the next open in this process, once there
        /// is space, finds everything and closes it. A process that ends before takes them with it.
        public var closeFailureHandler: (@Sendable (Error) -> Void)?
        /// Seconds that a write waits for another process which has the turn to write and gives no sign of life: it is
        /// stopped by a signal, by a debugger or with its container. The write then throws `processStopped`. A process
        /// in a long write gives signs of life, and is waited for as long as it takes.
        public var stoppedProcessTimeout: Double = 20
        /// What an open says of a file system that other machines, or a program, serve.
        public var fileSystem = FileSystemTrust.checked
        /// Where files and threads come from, for tests and for a harness.
        package var files: (any FileSystem)?
        package var scheduling: (any Scheduling)?

        public init(
            fileURL: URL? = Configuration.defaultFileURL(), inMemoryIdentifier: String? = nil,
            encryptionKey: Data? = nil, readOnly: Bool = false, schemaVersion: UInt64 = 0,
            migrationBlock: MigrationBlock? = nil, deleteRealmIfMigrationNeeded: Bool = false,
            shouldCompactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil, objectTypes: [ObjectBase.Type]? = nil,
            durability: Durability = .full, invalidAccess: InvalidAccess = .substitute,
            invalidAccessHandler: (@Sendable (InvalidAccessReport) -> Void)? = nil,
            onDamage: DamagePolicy = .fail, recoveryHandler: (@Sendable (DamageReport) -> Void)? = nil,
            migrationPlan: MigrationPlan? = nil, migrationBackup: MigrationBackup = .none,
            migrationProgress: (@Sendable (MigrationProgress) -> Void)? = nil, seedFilePath: URL? = nil,
            maximumNumberOfActiveVersions: UInt? = nil, growth: GrowthPolicy = .standard,
            compaction: CompactionPolicy = .never, closeFailureHandler: (@Sendable (Error) -> Void)? = nil,
            report: (@Sendable (Report) -> Void)? = nil, verification: Verification = .whenRead,
            verificationLimit: Int = Configuration.standardVerificationLimit
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

        /// `default.strata` in the user's data directory, below the program's name.
        public static func defaultFileURL() -> URL? {
            let environment = ProcessInfo.processInfo.environment
            let base = environment["XDG_DATA_HOME"] ?? (environment["HOME"] ?? ".") + "/.local/share"
            let program = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "strata"
            return URL(fileURLWithPath: base).appendingPathComponent(program).appendingPathComponent("default.strata")
        }
    }
}

extension Realm.Configuration {
    /// The path that identifies the store in this process.
    var path: String { inMemoryIdentifier.map { "memory:" + $0 } ?? fileURL?.path ?? "" }

    /// Where the file itself stands, if ``path`` is a symbolic link: copies that may take its place stand beside it.
    func filePath() throws(Realm.Error) -> String {
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

    /// The options with the key's cipher.
    /// - Throws: `invalidInput` for a key of another length, for a Realm in memory, and in a build without Crypto.
    func sealedOptions() throws(Realm.Error) -> StoreOptions {
        var options = storeOptions
        options.cipher = try Self.cipher(encryptionKey)
        if encryptionKey != nil && inMemoryIdentifier != nil {
            throw Realm.Error(.invalidInput, "a Realm in memory is not encrypted; leave out its encryptionKey")
        }
        return options
    }

    static func cipher(_ key: Data?) throws(Realm.Error) -> (any Cipher)? {
        guard let key else { return nil }
        do throws(EncryptionKey.Refusal) { return try EncryptionKey.cipher([UInt8](key)) } catch {
            switch error {
            case .size(let count):
                throw Realm.Error(.invalidInput, "an encryption key has 64 bytes, not \(count)")
            case .notBuilt:
                throw Realm.Error(
                    .invalidInput, "this build has no encryption; install libssl-dev and build with the trait Crypto")
            }
        }
    }

    /// The classes that this configuration opens.
    func plans() throws(Realm.Error) -> [ClassPlan] {
        if let objectTypes { return try ClassPlan.closure(of: objectTypes, named: true) }
        let found = ClassDiscovery.allClasses().filter { $0.shouldIncludeInDefaultSchema() }
        return try ClassPlan.closure(of: found, named: false)
    }
}
