#if SQLite
    import CSQLite
    import Files
    import Harness
    import Measuring
    import Platform
    import RunRecords
    import Synchronization

    /// A lock for the writers of this process on one file, like the single writer queue of an application.
    ///
    /// A writer that waits in SQLite itself sleeps and retries, which starves writers and leaves the disk idle. Users
    /// of SQLite therefore run one writer at a time, and leave the busy handler for other processes.
    ///
    /// Unchecked: the system mutex guards itself.
    final class WriterTurn: @unchecked Sendable {
        private static let turns = Mutex<[String: WriterTurn]>([:])

        static func prepare() { turns.withLock { $0.reserveCapacity(1) } }

        static func of(_ path: String) -> WriterTurn {
            turns.withLock { turns in
                if let turn = turns[path] { return turn }
                let turn = WriterTurn()
                turns[path] = turn
                return turn
            }
        }

        /// POSIX's mutex, as an application in C uses it. Swift's Mutex passes the lock to the longest waiter, in the
        /// kernel: each commit then begins with a thread switch, and SQLite reaches two thirds of its rate.
        private let lock: UnsafeMutablePointer<pthread_mutex_t>

        private init() {
            lock = .allocate(capacity: 1)
            pthread_mutex_init(lock, nil)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
        }

        func take<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body()
        }
    }

    /// A text of SQL, compared by its bytes: Swift's `String` treats é and e with a combining accent as equal.
    struct StatementText: Hashable {
        let sql: String

        static func == (a: StatementText, b: StatementText) -> Bool { a.sql.utf8.elementsEqual(b.sql.utf8) }

        func hash(into hasher: inout Hasher) {
            for byte in sql.utf8 { hasher.combine(byte) }
        }
    }

    /// A connection with its prepared statements. Used by one thread.
    final class SQLiteConnection {
        let path: String
        let settings: SQLiteSettings
        private var handle: OpaquePointer?
        private var isClosed = false
        private var statements: [StatementText: SQLiteStatement] = [:]
        private var begin: SQLiteStatement?
        private var beginRead: SQLiteStatement?
        private var end: SQLiteStatement?
        private let turn: WriterTurn?

        convenience init(path: String, settings: SQLiteSettings) throws(EngineError) {
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            let pragmas = settings.pragmas(isNew: Self.isEmpty(path))
            try self.init(path: path, settings: settings, flags: flags, pragmas: pragmas)
        }

        /// Whether the journal mode must be set: an existing file has WAL in its header.
        private static func isEmpty(_ path: String) -> Bool {
            do { return try FileTree.size(path) == 0 } catch { return true }
        }

        /// Opens a file of the user read-only.
        convenience init(readOnly path: String) throws(EngineError) {
            let settings = SQLiteSettings(durability: .full, tuning: .asItComes)
            try self.init(path: path, settings: settings, flags: SQLITE_OPEN_READONLY, pragmas: [])
        }

        private init(
            path: String, settings: SQLiteSettings, flags: Int32, pragmas: [EngineSetting]
        ) throws(EngineError) {
            self.path = path
            self.settings = settings
            turn = settings.writers == .serialized ? WriterTurn.of(path) : nil
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

        /// Makes Swift create what it needs for the first statement of a process. To find out that a text of SQL is
        /// hashable, Swift scans all conformances of the program: more work than SQLite's open of a database.
        static func prepareTypes() {
            WriterTurn.prepare()
            _ = (emptyStatements(), emptyKinds())
        }

        @inline(never)
        private static func emptyKinds() -> [TableLayout.Kind] {
            var kinds: [TableLayout.Kind] = []
            kinds.reserveCapacity(1)
            return kinds
        }

        @inline(never)
        private static func emptyStatements() -> [StatementText: SQLiteStatement] {
            var statements: [StatementText: SQLiteStatement] = [:]
            statements.reserveCapacity(1)
            return statements
        }

        deinit {
            close()
        }

        /// The last connection of a database checkpoints the log and removes it.
        func close() {
            guard !isClosed else { return }
            isClosed = true
            for statement in statements.values { statement.finalize() }
            statements = [:]
            (begin, beginRead, end) = (nil, nil, nil)
            sqlite3_close_v2(handle)
            handle = nil
        }

        /// Another connection to the same file with the same settings.
        func another() throws(EngineError) -> SQLiteConnection {
            try SQLiteConnection(path: path, settings: settings)
        }

        /// Runs a statement once, without caching it.
        func run(_ sql: String) throws(EngineError) {
            let status = sqlite3_exec(handle, sql, nil, nil, nil)
            guard status == SQLITE_OK else { throw error(status) }
        }

        /// The statement of that text, prepared once and reset.
        func statement(_ sql: String) throws(EngineError) -> SQLiteStatement {
            let text = StatementText(sql: sql)
            if let statement = statements[text] {
                statement.reset()
                return statement
            }
            var raw: OpaquePointer?
            let status = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &raw, nil)
            guard status == SQLITE_OK, let raw else { throw error(status) }
            let statement = SQLiteStatement(raw, of: self)
            statements[text] = statement
            return statement
        }

        /// The text of a query with one row and column.
        func text(_ sql: String) throws(EngineError) -> String {
            let statement = try statement(sql)
            defer { statement.reset() }
            guard try statement.step() else { throw EngineError(.refused, "no row from \(sql)") }
            return statement.text(0)
        }

        /// The integer of a query with one row and column.
        func integer(_ sql: String) throws(EngineError) -> Int {
            let statement = try statement(sql)
            defer { statement.reset() }
            guard try statement.step() else { throw EngineError(.refused, "no row from \(sql)") }
            return Int(statement.integer(0))
        }

        /// Runs the body between BEGIN IMMEDIATE and COMMIT, and rolls back when it throws. Writers of this process
        /// take turns, unless the settings leave them to SQLite's busy handler.
        func transaction<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
            try inTurn { () throws(EngineError) in try transact(body) }
        }

        /// Runs the body when no other connection of this process writes.
        func inTurn<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
            guard let turn else { return try body() }
            return try turn.take(body)
        }

        /// As ``transaction(_:)``, for many rows: the commit returns when the log is durable, and the next commit or
        /// the close checkpoints it. Otherwise SQLite would checkpoint inside the call, after the commit is durable,
        /// and the time to the acknowledgement would include work that other engines do later.
        func bulkTransaction<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
            sqlite3_wal_autocheckpoint(handle, 0)
            defer { sqlite3_wal_autocheckpoint(handle, Int32(settings.checkpointPages)) }
            return try transaction(body)
        }

        private func transact<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
            try takeWriteLock()
            do throws(EngineError) {
                let output = try body()
                try commit()
                return output
            } catch {
                rollback()
                throw error
            }
        }

        /// Runs the body in one read transaction: its reads see one state, which SQLite looks up once.
        func reading<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
            try kept(&beginRead, "BEGIN").finish()
            do throws(EngineError) {
                let output = try body()
                try commit()
                return output
            } catch {
                rollback()
                throw error
            }
        }

        /// Takes the write lock, and retries after the busy timeout: up to a minute, as a patient user.
        func takeWriteLock() throws(EngineError) {
            let statement = try kept(&begin, "BEGIN IMMEDIATE")
            defer { statement.reset() }
            var deadline: UInt64?
            while true {
                let status = statement.stepStatus()
                if status == SQLITE_DONE { return }
                let failure = error(status)
                statement.reset()
                let now = MonotonicClock.now()
                let last = deadline ?? now + 60_000_000_000
                deadline = last
                guard status & 0xFF == SQLITE_BUSY, now < last else { throw failure }
            }
        }

        private func commit() throws(EngineError) {
            try kept(&end, "COMMIT").finish()
        }

        /// A statement of every transaction, cached without a lookup by text.
        private func kept(
            _ place: inout SQLiteStatement?, _ sql: String
        ) throws(EngineError) -> SQLiteStatement {
            if let place { return place }
            let statement = try statement(sql)
            place = statement
            return statement
        }

        // MARK: Trace

        /// Statements that ran, in the order of their first time.
        private final class Trace {
            var order: [StatementText] = []
            var counts: [StatementText: Int] = [:]
        }

        private var trace: Trace?

        func startTrace() {
            let trace = Trace()
            self.trace = trace
            sqlite3_trace_v2(
                handle, UInt32(SQLITE_TRACE_STMT),
                { _, context, statement, _ in
                    guard let context, let statement, let sql = sqlite3_sql(OpaquePointer(statement)) else { return 0 }
                    let trace = Unmanaged<Trace>.fromOpaque(context).takeUnretainedValue()
                    let text = StatementText(sql: String(cString: sql))
                    if trace.counts.updateValue((trace.counts[text] ?? 0) + 1, forKey: text) == nil {
                        trace.order.append(text)
                    }
                    return 0
                }, Unmanaged.passUnretained(trace).toOpaque())
        }

        func endTrace() -> [(statement: String, count: Int)] {
            sqlite3_trace_v2(handle, 0, nil, nil)
            defer { trace = nil }
            return trace.map { trace in trace.order.map { ($0.sql, trace.counts[$0] ?? 0) } } ?? []
        }

        private func rollback() {
            // Fails if an error has already rolled back; then nothing is left to do.
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
