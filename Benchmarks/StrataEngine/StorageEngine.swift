import Files
import Harness
import PackedRows
import RunRecords
import StrataFiles
import StrataStorage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// StrataStorage without objects: rows, columns, versions and the log, to be compared with engines of tables.
///
/// A table of any data set is a table of the store. Rows are stored in the order of their keys if these are the row
/// indexes, else in the order of the row indexes. Links are links of the store, with their backlinks.
package struct StorageEngine: Engine {
    package let name = "strata-storage"
    package let library = StrataEngine().library
    package let version = StrataEngine().version
    package let capabilities: Set<Capability> = StoreKey.adding(to: [
        .tables, .persistent, .queries, .updates, .deletions, .snapshots, .compaction, .compactOnLaunch, .threads,
        .processes, .simulatedDisk, .transactions, .checks, .salvages, .keyedRows,
    ])
    let key: StoreKey?

    /// The marks of Strata that need no objects.
    package var rareBranches: [String] { CoverageMarks.areCounted ? CoverageMark.allCases.map(\.rawValue) : [] }
    package var promises: [Promise] {
        let kinds: Set<Promise.Kind> = [
            .durability, .atomicity, .isolation, .detectsDamage, .survivesDamage, .boundedSize, .boundedWait,
        ]
        return StrataEngine().promises.filter { kinds.contains($0.kind) }
    }

    package init() { self.init(key: nil) }

    init(key: StoreKey?) { self.key = key }

    package func settings(for durability: DurabilityClass) -> EngineSettings {
        let settings = EngineSettings(
            durability: durability,
            list: [
                EngineSetting("durability", durability.rawValue),
                EngineSetting("growth", Self.standardGrowth),
                EngineSetting("checksum", "xxh3, 64 bits, of every node, header and log record"),
                EngineSetting("store", "one per process, a snapshot per batch of reads"),
            ])
        return key?.added(to: settings) ?? settings
    }

    package func open(
        _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        try StorageSession(path: location.mainFile, options: Self.options(settings, POSIXFileSystem()))
    }

    package var logPatterns: [String] { ["*.log"] }
    package var coordinationPatterns: [String] { ["*.lock"] }

    package func files(at location: DatabaseLocation) -> [DatabaseFile] {
        let path = location.mainFile
        return [
            DatabaseFile(path: path, role: .data), DatabaseFile(path: path + ".log", role: .log),
            DatabaseFile(path: path + ".lock", role: .lock),
        ].filter { FileTree.exists($0.path) }
    }

    package func writeBackMarks(at location: DatabaseLocation) -> [String] {
        Self.headerSlots(ofFile: location.mainFile)
    }

    /// A commit writes pages into the data file, unsynced, and its record into the log; only a checkpoint writes one of
    /// the two header slots.
    static func headerSlots(ofFile path: String) -> [String] {
        guard let head = FileTree.head(of: path, bytes: Format.pageSize + Format.slotSize) else { return [] }
        return [0, Format.pageSize].map { start in "\(head.dropFirst(start).prefix(Format.slotSize))" }
    }

    package func inspectionCommands(at location: DatabaseLocation) -> [String] {
        Self.commands(forFile: location.mainFile, key)
    }

    /// None for an encrypted file: its key is in no file that a command could name.
    static func commands(forFile path: String, _ key: StoreKey?) -> [String] {
        if key != nil { return [] }
        return ["strata check", "strata info", "strata dump"].map { "\($0) \(ShellWord.quoted(path))" }
    }

    static let standardGrowth = "doubling to 1 MiB, then by an eighth, 1 to 64 MiB"

    static func options(_ settings: EngineSettings, _ files: any FileSystem) -> StoreOptions {
        let durability: Durability =
            switch settings.durability {
            case .full: .full
            case .periodic: .periodic
            case .none: .none
            }
        var options = StoreOptions(fileSystem: files, durability: durability)
        options.cipher = StoreKey(settings)?.cipher
        return options
    }
}

extension StorageEngine: CompactOnLaunchEngine {
    /// `decide` is called before this returns, on this thread, so the unchecked conformance is safe.
    private struct Decision: @unchecked Sendable {
        let decide: (Int, Int) -> Bool
    }

    package func open(
        _ location: DatabaseLocation, settings: EngineSettings,
        compactOnLaunch decide: @escaping (_ totalBytes: Int, _ usedBytes: Int) -> Bool
    ) throws(EngineError) -> any Session {
        let decision = Decision(decide: decide)
        var options = Self.options(settings, POSIXFileSystem())
        options.compactOnLaunch = { decision.decide($0, $1) }
        return try StorageSession(path: location.mainFile, options: options)
    }
}
