#if SQLite
    import RunRecords

    /// Everything that is set on a connection, as pragmas in the order in which they run.
    struct SQLiteSettings: Sendable {
        var durability: DurabilityClass
        var tuning: SQLiteEngine.Tuning

        /// How long a connection waits for a lock before it gives up.
        static let busyMilliseconds = 10_000

        /// `page_size` stands before `journal_mode`: it counts for a file that does not exist yet only.
        var pragmas: [EngineSetting] {
            [
                EngineSetting("page_size", "4096"),
                EngineSetting("journal_mode", "WAL"),
                EngineSetting("synchronous", synchronous),
                EngineSetting("wal_autocheckpoint", "1000"),
                EngineSetting("cache_size", tuning == .tuned ? "-262144" : "-2000"),
                EngineSetting("mmap_size", tuning == .tuned ? "4294967296" : "0"),
                EngineSetting("locking_mode", "NORMAL"),
                EngineSetting("temp_store", "DEFAULT"),
                EngineSetting("auto_vacuum", "NONE"),
                EngineSetting("foreign_keys", "OFF"),
                EngineSetting("cell_size_check", "OFF"),
            ]
        }

        /// The pragmas, and what is no pragma.
        var list: [EngineSetting] {
            pragmas + [
                EngineSetting("busy_timeout", "\(Self.busyMilliseconds)"),
                EngineSetting("connection", "one per thread, SQLITE_OPEN_NOMUTEX"),
                EngineSetting("write transactions", "BEGIN IMMEDIATE"),
            ]
        }

        private var synchronous: String {
            switch durability {
            case .full: "FULL"
            case .periodic: "NORMAL"
            case .none: "OFF"
            }
        }
    }
#endif
