#if SQLite
    import CSQLite
    import Files

    /// A value of a column in a row.
    enum ColumnValue {
        case integer(Int)
        case real(Double)
        case text(String)
        case null

        init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    }

    /// The file of an archive of runs: an SQLite database, which one thread uses.
    ///
    /// It has its own connection, apart from the adapter of the engine `sqlite`, whose connections are measured.
    final class ArchiveFile {
        /// Identifies archives in SQLite's header field for applications: `Asay`.
        static let applicationID = 0x4173_6179

        let path: String
        private var handle: OpaquePointer?
        private var statements: [String: OpaquePointer] = [:]

        /// Opens an existing file, or, with `creates`, also an empty new one. A file that is not an SQLite database is
        /// refused before SQLite opens it.
        ///
        /// - Parameter busyMilliseconds: how long to wait for a lock that another process holds while it adds a run.
        init(_ path: String, creates: Bool, busyMilliseconds: Int) throws(ArchiveError) {
            self.path = path
            try Self.requireDatabase(path, creates: creates)
            // SQLite opens it for writing even if the caller only reads: it may have to roll back the journal of a
            // killed process.
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
            let status = sqlite3_open_v2(path, &handle, flags, nil)
            do throws(ArchiveError) {
                guard status == SQLITE_OK else { throw error(status) }
                sqlite3_busy_timeout(handle, Int32(clamping: busyMilliseconds))
                for pragma in ["synchronous=FULL", "foreign_keys=ON", "trusted_schema=OFF", "cell_size_check=ON"] {
                    try run("PRAGMA \(pragma)")
                }
            } catch {
                close()
                throw error
            }
        }

        deinit { close() }

        private func close() {
            for statement in statements.values { sqlite3_finalize(statement) }
            statements = [:]
            sqlite3_close_v2(handle)
            handle = nil
        }

        private static func requireDatabase(_ path: String, creates: Bool) throws(ArchiveError) {
            guard FileTree.exists(path) else {
                if creates { return }
                throw ArchiveError(
                    .wrongInput,
                    "there is no archive in \(path): begin one with  assay history add RUN, or name it with --db FILE")
            }
            guard !FileTree.isDirectory(path), let head = FileTree.head(of: path, bytes: 16) else {
                throw ArchiveError(.wrongInput, "\(path) is no file that can be read: name another one with --db FILE")
            }
            // A process that was killed before its first commit leaves an empty file; the caller that creates an
            // archive uses it.
            if head.isEmpty, creates { return }
            guard head == Array("SQLite format 3\u{0}".utf8) else {
                throw ArchiveError(
                    .wrongInput, "\(path) is no SQLite database, and was left as it is: name another with --db FILE")
            }
        }

        // MARK: Statements

        /// Runs a statement that returns no rows.
        func run(_ sql: String, _ values: ColumnValue...) throws(ArchiveError) {
            try rows(sql, values) { _ throws(ArchiveError) in }
        }

        /// Runs a statement, and passes each row to the body.
        func rows(
            _ sql: String, _ values: [ColumnValue] = [], _ body: (ArchiveRow) throws(ArchiveError) -> Void
        ) throws(ArchiveError) {
            let statement = try prepared(sql)
            defer {
                sqlite3_reset(statement)
                sqlite3_clear_bindings(statement)
            }
            for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1), of: statement) }
            while true {
                let status = sqlite3_step(statement)
                if status == SQLITE_DONE { return }
                guard status == SQLITE_ROW else { throw error(status) }
                try body(ArchiveRow(statement, path))
            }
        }

        /// The first column of the last row that a query returns; nil if it returns none.
        func integer(_ sql: String, _ values: ColumnValue...) throws(ArchiveError) -> Int? {
            var number: Int?
            try rows(sql, values) { row throws(ArchiveError) in number = row.integer(0) }
            return number
        }

        var lastKey: Int { Int(sqlite3_last_insert_rowid(handle)) }

        private func prepared(_ sql: String) throws(ArchiveError) -> OpaquePointer {
            if let statement = statements[sql] { return statement }
            var statement: OpaquePointer?
            let status = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
            guard status == SQLITE_OK, let statement else { throw error(status) }
            statements[sql] = statement
            return statement
        }

        private func bind(_ value: ColumnValue, at place: Int32, of statement: OpaquePointer) {
            switch value {
            case .integer(let number): sqlite3_bind_int64(statement, place, Int64(number))
            case .real(let number): sqlite3_bind_double(statement, place, number)
            case .text(let text):
                // SQLITE_TRANSIENT: SQLite makes a copy. It gets the length, since a text may contain a zero byte.
                let keepsCopy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
                sqlite3_bind_text(statement, place, text, Int32(clamping: text.utf8.count), keepsCopy)
            case .null: sqlite3_bind_null(statement, place)
            }
        }

        // MARK: Transactions

        /// Runs the body in one transaction: it sees one state, and its changes are committed together or not at all.
        ///
        /// - Parameter writes: takes the write lock at the beginning, so that the body does not fail after half of its
        ///   work because another process took it.
        func transaction<Output>(
            writes: Bool, _ body: () throws(ArchiveError) -> Output
        ) throws(ArchiveError) -> Output {
            try run(writes ? "BEGIN IMMEDIATE" : "BEGIN")
            do throws(ArchiveError) {
                let output = try body()
                try run("COMMIT")
                return output
            } catch {
                // ROLLBACK fails if the error has already ended the transaction: then there is nothing to undo.
                sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
                throw error
            }
        }

        private func error(_ status: Int32) -> ArchiveError {
            let words = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
            switch status & 0xFF {
            case SQLITE_CORRUPT, SQLITE_NOTADB: return .damaged(path, words)
            case SQLITE_BUSY, SQLITE_LOCKED:
                return ArchiveError(.failure, "\(path) is in use by another process; nothing was added: try again")
            case SQLITE_FULL:
                return ArchiveError(.failure, "\(path): the disk is full; nothing was added: make room and try again")
            case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM:
                return ArchiveError(
                    .failure, "\(path) cannot be opened for writing (\(words)): SQLite makes a journal beside it")
            default: return ArchiveError(.failure, "\(path): SQLite says \"\(words)\" (\(status))")
            }
        }
    }

    extension ArchiveError {
        static func damaged(_ path: String, _ words: String) -> ArchiveError {
            ArchiveError(
                .failure,
                "\(path) is damaged (\(words)), and was left as it is: restore an earlier copy, or what  "
                    + "sqlite3 \(path) .recover  prints, or add the runs to a new one with --db FILE")
        }
    }

    /// A row of a result, valid until the next one is read.
    struct ArchiveRow {
        private let statement: OpaquePointer
        private let path: String

        init(_ statement: OpaquePointer, _ path: String) {
            self.statement = statement
            self.path = path
        }

        func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }

        func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

        func optionalReal(_ column: Int32) -> Double? {
            sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : real(column)
        }

        func text(_ column: Int32) -> String {
            guard let start = sqlite3_column_text(statement, column) else { return "" }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        }

        func choice<Choice: RawRepresentable<String>>(
            _ column: Int32, of type: Choice.Type
        ) throws(ArchiveError) -> Choice {
            let word = text(column)
            guard let choice = Choice(rawValue: word) else { throw .damaged(path, "there is no \(type) \"\(word)\"") }
            return choice
        }
    }
#endif
