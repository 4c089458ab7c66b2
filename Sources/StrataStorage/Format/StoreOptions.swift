package import StrataFiles

/// When a commit returns.
package enum Durability: Sendable, Equatable {
    /// When it is durable: nothing acknowledged is ever lost.
    case full
    /// At once; the log is synced every ``StoreOptions/periodicBytes``, and ``StoreOptions/periodicInterval`` after the
    /// first commit that is not durable.
    ///
    /// A loss of power takes the commits of that interval at most, and of a sync under way: the latest ones together,
    /// never parts of one. The death of the process alone takes none.
    case periodic
    /// At once; durable after a checkpoint.
    case none

    /// For a table of processes.
    var code: UInt32 {
        switch self {
        case .full: 1
        case .periodic: 2
        case .none: 3
        }
    }
}

/// How a store is opened.
package struct StoreOptions: Sendable {
    package var fileSystem: any FileSystem
    package var scheduling: any Scheduling
    package var durability: Durability
    package var readOnly: Bool
    package var growth: GrowthPolicy
    package var limits: StoreLimits
    package var compaction = CompactionPolicy.never
    /// As ``CompactionPolicy/onLaunch(_:)``, which goes before it.
    package var compactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
    /// Bytes of the log between two syncs under ``Durability/periodic``.
    package var periodicBytes: Int
    /// Microseconds after which a commit is durable under ``Durability/periodic``.
    package var periodicInterval = 1_000_000
    /// Bytes of the data file that may be written between two checkpoints under ``Durability/none``.
    package var checkpointBytes: Int
    /// Bytes of address space that the map of the data file takes at first, where the process may have so much; it
    /// grows with the file, and a write that finds no more throws `limit(.addressSpace)`.
    package var mapReserve: Int
    /// Microseconds that ``Store/beginWrite()`` waits for other writers before it throws `busy`; nil waits for ever.
    package var writeTimeout: Int?
    /// Microseconds that a write waits for a process which has the turn to write and gives no sign of life, because it
    /// is stopped; then it throws `silent`. A process in a long transaction gives signs.
    package var silenceLimit = 20_000_000
    /// Seals the data file and the log; nil for a plain store. The key itself is the caller's business.
    package var cipher: (any Cipher)?
    /// Microseconds that an open waits while another process opens, recovers or closes the store, before `inUse`.
    package var openTimeout = 10_000_000
    /// Bytes of a log segment; nil for what suits the data.
    package var logHalfBytes: Int?
    /// A file whose owner and rights a store that is made gets; nil for those of a new file.
    package var madeLike: String?
    /// A recovery from damage takes the records in front of a damaged one.
    package var toleratesLogLoss = false

    package init(
        fileSystem: any FileSystem = POSIXFileSystem(), scheduling: any Scheduling = SystemScheduling(),
        durability: Durability = .full, readOnly: Bool = false, growth: GrowthPolicy = .standard
    ) {
        self.fileSystem = fileSystem
        self.scheduling = scheduling
        self.durability = durability
        self.readOnly = readOnly
        self.growth = growth
        limits = StoreLimits()
        periodicBytes = 256 << 10
        checkpointBytes = 64 << 20
        mapReserve = 1 << 36
    }
}

extension StoreOptions {
    /// A data file as the engine sees it.
    package func dataFile(_ file: any File) -> any File {
        guard let cipher else { return file }
        return SealedFile(file, cipher, randomBits: { [fileSystem] in fileSystem.randomBits() })
    }

    /// The path of the file itself, where the store was asked for by a symbolic link.
    package func resolve(_ path: String) throws(StorageError) -> String {
        do throws(FileError) { return try fileSystem.resolve(path) } catch { throw StorageError(error) }
    }

    /// Says which store a sealed data file belongs to, where no header slot can: for a salvage.
    package static func identify(_ file: any File, as storeID: RandomID) {
        (file as? SealedFile)?.adopt(storeID)
    }
}

/// Where the bytes of a store are.
package struct SpaceStatistics: Sendable, Equatable {
    /// Size of the data file.
    package var fileBytes: Int
    /// Pages that the newest version, its headers and its free map use.
    package var liveBytes: Int
    /// Pages that may be used again at once.
    package var freeBytes: Int
    /// Pages that only older versions use: pinned ones, or the last checkpoint.
    package var heldBytes: Int
    package var logBytes: Int
    package var oldestProtected: TransactionID
    package var newest: TransactionID
}
