#if SQLite
    import CSQLite

    /// A connection to an SQLite database, used by one thread at a time.
    package final class SQLiteFile {
        package enum Access: Sendable { case read, write, create }

        package let path: String
        package private(set) var handle: OpaquePointer?

        /// - Throws: `damaged`, `inUse`, `noSpace` or `failure`.
        package init(_ path: String, _ access: Access, busyMilliseconds: Int32 = 0) throws(CoreDataError) {
            self.path = path
            let flags =
                switch access {
                case .read: SQLITE_OPEN_READONLY
                case .write: SQLITE_OPEN_READWRITE
                case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                }
            let status = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
            guard status == SQLITE_OK else {
                let failure = error(status)
                close()
                throw failure
            }
            sqlite3_busy_timeout(handle, busyMilliseconds)
            // The schema is untrusted: it must not call functions with side effects.
            for pragma in ["trusted_schema=OFF", "cell_size_check=ON"] { try run("PRAGMA \(pragma)") }
        }

        deinit { close() }

        /// Closes the connection. Later statements fail; a second close does nothing.
        package func close() {
            sqlite3_close_v2(handle)
            handle = nil
        }

        package func statement(_ sql: String) throws(CoreDataError) -> SQLiteStatement {
            var statement: OpaquePointer?
            let status = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
            guard status == SQLITE_OK, let statement else { throw error(status) }
            return SQLiteStatement(statement, of: self)
        }

        /// Runs statements that return no row.
        package func run(_ sql: String) throws(CoreDataError) {
            let status = sqlite3_exec(handle, sql, nil, nil, nil)
            guard status == SQLITE_OK else { throw error(status) }
        }

        /// The number that a query of one row returns; nil for no row and for null.
        package func integer(_ sql: String) throws(CoreDataError) -> Int64? {
            let statement = try statement(sql)
            guard try statement.step(), !statement.isNull(0) else { return nil }
            return statement.integer(0)
        }

        package var changedRows: Int { Int(sqlite3_changes(handle)) }

        package func error(_ status: Int32) -> CoreDataError {
            let words = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
            switch status & 0xFF {
            case SQLITE_NOTADB:
                return CoreDataError(.notAStore, "\(path) is no SQLite database, or it is encrypted")
            case SQLITE_CORRUPT:
                return CoreDataError(
                    .damaged,
                    "\(path) is damaged (\(words)): take a copy of before, or what  sqlite3 \(path) .recover  gives")
            case SQLITE_BUSY, SQLITE_LOCKED:
                return CoreDataError(.inUse, "\(path) is in use by another program: close it there, then try again")
            case SQLITE_FULL:
                return CoreDataError(.noSpace, "\(path): the disk is full; make room, then try again")
            case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM:
                return CoreDataError(
                    .failure, "\(path) cannot be opened (\(words)): check that the file and its folder may be written")
            default: return CoreDataError(.failure, "\(path): SQLite says \"\(words)\" (\(status))")
            }
        }
    }

    /// A prepared statement; its values are valid until the next step.
    package final class SQLiteStatement {
        @exclusivity(unchecked) private let statement: OpaquePointer
        private let file: SQLiteFile

        init(_ statement: OpaquePointer, of file: SQLiteFile) {
            self.statement = statement
            self.file = file
        }

        deinit { sqlite3_finalize(statement) }

        /// - Returns: whether there is a row.
        @inline(__always)
        package func step() throws(CoreDataError) -> Bool {
            let status = sqlite3_step(statement)
            if status == SQLITE_ROW { return true }
            if status == SQLITE_DONE { return false }
            throw file.error(status)
        }

        package func reset() {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }

        /// Runs the statement with the bound values, and resets it.
        package func run() throws(CoreDataError) {
            defer { reset() }
            while try step() {}
        }

        package var columnCount: Int { Int(sqlite3_column_count(statement)) }

        // MARK: Values

        /// `SQLITE_INTEGER`, `SQLITE_FLOAT`, `SQLITE_TEXT`, `SQLITE_BLOB` or `SQLITE_NULL`. Read it before the value is
        /// converted.
        @inline(__always) package func kind(_ column: Int) -> SQLiteKind {
            SQLiteKind(rawValue: sqlite3_column_type(statement, Int32(column))) ?? .null
        }
        @inline(__always) package func isNull(_ column: Int) -> Bool { kind(column) == .null }
        @inline(__always) package func integer(_ column: Int) -> Int64 {
            sqlite3_column_int64(statement, Int32(column))
        }
        @inline(__always) package func double(_ column: Int) -> Double {
            sqlite3_column_double(statement, Int32(column))
        }

        /// Text as UTF-8, or data; valid until the next step.
        @inline(__always)
        package func bytes(_ column: Int, isText: Bool) -> UnsafeRawBufferPointer {
            let base =
                isText
                ? UnsafeRawPointer(sqlite3_column_text(statement, Int32(column)))
                : sqlite3_column_blob(statement, Int32(column))
            let count = sqlite3_column_bytes(statement, Int32(column))
            return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : Int(count))
        }

        package func text(_ column: Int) -> String { String(decoding: bytes(column, isText: true), as: UTF8.self) }
        package func data(_ column: Int) -> [UInt8] { Array(bytes(column, isText: false)) }

        // MARK: Parameters, counted from 0

        package func bind(_ place: Int, _ value: Int64?) {
            if let value {
                sqlite3_bind_int64(statement, Int32(place + 1), value)
            } else {
                sqlite3_bind_null(statement, Int32(place + 1))
            }
        }

        package func bind(_ place: Int, double value: Double) {
            sqlite3_bind_double(statement, Int32(place + 1), value)
        }

        package func bind(_ place: Int, text value: String) {
            sqlite3_bind_text(statement, Int32(place + 1), value, Int32(clamping: value.utf8.count), Self.keepsCopy)
        }

        package func bind(_ place: Int, data value: [UInt8]) {
            // Binds data of length 0, not null.
            if value.isEmpty {
                sqlite3_bind_zeroblob(statement, Int32(place + 1), 0)
            } else {
                sqlite3_bind_blob(statement, Int32(place + 1), value, Int32(clamping: value.count), Self.keepsCopy)
            }
        }

        /// SQLITE_TRANSIENT: SQLite keeps a copy.
        private static var keepsCopy: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
    }

    /// The storage class of a value.
    package enum SQLiteKind: Int32, Sendable {
        case integer = 1
        case real = 2
        case text = 3
        case data = 4
        case null = 5
    }
#endif

/// A name within an SQL statement.
package func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}
