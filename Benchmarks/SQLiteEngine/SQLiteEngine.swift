#if SQLite
    import CSQLite
    import Files
    import Harness
    import Measuring
    import RunRecords

    /// SQLite through its C interface: prepared statements, a connection per session, write-ahead log.
    ///
    /// A table of a data set is a table whose rowid is the row index; a list of links is a table (owner, place, target)
    /// with an index on the target. The settings are those of a careful user; the report lists them.
    package struct SQLiteEngine: Engine {
        package enum Tuning: Sendable {
            /// The library's own defaults for cache and memory map.
            case asItComes
            /// A 2 GiB memory map, a 256 MiB page cache, a log of 80 MiB, and no overwriting of deleted data.
            case tuned
        }

        package let tuning: Tuning

        package init() {
            self.init(tuning: .asItComes)
        }

        package init(tuning: Tuning) {
            self.tuning = tuning
        }

        package var name: String { tuning == .tuned ? "sqlite-tuned" : "sqlite" }
        package var version: String { String(cString: sqlite3_libversion()) }

        package let capabilities: Set<Capability> = [
            .tables, .persistent, .links, .queries, .updates, .deletions, .snapshots, .compaction, .threads,
            .processes, .probes, .transactions, .checks, .salvages, .lists, .columnChanges, .keyedRows,
        ]

        package let library = "sqlite"
        package var libraryFunction: String? { "sqlite3_open_v2" }
        package var compiledSettings: [EngineSetting] { SQLiteSettings.compiled }

        /// What SQLite's documentation promises, in its words. It does not promise:
        ///
        /// - atomicity after a power cut in the class `none` (synchronous=OFF): "the database might become corrupted if
        ///   the operating system crashes or the computer loses power" (sqlite.org/pragma.html);
        /// - `detects-damage` and `survives-damage`: "SQLite does not add any redundancy to the database file for the
        ///   purpose of detecting corruption or I/O errors" (sqlite.org/atomiccommit.html, section 2). The adapter does
        ///   not load cksumvfs, the extension with page checksums. And sqlite.org/howtocorrupt.html lists damaged
        ///   media, and files that are moved, replaced or deleted, as ways to lose a database;
        /// - `bounded-wait`: a writer may get SQLITE_BUSY (sqlite.org/lang_transaction.html);
        /// - `bounded-size`: readers may make the log grow without bound (sqlite.org/wal.html, section 6).
        package let promises = [
            Promise(
                .durability,
                sentence: "SQLite implements serializable transactions that are atomic, consistent, isolated, and "
                    + "durable, even if the transaction is interrupted by a program crash, an operating system crash, "
                    + "or a power failure to the computer. (The log is synced at every commit with synchronous=FULL.)",
                source: "sqlite.org/transactional.html; sqlite.org/pragma.html#pragma_synchronous"),
            Promise(
                .atomicity,
                sentence: "All changes within a single transaction in SQLite either occur completely or not at all.",
                source: "sqlite.org/transactional.html"
            ).atPowerLoss(in: [.full, .periodic]),
            Promise(
                isolation: .serializable,
                sentence: "All transactions in SQLite show \"serializable\" isolation; there can only be a single "
                    + "writer at a time.",
                source: "sqlite.org/isolation.html"),
        ]

        package func inspectionCommands(at location: DatabaseLocation) -> [String] {
            let file = ShellWord.quoted(location.mainFile)
            return ["sqlite3 \(file) 'PRAGMA integrity_check'", "sqlite3 \(file)"]
        }

        package func settings(for durability: DurabilityClass) -> EngineSettings {
            EngineSettings(
                durability: durability,
                list: SQLiteSettings(durability: durability, tuning: tuning).list)
        }

        package func open(
            _ location: DatabaseLocation, settings: EngineSettings
        ) throws(EngineError) -> any Session {
            try session(location, settings)
        }

        func session(_ location: DatabaseLocation, _ settings: EngineSettings) throws(EngineError) -> SQLiteSession {
            SQLiteSession(try connection(location, settings))
        }

        func connection(
            _ location: DatabaseLocation, _ settings: EngineSettings
        ) throws(EngineError) -> SQLiteConnection {
            var own = SQLiteSettings(durability: settings.durability, tuning: tuning)
            own.writers = settings.writers
            return try SQLiteConnection(path: location.mainFile, settings: own)
        }

        package func learn(_ tables: TableSet) {
            KnownLayouts.learn(tables)
            SQLiteConnection.prepareTypes()
        }

        package var logPatterns: [String] { ["*-wal", "*-journal"] }
        package var coordinationPatterns: [String] { ["*-shm"] }

        package func files(at location: DatabaseLocation) -> [DatabaseFile] {
            let main = location.mainFile
            let candidates = [
                DatabaseFile(path: main, role: .data), DatabaseFile(path: main + "-wal", role: .log),
                DatabaseFile(path: main + "-journal", role: .log), DatabaseFile(path: main + "-shm", role: .lock),
            ]
            return candidates.filter { FileTree.exists($0.path) }
        }
    }

    extension SQLiteEngine: ListEngine {
        package var hasOwnLists: Bool { false }

        package func openLists(
            _ location: DatabaseLocation, settings: EngineSettings, keeping: ListKeeping
        ) throws(EngineError) -> any ListSession {
            try SQLiteLists(try connection(location, settings), keeping)
        }
    }
#endif
