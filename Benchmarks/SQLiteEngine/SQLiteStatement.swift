#if SQLite
    import CSQLite
    import Harness
    import RunRecords

    /// A prepared statement. Lives as long as its connection, which finalizes it.
    final class SQLiteStatement {
        private var handle: OpaquePointer?
        private unowned let connection: SQLiteConnection

        init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
            self.handle = handle
            self.connection = connection
        }

        func finalize() {
            sqlite3_finalize(handle)
            handle = nil
        }

        func stepStatus() -> Int32 { sqlite3_step(handle) }

        /// True when there is a row, false at the end.
        func step() throws(EngineError) -> Bool {
            let status = sqlite3_step(handle)
            if status == SQLITE_ROW { return true }
            if status == SQLITE_DONE { return false }
            let failure = connection.error(status)
            sqlite3_reset(handle)
            throw failure
        }

        /// Runs a statement without rows to its end, and resets it.
        func finish() throws(EngineError) {
            _ = try step()
            sqlite3_reset(handle)
        }

        func reset() { sqlite3_reset(handle) }

        func bind(_ place: Int32, _ value: Int64) { sqlite3_bind_int64(handle, place, value) }
        func bind(_ place: Int32, _ value: Double) { sqlite3_bind_double(handle, place, value) }
        func bindNull(_ place: Int32) { sqlite3_bind_null(handle, place) }

        /// SQLite reads the bytes at each step: they must stay valid until the statement is bound again.
        func bind(_ place: Int32, unowned bytes: UnsafeRawBufferPointer) {
            // A null pointer would bind null, not an empty text.
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                sqlite3_bind_text(handle, place, "", 0, nil)
                return
            }
            sqlite3_bind_text(handle, place, start.assumingMemoryBound(to: CChar.self), Int32(bytes.count), nil)
        }

        /// SQLite keeps a copy.
        func bind(_ place: Int32, copy text: String) {
            // SQLITE_TRANSIENT, a macro with a cast: the destructor -1.
            let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            sqlite3_bind_text(handle, place, text, -1, transient)
        }

        /// SQLite keeps a copy.
        func bind(_ place: Int32, blob values: ArraySlice<Int64>) {
            let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            values.withUnsafeBytes { bytes in
                _ = sqlite3_bind_blob(handle, place, bytes.baseAddress, Int32(bytes.count), transient)
            }
        }

        /// Valid until the next step or reset.
        func blob(_ column: Int32) -> UnsafeRawBufferPointer {
            let start = sqlite3_column_blob(handle, column)
            return UnsafeRawBufferPointer(
                start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
        }

        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
        func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
        func isBlob(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_BLOB }

        var columnNames: [String] {
            (0..<sqlite3_column_count(handle)).map { column in
                sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
            }
        }

        func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

        /// Valid until the next step or reset.
        func utf8(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
            let start = sqlite3_column_text(handle, column)
            return UnsafeBufferPointer(
                start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
        }

        func text(_ column: Int32) -> String { String(decoding: utf8(column), as: UTF8.self) }

        /// The value with its stored type: damage may have changed it. A blob becomes a text that no data set has.
        func value(_ column: Int32, isLink: Bool) -> Value {
            switch sqlite3_column_type(handle, column) {
            case SQLITE_INTEGER: isLink ? .link(Int(integer(column))) : .integer(integer(column))
            case SQLITE_FLOAT: .real(real(column))
            case SQLITE_TEXT: .text(text(column))
            case SQLITE_BLOB: .text("\u{0}blob of \(sqlite3_column_bytes(handle, column)) bytes")
            default: .null
            }
        }
    }
#endif
