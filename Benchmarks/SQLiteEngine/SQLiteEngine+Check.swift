#if SQLite
    import Harness

    extension SQLiteEngine: CheckingEngine {
        /// `PRAGMA integrity_check`: pages, trees, and indexes against their tables.
        package func check(_ location: DatabaseLocation) throws(EngineError) {
            let own = SQLiteSettings(durability: .full, tuning: tuning)
            let connection = try SQLiteConnection(path: location.mainFile, settings: own)
            defer { connection.close() }
            let answer = try connection.text("PRAGMA integrity_check")
            if answer != "ok" { throw EngineError(.damaged, answer) }
        }
    }
#endif
