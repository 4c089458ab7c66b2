#if SQLite
    import CSQLite
    import Harness
    import RunRecords

    /// The settings of a connection, and SQLite's defaults.
    struct SQLiteSettings: Sendable {
        var durability: DurabilityClass
        var tuning: SQLiteEngine.Tuning
        var writers = WriterOrder.serialized

        /// How long a connection waits for a lock of another process before it gives up.
        static let busyMilliseconds = 10_000

        /// Pages in the log at which a commit checkpoints it.
        ///
        /// SQLite's default is 1 000. If single pages all over a large table are updated, every page is in the log once
        /// per transaction and is written back as often. With 1 000 random updates per transaction on a million rows
        /// the tuned engine does 37 000 updates a second at 1 000 pages, 49 000 at 5 000, 65 000 at 20 000, and 76 000
        /// to 100 000 at 50 000. 20 000 pages are 80 MiB of log, which a user tuning for updates accepts; a log five
        /// times as large gains a third.
        var checkpointPages: Int { tuning == .tuned ? 20_000 : 1_000 }

        private static let cacheOfSQLite = "-2000"
        private static let mapOfSQLite = "0"

        private var cache: String { tuning == .tuned ? "-262144" : Self.cacheOfSQLite }
        /// SQLite's maximum unless compiled for more: it silently reduces 4 GiB to this.
        private var map: String { tuning == .tuned ? "2147418112" : Self.mapOfSQLite }

        private var synchronous: String {
            switch durability {
            case .full: "FULL"
            case .periodic: "NORMAL"
            case .none: "OFF"
            }
        }

        /// Settings for a new connection that differ from SQLite's defaults, as an application sets them. The file
        /// contains the journal mode.
        func pragmas(isNew: Bool) -> [EngineSetting] {
            var pragmas: [EngineSetting] = []
            if isNew { pragmas.append(EngineSetting("journal_mode", "WAL")) }
            if durability != .full { pragmas.append(EngineSetting("synchronous", synchronous)) }
            if checkpointPages != 1_000 { pragmas.append(EngineSetting("wal_autocheckpoint", "\(checkpointPages)")) }
            if cache != Self.cacheOfSQLite { pragmas.append(EngineSetting("cache_size", cache)) }
            if map != Self.mapOfSQLite { pragmas.append(EngineSetting("mmap_size", map)) }
            if tuning == .tuned { pragmas.append(Self.plainDelete) }
            return pragmas
        }

        /// A library compiled with SQLITE_SECURE_DELETE, as Debian's is, overwrites deleted data with zeros: a user who
        /// tunes for speed turns that off.
        private static let plainDelete = EngineSetting("secure_delete", "OFF")

        /// The library's compiled default for deleted data.
        static var compiled: [EngineSetting] {
            let isSecure = sqlite3_compileoption_used("SECURE_DELETE") != 0
            return [EngineSetting("SQLITE_SECURE_DELETE", isSecure ? "compiled in" : "not compiled in")]
        }

        /// Settings that can be queried: each is a pragma without a value.
        var observable: [EngineSetting] {
            [
                EngineSetting("page_size", "4096"),
                EngineSetting("journal_mode", "WAL"),
                EngineSetting("synchronous", synchronous),
                EngineSetting("wal_autocheckpoint", "\(checkpointPages)"),
                EngineSetting("cache_size", cache),
                EngineSetting("mmap_size", map),
                EngineSetting("locking_mode", "NORMAL"),
                EngineSetting("temp_store", "DEFAULT"),
                EngineSetting("auto_vacuum", "NONE"),
                EngineSetting("foreign_keys", "OFF"),
                EngineSetting("cell_size_check", "OFF"),
            ] + (tuning == .tuned ? [Self.plainDelete] : [])
        }

        /// The numbers that some pragmas return, by the words that set them.
        static let words: [String: [String]] = [
            "synchronous": ["OFF", "NORMAL", "FULL", "EXTRA"], "temp_store": ["DEFAULT", "FILE", "MEMORY"],
            "auto_vacuum": ["NONE", "FULL", "INCREMENTAL"], "foreign_keys": ["OFF", "ON"],
            "cell_size_check": ["OFF", "ON"], "secure_delete": ["OFF", "ON", "FAST"],
        ]

        /// All pragmas, and other settings.
        var list: [EngineSetting] {
            observable + [
                EngineSetting("busy_timeout", "\(Self.busyMilliseconds)"),
                EngineSetting("connection", "one per thread, SQLITE_OPEN_NOMUTEX"),
                EngineSetting("write transactions", "BEGIN IMMEDIATE"),
                EngineSetting("writers of a process", "one lock per database, unless writers=busy"),
                EngineSetting("transactions of all rows", "the log is written back by the next commit or the close"),
            ]
        }
    }
#endif
