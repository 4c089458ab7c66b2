import Measuring
import RunRecords

/// What an engine can do. A scenario names what it needs; a case whose engine lacks it is `not-applicable`.
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
        /// A transaction is seen whole or not at all.
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

    /// The same promise, limited at a power failure to these classes.
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

/// Why an engine could not do what it was asked to. Adapters map the engine's own codes to these.
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
    /// With the engine's own code and text.
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    @usableFromInline
    package var description: String { "\(kind.rawValue): \(message)" }

    /// The outcome of an open that ended with it.
    package var outcomeOfOpen: Outcome { kind == .damaged ? .detectedAtOpen : outcomeOfRead }

    /// The outcome of a read that ended with it, where all rows before it were right.
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

/// How the writers of one process take turns, where the engine leaves that to the application.
package enum WriterOrder: String, Sendable, CaseIterable {
    /// Under one lock per database: a writer calls the engine when no other writer of its process does.
    case serialized
    /// By the engine's own waiting.
    case busy
}

/// How an engine is opened, made by the engine's `settings(for:)`; the report shows `list`.
package struct EngineSettings: Hashable, Sendable {
    package var durability: DurabilityClass
    package var list: [EngineSetting]
    /// Ignored by engines that order writers themselves.
    package var writers = WriterOrder.serialized
    /// For an engine that encrypts (`EncryptingEngine`); nil otherwise.
    package var encryptionKey: [UInt8]?

    package init(durability: DurabilityClass, list: [EngineSetting]) {
        self.durability = durability
        self.list = list
    }
}

/// An adapter to a storage engine. A value without state: open databases are in its sessions.
package protocol Engine: Sendable {
    var name: String { get }
    /// The library behind engines that differ only in tuning or interface; by default the engine's name. Where only
    /// engines of one library fail, the library is at fault and not the harness.
    var library: String { get }
    /// Version of the engine, not of the adapter: `3.40.1`.
    var version: String { get }
    /// The file that its code is loaded from, if it is not part of this program.
    var file: EngineFile? { get }
    /// The library file that was chosen at run time; nil where the linked one is used.
    var peerLibrary: EngineFile? { get }
    /// A function of its library, by which the harness finds the library in the process; nil where it has none of its
    /// own.
    var libraryFunction: String? { get }
    /// File names of its libraries that are built with assertions.
    var assertions: [String] { get }
    /// Why its library cannot be used in this process; nil where it can. A worker asks before it opens anything.
    var libraryObjection: String? { get }
    /// Compile-time settings of its library that affect figures; they differ from build to build.
    var compiledSettings: [EngineSetting] { get }
    var capabilities: Set<Capability> { get }
    var promises: [Promise] { get }
    /// Its rarely taken branches, where this build logs each in a file (``BranchCoverage``).
    var rareBranches: [String] { get }
    func settings(for durability: DurabilityClass) -> EngineSettings

    /// Opens the database, or creates it. Called once per thread that works on it; only that thread uses the session.
    /// The engine manages its own caches; their sizes are in the settings.
    func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session

    /// Why the engine cannot give figures in that durability class; nil where it can.
    func reasonToDecline(_ durability: DurabilityClass) -> String?

    /// Why the engine cannot hold that data set; nil where it can.
    func reasonToDecline(_ dataset: any DatasetSource) -> String?

    /// The existing files of a closed database, data first. Empty for an engine in memory.
    func files(at location: DatabaseLocation) -> [DatabaseFile]

    /// Patterns of `*` and `?` for the base names of the files whose sync makes a commit durable: the log, or the
    /// database itself where there is no log.
    var logPatterns: [String] { get }

    /// The same for files that its processes use only for locks or for communication.
    var coordinationPatterns: [String] { get }

    /// The same for files that are never changed once written, only deleted: copies of a database may share them.
    var constantPatterns: [String] { get }

    /// Whether an open and a close rewrite files though no data was changed: then every reader gets a copy of its own.
    var changesFilesAtOpen: Bool { get }

    /// Values that change only when the engine has moved changes from its log, or from memory, to their final place
    /// (checkpoint, flush). Compared while the database is open. By default sizes and modification times of its data
    /// files; an engine whose commits touch those files needs another value.
    func writeBackMarks(at location: DatabaseLocation) -> [String]

    /// Tells the adapter the tables, as a program knows its own at compile time: an adapter that would read them from
    /// the database need not do so in this process. Called before the clock starts, by measurements of an open.
    ///
    /// An adapter to a library in another language also makes Swift's runtime create the metadata of the generic types
    /// that its sessions use. That happens once per process, can take as long as an open of a database, and users of
    /// the library do not pay it. The library itself is not called: its first steps belong to the open.
    func learn(_ tables: TableSet)

    /// What its sessions do for a batch; nil where they do not support it.
    func workNote(_ work: Work) -> WorkNote?

    /// By file name: the owners (a table, an index) of pages of 4 KiB of a closed database, as far as the engine knows
    /// them; ascending.
    func pageOwners(at location: DatabaseLocation) throws(EngineError) -> [String: [SweepMap.PageRange]]

    /// Commands of the engine's own tools that open the database there, for inspection.
    func inspectionCommands(at location: DatabaseLocation) -> [String]
}

extension Engine {
    package func reasonToDecline(_ dataset: any DatasetSource) -> String? { nil }
    package func reasonToDecline(_ durability: DurabilityClass) -> String? { nil }
    package var rareBranches: [String] { [] }
    package var logPatterns: [String] { [] }
    package var coordinationPatterns: [String] { [] }
    package var constantPatterns: [String] { [] }
    package var changesFilesAtOpen: Bool { false }
    /// A file that is removed meanwhile counts as changed.
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
    /// Returns where the engine finds nothing wrong. Opens and closes the database itself.
    /// Throws: of kind `damaged` for what the engine found; of another kind where it could not check.
    func check(_ location: DatabaseLocation) throws(EngineError)
}

/// An engine that asks at open whether to compact.
package protocol CompactOnLaunchEngine: Engine {
    /// `decide` gets the file's size and the bytes used in it, and returns whether to compact.
    func open(
        _ location: DatabaseLocation, settings: EngineSettings,
        compactOnLaunch decide: @escaping (_ totalBytes: Int, _ usedBytes: Int) -> Bool
    ) throws(EngineError) -> any Session
}
