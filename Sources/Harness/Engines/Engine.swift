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

/// What an engine says about itself, with the sentence of its documentation that says so.
///
/// What is not listed is not promised: no outcome is a violation of it, and no report says that it was kept.
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
        /// A writer waits for those before it, and for no others.
        case boundedWait = "bounded-wait"
        /// A deleted object is reported as such.
        case safeDeletedAccess = "safe-deleted-access"
        /// A migration happens whole or not at all.
        case atomicMigration = "atomic-migration"

        /// Whether breaking it loses something, or only time and room.
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
    /// Where the sentence stands.
    package var source: String
    /// Of a promise of isolation; nil for the others.
    package var level: IsolationLevel?
    /// The durability classes in which it is kept when power goes, too; nil: in all of them.
    private var classesAtPowerLoss: Set<DurabilityClass>?

    package init(_ kind: Kind, sentence: String, source: String) {
        self.kind = kind
        self.sentence = sentence
        self.source = source
    }

    /// The same promise, which a loss of power may break in other classes than these.
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

/// Why an engine could not do what it was asked. Adapters map the engine's own codes to these.
@usableFromInline
package struct EngineError: Error, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// The engine says that the database is damaged, or not a database.
        case damaged
        /// What the engine gave, and called right, is not what it was given: bytes that are no row, or nothing where
        /// the tables are described. The adapter noticed, as an application would; the engine said nothing.
        case untold
        /// A typed error of another sort.
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

    /// What came of an open that ended with it.
    package var outcomeOfOpen: Outcome { kind == .damaged ? .detectedAtOpen : outcomeOfRead }

    /// What came of a read that ended with it, where all was right that came before.
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

    /// Where the main file stands, for engines whose database is a file.
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

/// How the writers of one process take turns, where the engine leaves that to its users.
package enum WriterOrder: String, Sendable, CaseIterable {
    /// Under one lock per database: a writer asks the engine when no other of its process does.
    case serialized
    /// By the engine's own waiting.
    case busy
}

/// How an engine is opened. `settings(for:)` of the engine makes it; the report shows `list`.
package struct EngineSettings: Hashable, Sendable {
    package var durability: DurabilityClass
    package var list: [EngineSetting]
    /// Engines that order their writers themselves pass it over.
    package var writers = WriterOrder.serialized
    /// Of an engine that encrypts (`EncryptingEngine`); nil where it does not.
    package var encryptionKey: [UInt8]?

    package init(durability: DurabilityClass, list: [EngineSetting]) {
        self.durability = durability
        self.list = list
    }
}

/// An adapter to a storage engine. A value without state: what is open lives in its sessions.
package protocol Engine: Sendable {
    var name: String { get }
    /// What stands behind several engines that differ in their tuning or their interface alone: by default the name.
    /// Where only engines of one library go wrong, the library is at fault and not the harness.
    var library: String { get }
    /// Of the engine, not of the adapter: `3.40.1`.
    var version: String { get }
    /// Where its code comes from, if it is no part of this program.
    var file: EngineFile? { get }
    /// The file of its library that was chosen while the program runs; nil where it is the one that was linked.
    var peerLibrary: EngineFile? { get }
    /// A function of its library, by which that is found in the process; nil where it has none of its own.
    var libraryFunction: String? { get }
    /// File names of its libraries that have assertions compiled in.
    var assertions: [String] { get }
    /// Why its library cannot be used in this process; nil where it can. Asked by a worker before anything is opened.
    var libraryObjection: String? { get }
    /// What its library was compiled with, where that matters to figures: it differs from build to build.
    var compiledSettings: [EngineSetting] { get }
    var capabilities: Set<Capability> { get }
    var promises: [Promise] { get }
    /// Branches of it that are seldom taken, where this build notes each in a file (``BranchCoverage``).
    var rareBranches: [String] { get }
    func settings(for durability: DurabilityClass) -> EngineSettings

    /// Opens the database, creates it if there is none. Called once per thread that works on it; a session is used by
    /// the thread that opened it only. The engine's caches are its own affair, and stand in the settings.
    func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session

    /// Why the engine has nothing to show in that durability class; nil where it has, as most have all.
    func reasonToDecline(_ durability: DurabilityClass) -> String?

    /// Why the engine cannot hold that data set; nil where it can, as most can hold any.
    func reasonToDecline(_ dataset: any DatasetSource) -> String?

    /// The files of a closed database that exist now, data first. Empty for an engine in memory.
    func files(at location: DatabaseLocation) -> [DatabaseFile]

    /// Patterns of `*` and `?` for the base names of the files that a commit is durable in once they are synced: the
    /// log, or the database itself where there is none.
    var logPatterns: [String] { get }

    /// The same for files that its processes only lock or talk through.
    var coordinationPatterns: [String] { get }

    /// The same for files that are never changed once they are written, only deleted: copies of a database may share
    /// them.
    var constantPatterns: [String] { get }

    /// Whether an open and a close write files anew though nothing was changed: every reader then gets a copy of its
    /// own.
    var changesFilesAtOpen: Bool { get }

    /// What stays the same until the engine has brought changes back from its log, or from memory, to where they stay:
    /// asked before and after, while the database is open. By default the sizes and change times of its data files; an
    /// engine whose commits touch those before anything is brought back has a mark of its own.
    func writeBackMarks(at location: DatabaseLocation) -> [String]

    /// What a program knows of its tables when it is compiled: an adapter that would read it out of the database needs
    /// not do so afterwards in this process. Called before the clock starts, by what measures an open.
    ///
    /// An adapter to a library in another language also has the runtime of Swift make the metadata of the generic types
    /// that its sessions use. That happens once per process, can take as long as the open of a database, and no user of
    /// the library has it. The library itself is not touched: its first steps are part of the open.
    func learn(_ tables: TableSet)

    /// What its sessions do for a batch; nil where they cannot do it.
    func workNote(_ work: Work) -> WorkNote?

    /// By file name which pages of 4 KiB of a closed database belong to what (a table, an index), as far as the engine
    /// can say; ascending.
    func pageOwners(at location: DatabaseLocation) throws(EngineError) -> [String: [SweepMap.PageRange]]

    /// Commands of the engine's own tools that open the database there, for somebody who wants to look at it.
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
    /// A file that goes while it is looked at has changed.
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

    /// How much its transactions may see of each other, by its own documentation; nil where that promises nothing.
    package var isolation: IsolationLevel? {
        promises.compactMap(\.level).max()
    }
}

/// An engine that verifies a closed database by means of its own. Capability `checks`.
package protocol CheckingEngine: Engine {
    /// Returns where the engine finds nothing wrong. Opens and closes the database itself.
    /// Throws: of kind `damaged` what the engine found; of another kind why it could not look.
    func check(_ location: DatabaseLocation) throws(EngineError)
}

/// An engine that asks at open whether to compact.
package protocol CompactOnLaunchEngine: Engine {
    /// `decide` gets the file's size and the bytes used in it, and answers whether to compact.
    func open(
        _ location: DatabaseLocation, settings: EngineSettings,
        compactOnLaunch decide: @escaping (_ totalBytes: Int, _ usedBytes: Int) -> Bool
    ) throws(EngineError) -> any Session
}
