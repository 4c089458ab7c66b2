import Files
import Harness
import RunRecords
import Strata
import StrataFiles

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Strata through its object API, as an application uses it, with its costs.
///
/// A table of a data set is a class of this target; tables without one are `unsupported`. The file's name identifies
/// its classes, so that a database is opened with its own classes only.
package struct StrataEngine: Engine {
    package let name = "strata"
    package let version = "0.1"
    package let capabilities: Set<Capability> = StoreKey.adding(to: [
        .tables, .persistent, .links, .heldObjects, .queries, .updates, .deletions, .snapshots, .compaction,
        .compactOnLaunch, .threads, .processes, .probes, .objects, .migrations, .simulatedDisk, .transactions,
        .checks, .salvages, .lists, .columnChanges, .keyedRows,
    ])
    let key: StoreKey?

    package let promises = [
        Promise(
            .durability, sentence: "A commit that returned under full survives a power cut.",
            source: "docs/fault-model.md"),
        Promise(
            .atomicity, sentence: "A transaction is there whole or not at all, whatever interrupts it.",
            source: "docs/fault-model.md"),
        Promise(
            isolation: .serializable, sentence: "One writer at a time; a reader keeps the version that it pinned.",
            source: "docs/fault-model.md"),
        Promise(
            .detectsDamage,
            sentence: "A damaged byte is reported and never returned as data; damage within the last batch of the log "
                + "may look like a crash before that batch was acknowledged.",
            source: "docs/fault-model.md"),
        Promise(
            .survivesDamage, sentence: "No content of a file ends the process or keeps it from answering.",
            source: "docs/fault-model.md"),
        Promise(
            .boundedSize, sentence: "A reader that holds a version costs the pages that its version needs.",
            source: "docs/fault-model.md"),
        Promise(
            .boundedWait, sentence: "Writers of one process write in the order in which they asked.",
            source: "docs/fault-model.md"),
        Promise(
            .safeDeletedAccess,
            sentence: "A property of a deleted object reads its declared default and is reported, or traps where the "
                + "configuration asks for that.",
            source: "docs/fault-model.md"),
        Promise(
            .atomicMigration, sentence: "A migration happens whole, or leaves version, schema and data as they were.",
            source: "docs/fault-model.md"),
    ]

    package init() { self.init(key: nil) }

    init(key: StoreKey?) { self.key = key }

    package func settings(for durability: DurabilityClass) -> EngineSettings {
        let settings = EngineSettings(
            durability: durability,
            list: [
                EngineSetting("durability", durability.rawValue),
                EngineSetting("invalidAccess", "substitute"),
                EngineSetting("report", "on standard error, as it comes"),
                EngineSetting("growth", StorageEngine.standardGrowth),
                EngineSetting("checksum", "xxh3, 64 bits, of every node, header and log record"),
                EngineSetting("instances", "one Realm per thread"),
            ])
        return key?.added(to: settings) ?? settings
    }

    package func open(
        _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        try session(location, settings, files: POSIXFileSystem())
    }

    package func inspectionCommands(at location: DatabaseLocation) -> [String] {
        guard let group = ClassGroup.found(at: location, in: POSIXFileSystem()) else { return [] }
        return StorageEngine.commands(forFile: group.path(at: location), key)
    }

    package func reasonToDecline(_ dataset: any DatasetSource) -> String? {
        dataset.isTyped ? nil : "\(name)'s tables are classes of a program: strata-storage holds any table"
    }

    package var logPatterns: [String] { ["*.log"] }
    package var coordinationPatterns: [String] { ["*.lock"] }

    package func files(at location: DatabaseLocation) -> [DatabaseFile] {
        let group = ClassGroup.found(at: location, in: POSIXFileSystem())
        let others = [StrataLists.path(at: location), Self.pathOfResidents(at: location)]
        guard let path = group?.path(at: location) ?? others.first(where: { FileTree.exists($0) }) else { return [] }
        return [
            DatabaseFile(path: path, role: .data), DatabaseFile(path: path + ".log", role: .log),
            DatabaseFile(path: path + ".lock", role: .lock),
        ].filter { FileTree.exists($0.path) }
    }

    package func writeBackMarks(at location: DatabaseLocation) -> [String] {
        guard let group = ClassGroup.found(at: location, in: POSIXFileSystem()) else { return [] }
        return StorageEngine.headerSlots(ofFile: group.path(at: location))
    }

    func session(
        _ location: DatabaseLocation, _ settings: EngineSettings, files: any FileSystem,
        compactOnLaunch: (@Sendable (Int, Int) -> Bool)? = nil
    ) throws(EngineError) -> StrataSession {
        var configuration = Self.configuration(settings)
        configuration.shouldCompactOnLaunch = compactOnLaunch
        return try StrataSession(location, configuration: configuration, settings: settings, files: files)
    }

    static func configuration(_ settings: EngineSettings) -> Realm.Configuration {
        var configuration = Realm.Configuration()
        switch settings.durability {
        case .full: configuration.durability = .full
        case .periodic: configuration.durability = .periodic
        case .none: configuration.durability = .none
        }
        configuration.encryptionKey = settings.encryptionKey.map { Data($0) }
        return configuration
    }
}

extension StrataEngine: ListEngine {
    package var hasOwnLists: Bool { true }

    package func openLists(
        _ location: DatabaseLocation, settings: EngineSettings, keeping: ListKeeping
    ) throws(EngineError) -> any ListSession {
        try StrataLists(location, Self.configuration(settings), keeping)
    }
}

extension StrataEngine: CompactOnLaunchEngine {
    /// `decide` is called before this returns, on this thread, so the unchecked conformance is safe.
    private struct Decision: @unchecked Sendable {
        let decide: (Int, Int) -> Bool
    }

    package func open(
        _ location: DatabaseLocation, settings: EngineSettings,
        compactOnLaunch decide: @escaping (_ totalBytes: Int, _ usedBytes: Int) -> Bool
    ) throws(EngineError) -> any Session {
        let decision = Decision(decide: decide)
        return try session(location, settings, files: POSIXFileSystem()) { total, used in
            decision.decide(total, used)
        }
    }
}
