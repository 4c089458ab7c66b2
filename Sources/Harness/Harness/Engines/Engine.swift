import Files
import Measuring
import RunRecords

/// What an engine can do. A scenario names what it needs; a case is `not-applicable` if its engine lacks it.
package enum Capability: String, Sendable, CaseIterable {
    /// Tables with typed columns: `TableSession`.
    case tables
    /// Data outlives the process. Without it there is no fixture, no crash and no corruption case.
    case persistent
    /// `LinkSession`.
    case links
    /// `HeldObjectSession`.
    case heldObjects = "held-objects"
    /// `QuerySession`.
    case queries
    /// `ProbeSession`.
    case probes
    /// The engine is a `ListEngine`.
    case lists
    /// `UpdateSession`.
    case updates
    /// `KeyedRowSession`.
    case keyedRows = "keyed-rows"
    /// `DeletionSession`.
    case deletions
    /// `TransactionSession`.
    case transactions
    /// `SnapshotSession`.
    case snapshots
    /// `CompactionSession`.
    case compaction
    /// The engine is a `CheckingEngine`.
    case checks
    /// The engine is a `SalvagingEngine`.
    case salvages
    /// The engine is a `CompactOnLaunchEngine`.
    case compactOnLaunch = "launch-compaction"
    /// Sessions of several threads may work on one location.
    case threads
    /// Several processes may work on one location.
    case processes
    /// The object API of Strata itself: for scenarios that import it.
    case objects
    case migrations
    /// The engine is a `ColumnChangingEngine`.
    case columnChanges = "column-changes"
    /// The engine is an `EncryptingEngine`.
    case encryption
    /// The engine is a `SimulatableEngine` of SimulatedDisk.
    case simulatedDisk = "simulated-disk"
}

/// A promise of an engine, with the sentence of its documentation that makes it.
///
/// Anything not listed is not promised: no outcome violates it, and no report claims that it was kept.
package struct Promise: Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A commit that returned under `full` survives a power cut.
        case durability
        /// A reader sees all of a transaction or nothing of it.
        case atomicity
        /// Concurrent transactions see no more of each other than the promise's level allows.
        case isolation
        /// Damaged bytes are reported and never returned as data.
        case detectsDamage = "detects-damage"
        /// Damage never ends the process.
        case survivesDamage = "survives-damage"
        /// A limit of the process (files, their size, threads, memory) never ends it.
        case survivesLimits = "survives-limits"
        /// The file stays under a stated bound.
        case boundedSize = "bounded-size"
        /// A writer waits only for writers before it.
        case boundedWait = "bounded-wait"
        /// A deleted object is reported as such.
        case safeDeletedAccess = "safe-deleted-access"
        /// A migration happens whole or not at all.
        case atomicMigration = "atomic-migration"

        /// Whether breaking it costs data or a process, or only time and space.
        package var concern: Concern {
            switch self {
            case .boundedSize, .boundedWait: .progress
            case .durability, .atomicity, .isolation, .detectsDamage, .survivesDamage, .survivesLimits,
                .safeDeletedAccess, .atomicMigration:
                .safety
            }
        }
    }

    package var kind: Kind
    package var sentence: String
    /// The place of the sentence.
    package var source: String
    /// Of a promise of isolation; nil for the others.
    package var level: IsolationLevel?
    /// Durability classes in which it also covers a power failure; nil: in all of them.
    private var classesAtPowerLoss: Set<DurabilityClass>?

    package init(_ kind: Kind, sentence: String, source: String) {
        self.kind = kind
        self.sentence = sentence
        self.source = source
    }

    /// The same promise, which at a power failure covers only these durability classes.
    package func atPowerLoss(in classes: Set<DurabilityClass>) -> Promise {
        var promise = self
        promise.classesAtPowerLoss = classes
        return promise
    }

    package func isKeptAtPowerLoss(in durability: DurabilityClass) -> Bool {
        classesAtPowerLoss?.contains(durability) ?? true
    }

    /// A promise of isolation.
    package init(isolation level: IsolationLevel, sentence: String, source: String) {
        self.init(.isolation, sentence: sentence, source: source)
        self.level = level
    }
}

/// Why an engine could not do what the harness asked for. Adapters map the engine's own codes to these.
@usableFromInline
package struct EngineError: Error, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// The engine reports that the database is damaged, or not a database.
        case damaged
        /// The engine reported no error, but returned something that it was never given: bytes that are not a row, or
        /// no description of the tables. The adapter noticed, as an application would.
        case untold
        /// A typed error of another kind.
        case refused
        case outOfSpace = "out-of-space"
        /// The adapter cannot do this.
        case unsupported
    }

    package var kind: Kind
    /// The engine's own code and text.
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    @usableFromInline
    package var description: String { "\(kind.rawValue): \(message)" }

    /// The outcome of an open that ended with this error.
    package var outcomeOfOpen: Outcome { kind == .damaged ? .detectedAtOpen : outcomeOfRead }

    /// The outcome of a read that ended with this error, if all rows before it were right.
    package var outcomeOfRead: Outcome {
        switch kind {
        case .damaged: .detectedAtRead
        case .untold: .silentlyWrong
        case .refused, .outOfSpace, .unsupported: .refused
        }
    }
}

/// A directory that belongs to one database alone: the engine puts all its files into it.
package struct DatabaseLocation: Hashable, Sendable {
    package var directory: String

    package init(directory: String) {
        self.directory = directory
    }

    /// The path of the main file, for engines whose database is a file.
    package var mainFile: String { directory + "/data" }
}

/// One file of a closed database.
package struct DatabaseFile: Hashable, Sendable {
    package enum Role: String, Sendable {
        case data, log, lock, temporary
    }

    package var path: String
    package var role: Role

    package init(path: String, role: Role) {
        self.path = path
        self.role = role
    }
}

/// How the writers of one process take turns, if the engine leaves that to the application.
package enum WriterOrder: String, Sendable, CaseIterable {
    /// By one lock per database: a writer calls the engine only while no other writer of its process does.
    case serialized
    /// By the engine's own waiting for its lock.
    case busy
}

/// How an engine is opened: the result of the engine's `settings(for:)`. The report shows `list`.
package struct EngineSettings: Hashable, Sendable {
    package var durability: DurabilityClass
    package var list: [EngineSetting]
    /// Engines that order writers themselves ignore it.
    package var writers = WriterOrder.serialized
    /// For an engine that encrypts (`EncryptingEngine`); nil otherwise.
    package var encryptionKey: [UInt8]?

    package init(durability: DurabilityClass, list: [EngineSetting]) {
        self.durability = durability
        self.list = list
    }
}

/// An adapter to a storage engine. It is a value without state: open databases are in its sessions.
package protocol Engine: Sendable {
    var name: String { get }
    /// The library behind engines that differ only in tuning or interface; by default the engine's name. If only
    /// engines of one library fail, the library is suspected and not the harness.
    var library: String { get }
    /// Version of the engine, not of the adapter: `3.40.1`.
    var version: String { get }
    /// The file that its code is loaded from, if it is not part of this program.
    var file: EngineFile? { get }
    /// The library file that the user chose at run time; nil if the linked one is used.
    var peerLibrary: EngineFile? { get }
    /// A function of its library, by which the harness finds the library in the process; nil if it has none of its
    /// own.
    var libraryFunction: String? { get }
    /// The names of its library files that are built with assertions.
    var assertions: [String] { get }
    /// Why its library cannot be used in this process; nil if it can. A worker asks before it opens a database.
    var libraryObjection: String? { get }
    /// Compile-time settings of its library that affect figures; they differ from build to build.
    var compiledSettings: [EngineSetting] { get }
    var capabilities: Set<Capability> { get }
    var promises: [Promise] { get }
    /// The durability classes that the engine can have, also while its library is missing.
    var durabilityClasses: [DurabilityClass] { get }
    /// Its rarely taken branches, in a build that logs each one that is taken in a file (``BranchCoverage``).
    var rareBranches: [String] { get }
    func settings(for durability: DurabilityClass) -> EngineSettings

    /// Opens the database, or creates it. Each thread that works on the database opens a session of its own, and only
    /// that thread uses it. The engine manages its own caches; their sizes are in the settings.
    func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session

    /// Why the engine cannot give figures in that durability class; nil if it can.
    func reasonToDecline(_ durability: DurabilityClass) -> String?

    /// Why the engine cannot hold that data set; nil if it can.
    func reasonToDecline(_ dataset: any DatasetSource) -> String?

    /// The existing files of a closed database, data first. Empty for an engine in memory.
    func files(at location: DatabaseLocation) -> [DatabaseFile]

    /// Patterns of `*` and `?` for the base names of the files whose sync makes a commit durable: those of the log, or
    /// of the database if it has no log.
    var logPatterns: [String] { get }

    /// Such patterns for files that its processes use only for locks or for communication.
    var coordinationPatterns: [String] { get }

    /// Such patterns for files that are never changed once written, only deleted: copies of a database may share them.
    var constantPatterns: [String] { get }

    /// Whether an open and a close rewrite files though no data was changed. If so, every reader gets a copy of its
    /// own.
    var changesFilesAtOpen: Bool { get }

    /// Values that change only when the engine has moved changes from its log, or from memory, to their final place
    /// (checkpoint, flush). They are compared while the database is open. By default they are the sizes and
    /// modification times of its data files; an engine whose commits touch those files needs other values.
    func writeBackMarks(at location: DatabaseLocation) -> [String]

    /// Tells the adapter the tables, as a program knows its own at compile time, so that it need not read them from the
    /// database in this process. Measurements of an open call it before the clock starts.
    ///
    /// An adapter to a library in another language also makes Swift's runtime create the metadata of the generic types
    /// that its sessions use. That happens once per process, can take as long as an open of a database, and users of
    /// the library do not pay it. The library itself is not called: its first steps belong to the open.
    func learn(_ tables: TableSet)

    /// What its sessions do for a batch; nil if they do not support it.
    func workNote(_ work: Work) -> WorkNote?

    /// The owners (a table, an index) of pages of 4 KiB of a closed database, by file name and ascending, as far as the
    /// engine knows them.
    func pageOwners(at location: DatabaseLocation) throws(EngineError) -> [String: [SweepMap.PageRange]]

    /// Commands of the engine's own tools that open the database at the location, for inspection.
    func inspectionCommands(at location: DatabaseLocation) -> [String]
}

extension Engine {
    package func reasonToDecline(_ dataset: any DatasetSource) -> String? { nil }
    package func reasonToDecline(_ durability: DurabilityClass) -> String? { nil }
    package var durabilityClasses: [DurabilityClass] { DurabilityClass.allCases }
    package var rareBranches: [String] { [] }
    package var logPatterns: [String] { [] }
    package var coordinationPatterns: [String] { [] }
    package var constantPatterns: [String] { [] }
    package var changesFilesAtOpen: Bool { false }
    /// A file that is removed in the meantime counts as changed.
    package func writeBackMarks(at location: DatabaseLocation) -> [String] {
        files(at: location).filter { $0.role == .data }.map { file in
            do {
                return "\(file.path) \(try FileTree.size(file.path)) \(try FileTree.changeTime(file.path))"
            } catch {
                return "\(file.path) is gone"
            }
        }
    }
    package func learn(_ tables: TableSet) {}
    package func workNote(_ work: Work) -> WorkNote? { nil }
    package var library: String { name }
    package var file: EngineFile? { nil }
    package var peerLibrary: EngineFile? { PeerLibraries.file(of: library) }
    package var libraryFunction: String? { nil }
    package var compiledSettings: [EngineSetting] { [] }
    package var libraryObjection: String? { PeerLibraries.objection(to: self) }
    package func inspectionCommands(at location: DatabaseLocation) -> [String] { [] }
    package func pageOwners(at location: DatabaseLocation) throws(EngineError) -> [String: [SweepMap.PageRange]] {
        [:]
    }

    package func promises(_ kind: Promise.Kind) -> Bool {
        promises.contains { $0.kind == kind }
    }

    /// The isolation level that its documentation promises; nil without such a promise.
    package var isolation: IsolationLevel? {
        promises.compactMap(\.level).max()
    }
}

/// An engine that can verify a closed database. Capability `checks`.
package protocol CheckingEngine: Engine {
    /// Opens the database, checks it, and closes it; returns if the engine finds nothing wrong.
    /// Throws: an error of kind `damaged` for what the engine found; of another kind if it could not check.
    func check(_ location: DatabaseLocation) throws(EngineError)
}

/// An engine that asks the program, when it opens a database, whether to compact it.
package protocol CompactOnLaunchEngine: Engine {
    /// `decide` gets the file's size and the bytes used in it, and returns whether to compact.
    func open(
        _ location: DatabaseLocation, settings: EngineSettings,
        compactOnLaunch decide: @escaping (_ totalBytes: Int, _ usedBytes: Int) -> Bool
    ) throws(EngineError) -> any Session
}
