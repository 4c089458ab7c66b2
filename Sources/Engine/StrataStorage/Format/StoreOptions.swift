package import StrataFiles

/// When a commit returns.
package enum Durability: Sendable, Equatable {
    /// When it is durable: an acknowledged commit is never lost.
    case full
    /// When its record is written to the log. The commit that reaches ``StoreOptions/periodicBytes`` syncs the log, and
    /// so does a thread of the store, ``StoreOptions/periodicInterval`` after the first commit that is not durable.
    ///
    /// A loss of power loses at most the commits of that interval and of a sync under way: the latest ones, each whole.
    /// The death of the process alone loses none.
    case periodic
    /// At once, without a log; the commit is durable after the next checkpoint.
    case none

    /// The number that stands for it in the process table.
    var code: UInt32 {
        switch self {
        case .full: 1
        case .periodic: 2
        case .none: 3
        }
    }
}

/// Options for opening a store.
package struct StoreOptions: Sendable {
    package var fileSystem: any FileSystem
    package var scheduling: any Scheduling
    package var durability: Durability
    package var readOnly: Bool
    package var growth: GrowthPolicy
    package var limits: StoreLimits
    package var compaction = CompactionPolicy.never
    /// Like ``CompactionPolicy/onLaunch(_:)``, for a store that is compacted online, too. If ``compaction`` is
    /// `onLaunch` itself, an open calls that closure instead of this one.
    package var compactOnLaunch: (@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)?
    /// Bytes of the log between two syncs under ``Durability/periodic``.
    package var periodicBytes: Int
    /// Microseconds after which a commit is durable under ``Durability/periodic``.
    package var periodicInterval = 1_000_000
    /// Bytes of the data file that may be written between two checkpoints under ``Durability/none``.
    package var checkpointBytes: Int
    /// Bytes of address space that an open reserves for the mapping of the data file, if the process may have so much;
    /// four times the file's size if that is more. The mapping grows with the file; a write that finds no more address
    /// space throws `limit(.addressSpace)`. It is also the most that one transaction's nodes may take in memory.
    package var mapReserve: Int
    /// Microseconds for which ``Store/beginWrite()`` waits for other writers before it throws `busy`; nil waits for
    /// ever.
    package var writeTimeout: Int?
    /// Microseconds for which a write waits for a process that has the turn and gives no sign of life, because it is
    /// stopped; then the write throws `silent`. A process in a long transaction does give signs of life.
    package var silenceLimit = 20_000_000
    /// Seals the data file and the log; nil for a plain store. The caller manages the key.
    package var cipher: (any Cipher)?
    /// Microseconds for which an open waits while another process opens, recovers or closes the store, before `inUse`.
    package var openTimeout = 10_000_000
    /// Bytes of a half of the log; nil to derive it from the data.
    package var logHalfBytes: Int?
    /// A file whose owner and access rights a new store gets; nil for those of a new file.
    package var madeLike: String?
    /// Whether a recovery replays the records before a damaged or missing one and drops the rest, instead of throwing
    /// `logCorrupt` or `logOutdated`. Only recovery from damage sets it.
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
    /// The data file, through the cipher if there is one.
    package func dataFile(_ file: any File) -> any File {
        guard let cipher else { return file }
        return SealedFile(file, cipher, randomBits: { [fileSystem] in fileSystem.randomBits() })
    }

    /// The path with symbolic links resolved.
    package func resolve(_ path: String) throws(StorageError) -> String {
        do throws(FileError) { return try fileSystem.resolve(path) } catch { throw StorageError(error) }
    }

    /// Sets the store's id of a sealed data file for a salvage, if no header slot has it.
    package static func identify(_ file: any File, as storeID: RandomID) {
        (file as? SealedFile)?.adopt(storeID)
    }
}

/// Use of a store's bytes.
package struct SpaceStatistics: Sendable, Equatable {
    /// Size of the data file.
    package var fileBytes: Int
    /// Pages that the newest version, its headers and its free map use.
    package var liveBytes: Int
    /// Pages that can be allocated at once.
    package var freeBytes: Int
    /// Pages that only older versions use: pinned ones, or the last checkpoint's.
    package var heldBytes: Int
    package var logBytes: Int
    package var oldestProtected: TransactionID
    package var newest: TransactionID
}
