#if SQLite
    import CSQLite
    import Harness
    import Measuring
    import RunRecords
    import Synchronization

    /// How many connections this process has to each file.
    enum OpenDatabases {
        private static let counts = Mutex<[String: Int]>([:])

        static func count(_ path: String) -> Int { counts.withLock { $0[path, default: 0] } }

        static func add(_ path: String, _ change: Int) {
            counts.withLock { counts in
                let count = counts[path, default: 0] + change
                counts[path] = count == 0 ? nil : count
            }
        }
    }

    /// A connection with its prepared statements. Used by one thread.
    final class SQLiteConnection {
        let path: String
        private let settings: SQLiteSettings
        private var handle: OpaquePointer?
        private var isClosed = false
        private var statements: [String: SQLiteStatement] = [:]

        convenience init(path: String, settings: SQLiteSettings) throws(EngineError) {
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            try self.init(path: path, settings: settings, flags: flags, pragmas: settings.pragmas)
        }

        /// A file of the user, left as it is.
        convenience init(readOnly path: String) throws(EngineError) {
            let settings = SQLiteSettings(durability: .full, tuning: .asItComes)
            try self.init(path: path, settings: settings, flags: SQLITE_OPEN_READONLY, pragmas: [])
        }

        private init(
            path: String, settings: SQLiteSettings, flags: Int32, pragmas: [EngineSetting]
        ) throws(EngineError) {
            self.path = path
            self.settings = settings
            OpenDatabases.add(path, 1)
            let status = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
            do throws(EngineError) {
                guard status == SQLITE_OK else { throw error(status) }
                sqlite3_busy_timeout(handle, Int32(SQLiteSettings.busyMilliseconds))
                for pragma in pragmas { try run("PRAGMA \(pragma.name)=\(pragma.value)") }
            } catch {
                close()
                throw error
            }
        }

        deinit {
            close()
        }

        /// The last connection of a database writes the log back into the data file and removes it.
        func close() {
            guard !isClosed else { return }
            isClosed = true
            OpenDatabases.add(path, -1)
            for statement in statements.values { statement.finalize() }
            statements = [:]
            sqlite3_close_v2(handle)
            handle = nil
        }

        /// Another connection to the same file with the same settings.
        func another() throws(EngineError) -> SQLiteConnection {
            try SQLiteConnection(path: path, settings: settings)
        }

        /// Runs a statement once. It is not kept.
        func run(_ sql: String) throws(EngineError) {
            let status = sqlite3_exec(handle, sql, nil, nil, nil)
            guard status == SQLITE_OK else { throw error(status) }
        }

        /// The statement of that text, prepared once and ready to be bound.
        func statement(_ sql: String) throws(EngineError) -> SQLiteStatement {
            if let statement = statements[sql] {
                statement.reset()
                return statement
            }
            var raw: OpaquePointer?
            let status = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &raw, nil)
            guard status == SQLITE_OK, let raw else { throw error(status) }
            let statement = SQLiteStatement(raw, of: self)
            statements[sql] = statement
            return statement
        }

        /// The single integer that a query gives.
        func integer(_ sql: String) throws(EngineError) -> Int {
            let statement = try statement(sql)
            defer { statement.reset() }
            guard try statement.step() else { throw EngineError(.refused, "no row from \(sql)") }
            return Int(statement.integer(0))
        }

        /// Runs the body between BEGIN IMMEDIATE and COMMIT, and rolls back when it throws.
        func transaction<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
            try begin()
            do throws(EngineError) {
                let output = try body()
                try commit()
                return output
            } catch {
                rollback()
                throw error
            }
        }

        /// Takes the write lock, and tries again when the busy timeout has passed: up to a minute, as a patient user.
        func begin() throws(EngineError) {
            let statement = try statement("BEGIN IMMEDIATE")
            let deadline = MonotonicClock.now() + 60_000_000_000
            while true {
                let status = statement.stepStatus()
                if status == SQLITE_DONE { return }
                let failure = error(status)
                statement.reset()
                guard status & 0xFF == SQLITE_BUSY, MonotonicClock.now() < deadline else { throw failure }
            }
        }

        func commit() throws(EngineError) {
            let statement = try statement("COMMIT")
            defer { statement.reset() }
            _ = try statement.step()
        }

        func rollback() {
            // An error that rolled back by itself makes this fail: then there is nothing left to be done.
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
        }

        func error(_ status: Int32) -> EngineError {
            let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
            let kind: EngineError.Kind =
                switch status & 0xFF {
                case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
                case SQLITE_FULL: .outOfSpace
                default: .refused
                }
            return EngineError(kind, "SQLite error \(status): \(text)")
        }
    }
#endif
