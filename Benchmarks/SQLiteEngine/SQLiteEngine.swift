#if SQLite
    import CSQLite
    import Harness
    import Measuring
    import RunRecords

    /// SQLite through its C interface: prepared statements, a connection per session, write-ahead log.
    ///
    /// A table is a table whose rowid is the row index; a list of links is a table (owner, place, target) with an index
    /// on the target. The settings are those of a careful user, and stand in the report.
    package struct SQLiteEngine: Engine {
        package enum Tuning: Sendable {
            /// The library's own defaults for cache and memory map.
            case asItComes
            /// A 2 GiB memory map, a 256 MiB page cache, and a log of 80 MiB.
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
            .tables, .persistent, .links, .queries, .updates, .deletions, .snapshots, .compaction, .compactOnLaunch,
            .threads, .processes, .probes,
        ]

        /// What its documentation promises. It promises nothing about damaged files: "How To Corrupt An SQLite Database
        /// File" lists what they come from, and page checksums are an extension (cksumvfs) that is not loaded.
        package let promises = [
            Promise(
                .durability,
                sentence: "With synchronous=FULL a writer syncs the log at every commit.",
                source: "sqlite.org/wal.html, section 3"),
            Promise(
                .atomicity,
                sentence: "All changes of a transaction occur completely or not at all, whatever interrupts it.",
                source: "sqlite.org/transactional.html"),
            Promise(
                .isolation,
                sentence: "Transactions are serializable: there is one writer at a time, readers see a snapshot.",
                source: "sqlite.org/isolation.html"),
        ]

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
            var own = SQLiteSettings(durability: settings.durability, tuning: tuning)
            own.writers = settings.writers
            return SQLiteSession(try SQLiteConnection(path: location.mainFile, settings: own))
        }

        package func learn(_ tables: TableSet) { KnownLayouts.learn(tables) }

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

    /// SQLite has no policy of its own: this is what its users write where the application starts, so that it runs only
    /// when this process has no other connection.
    extension SQLiteEngine: CompactOnLaunchEngine {
        package func open(
            _ location: DatabaseLocation, settings: EngineSettings,
            compactOnLaunch decide: @escaping (_ totalBytes: Int, _ usedBytes: Int) -> Bool
        ) throws(EngineError) -> any Session {
            let isFirst = OpenDatabases.count(location.mainFile) == 0
            let session = try session(location, settings)
            guard isFirst else { return session }
            let pageSize = try session.connection.integer("PRAGMA page_size")
            let pages = try session.connection.integer("PRAGMA page_count")
            let free = try session.connection.integer("PRAGMA freelist_count")
            if decide(pages * pageSize, (pages - free) * pageSize) { try session.compact() }
            return session
        }
    }
#endif
