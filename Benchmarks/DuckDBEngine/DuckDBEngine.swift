import Files
import Harness
import RunRecords
import Synchronization

/// DuckDB through its C interface, from a library that is loaded at run time: columnar, compressed, read by one thread.
/// The peer for scans, filters and sums.
package struct DuckDBEngine: Engine {
    /// The version of the library in a file, or why it cannot be used.
    package typealias Answer = Result<String, EngineError>

    private let path: String
    private let describe: @Sendable (String) -> Answer

    private static let answers = Mutex<[String: Answer]>([:])

    /// - Parameters:
    ///   - path: of the library.
    ///   - describe: finds the library's version, once per process; in a child if this process must not load the
    ///     library.
    package init(
        path: String,
        describe: @escaping @Sendable (String) -> Answer = { path in
            Answer { () throws(EngineError) in try DuckDBLibrary.load(path).version }
        }
    ) {
        self.path = path
        self.describe = describe
    }

    package let name = DuckDBSearch.name
    package let library = "duckdb"

    private var answer: Answer {
        Self.answers.withLock { answers in
            if let answer = answers[path] { return answer }
            let answer = describe(path)
            answers[path] = answer
            return answer
        }
    }

    package var version: String {
        switch answer {
        case .success(let version): version
        case .failure: "unknown"
        }
    }

    /// Why this process cannot load the library; nil if it can. Loads it, and so is for a process that will open a
    /// database.
    package var libraryObjection: String? {
        do throws(EngineError) {
            _ = try DuckDBLibrary.load(path)
            return nil
        } catch { return error.message }
    }

    package var peerLibrary: EngineFile? { PeerLibraries.file(at: path) }

    package var assertions: [String] {
        let library = LoadedLibrary(file: path)
        return library.object?.hasAssertions == true ? [library.fileName] : []
    }

    package let capabilities: Set<Capability> = [
        .tables, .persistent, .queries, .updates, .deletions, .snapshots, .threads,
    ]

    /// What its documentation promises, in its words.
    ///
    /// With fsync_mode=NONE, the class `none`, its own description says that an operating system crash may corrupt the
    /// database. For isolation the page only promises that uncommitted changes are not visible.
    package let promises = [
        Promise(
            .durability,
            sentence: "You can commit a transaction to make it visible to other transactions and to write it to "
                + "persistent storage (if using DuckDB in persistent mode).",
            source: "duckdb.org/docs/2.0/sql/statements/transactions"),
        Promise(
            .atomicity, sentence: "DuckDB supports ACID database transactions.",
            source: "duckdb.org/docs/2.0/sql/statements/transactions"
        ).atPowerLoss(in: [.full]),
        Promise(
            isolation: .readCommitted,
            sentence: "Transactions provide isolation, i.e., changes made by a transaction are not visible from "
                + "concurrent transactions until it is committed.",
            source: "duckdb.org/docs/2.0/sql/statements/transactions"),
    ]

    package let durabilityClasses: [DurabilityClass] = [.full, .none]

    package func reasonToDecline(_ durability: DurabilityClass) -> String? {
        if case .failure(let error) = answer { return error.message }
        return durabilityClasses.contains(durability)
            ? nil : "DuckDB syncs its log at every commit or never: it has nothing between"
    }

    package func inspectionCommands(at location: DatabaseLocation) -> [String] {
        ["duckdb -readonly \(ShellWord.quoted(location.mainFile))"]
    }

    package func settings(for durability: DurabilityClass) -> EngineSettings {
        EngineSettings(durability: durability, list: DuckDBSettings(durability: durability).list)
    }

    package func open(
        _ location: DatabaseLocation, settings: EngineSettings
    ) throws(EngineError) -> any Session {
        try DuckDBSession(
            path: location.mainFile, library: try DuckDBLibrary.load(path),
            settings: DuckDBSettings(durability: settings.durability))
    }

    package func learn(_ tables: TableSet) { DuckDBLayout.learn(tables) }

    /// A transaction above the checkpoint threshold is written to the data file, others to the log.
    package var logPatterns: [String] { ["*.wal", "data"] }

    package func files(at location: DatabaseLocation) -> [DatabaseFile] {
        let main = location.mainFile
        return [DatabaseFile(path: main, role: .data), DatabaseFile(path: main + ".wal", role: .log)]
            .filter { FileTree.exists($0.path) }
    }
}
