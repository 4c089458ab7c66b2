import CDuckDB
import Harness
import PackedRows

/// An open database of this process, shared by its sessions.
///
/// `@unchecked Sendable`: the library allows every thread to connect to a database, and synchronizes them.
final class DuckDBStore: @unchecked Sendable {
    static let open = OpenStores<DuckDBStore>()

    let functions: DuckDBFunctions
    private(set) var handle: DuckDBHandle?

    init(path: String, library: DuckDBLibrary, settings: DuckDBSettings) throws(EngineError) {
        functions = library.functions
        var configuration: DuckDBHandle?
        guard functions.createConfig(&configuration) == 0 else {
            throw EngineError(.refused, "DuckDB gave no configuration")
        }
        defer { functions.destroyConfig(&configuration) }
        for (name, value) in settings.configuration where functions.setConfig(configuration, name, value) != 0 {
            throw EngineError(.refused, "DuckDB \(library.version) does not know the setting \(name) = \(value)")
        }
        // Versions without background threads do not know it.
        for (name, value) in settings.configurationWhereKnown { _ = functions.setConfig(configuration, name, value) }
        var message: UnsafeMutablePointer<CChar>?
        guard functions.open(path, &handle, configuration, &message) == 0 else {
            let text = message.map { String(cString: $0) } ?? "no reason was given"
            functions.free(message)
            throw DuckDBConnection.error(text, kind: 0)
        }
    }

    /// Checkpoints the log into the data file.
    func close() { functions.close(&handle) }
}

/// A thread's connection to a database, with its prepared statements.
final class DuckDBConnection {
    let functions: DuckDBFunctions
    private var handle: DuckDBHandle?
    private var statements: [StatementText: DuckDBStatement] = [:]

    init(_ store: DuckDBStore) throws(EngineError) {
        functions = store.functions
        guard functions.connect(store.handle, &handle) == 0 else {
            throw EngineError(.refused, "DuckDB gave no connection")
        }
    }

    deinit { close() }

    func close() {
        guard handle != nil else { return }
        for statement in statements.values { statement.destroy() }
        statements = [:]
        functions.disconnect(&handle)
    }

    /// Runs a statement once, without a result.
    func run(_ sql: String) throws(EngineError) { try query(sql).destroy() }

    /// The result of a statement that is not cached.
    func query(_ sql: String) throws(EngineError) -> DuckDBResult {
        let result = DuckDBResult(functions)
        try result.fill { functions.query(handle, sql, $0) }
        return result
    }

    /// The statement of that text, prepared once.
    func statement(_ sql: String) throws(EngineError) -> DuckDBStatement {
        let text = StatementText(sql: sql)
        if let statement = statements[text] { return statement }
        var raw: DuckDBHandle?
        let status = functions.prepare(handle, sql, &raw)
        let statement = DuckDBStatement(raw, functions)
        guard status == 0 else {
            let message = functions.prepareError(raw).map { String(cString: $0) } ?? "it cannot be prepared"
            statement.destroy()
            throw Self.error(message, kind: 0)
        }
        statements[text] = statement
        return statement
    }

    /// Runs the body between BEGIN and COMMIT, and rolls back when it throws.
    func transaction<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
        try statement("BEGIN TRANSACTION").execute().destroy()
        do throws(EngineError) {
            let output = try body()
            try statement("COMMIT").execute().destroy()
            return output
        } catch {
            // After a failed commit there is nothing to roll back.
            do throws(EngineError) { try run("ROLLBACK") } catch {}
            throw error
        }
    }

    /// Repeats the body after each conflict on a row: DuckDB lets the first of two transactions commit and refuses the
    /// other.
    func retried<Output>(_ body: () throws(EngineError) -> Output) throws(EngineError) -> Output {
        while true {
            do throws(EngineError) { return try body() } catch {
                guard Self.isConflict(error) else { throw error }
            }
        }
    }

    /// Fills a table by chunks in the library's own layout.
    func append(to table: String, _ body: (DuckDBHandle?) throws(EngineError) -> Void) throws(EngineError) {
        var appender: DuckDBHandle?
        func check(_ status: Int32) throws(EngineError) {
            if status == 0 { return }
            throw Self.error(functions.appenderError(appender).map { String(cString: $0) } ?? "no reason", kind: 0)
        }
        defer { _ = functions.destroyAppender(&appender) }
        try check(functions.createAppender(handle, nil, table, &appender))
        try body(appender)
        try check(functions.closeAppender(appender))
    }

    func append(_ chunk: DuckDBHandle?, to appender: DuckDBHandle?) throws(EngineError) {
        guard functions.appendChunk(appender, chunk) == 0 else {
            throw Self.error(functions.appenderError(appender).map { String(cString: $0) } ?? "no reason", kind: 0)
        }
    }

    // MARK: Errors

    private static let outOfMemory: UInt32 = 33
    private static let conflict = "TransactionContext Error"

    static func isConflict(_ error: EngineError) -> Bool { error.message.contains(conflict) }

    /// Finds the kind by the text of the message: the library's own error kinds are too coarse.
    static func error(_ message: String, kind: UInt32) -> EngineError {
        let line = message.split(separator: "\n").first.map(String.init) ?? message
        func has(_ words: String...) -> Bool { words.contains { message.contains($0) } }
        if has("No space left", "File size exceeds", "out of disk") || kind == outOfMemory {
            return EngineError(.outOfSpace, line)
        }
        if has("hecksum", "not a valid DuckDB", "orrupt", "Serialization Error", "Could not read enough bytes") {
            return EngineError(.damaged, line)
        }
        return EngineError(.refused, line)
    }
}

/// A text of SQL, compared by its bytes.
struct StatementText: Hashable {
    let sql: String

    static func == (a: StatementText, b: StatementText) -> Bool { a.sql.utf8.elementsEqual(b.sql.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in sql.utf8 { hasher.combine(byte) }
    }
}

/// A prepared statement. Lives as long as its connection.
final class DuckDBStatement {
    private let functions: DuckDBFunctions
    private var handle: DuckDBHandle?

    init(_ handle: DuckDBHandle?, _ functions: DuckDBFunctions) {
        self.handle = handle
        self.functions = functions
    }

    func destroy() { functions.destroyPrepare(&handle) }

    func bind(_ place: UInt64, _ value: Int64) { _ = functions.bindInteger(handle, place, value) }
    func bind(_ place: UInt64, _ value: Double) { _ = functions.bindReal(handle, place, value) }
    func bindNull(_ place: UInt64) { _ = functions.bindNull(handle, place) }

    /// The library keeps a copy.
    func bind(_ place: UInt64, _ text: UnsafeBufferPointer<UInt8>) {
        text.withMemoryRebound(to: CChar.self) { bytes in
            guard let start = bytes.baseAddress else { return bind(place, "") }
            _ = functions.bindText(handle, place, start, UInt64(bytes.count))
        }
    }

    func bind(_ place: UInt64, _ text: String) {
        _ = functions.bindText(handle, place, text, UInt64(text.utf8.count))
    }

    func execute() throws(EngineError) -> DuckDBResult {
        let result = DuckDBResult(functions)
        try result.fill { functions.execute(handle, $0) }
        return result
    }

    /// The integer in the first row, of any integer type; nil without a row.
    func integer() throws(EngineError) -> Int64? {
        let result = try execute()
        defer { result.destroy() }
        var found: Int64?
        try result.forEachChunk { chunk throws(EngineError) in
            if found == nil, chunk.count > 0, !chunk.column(0).isNull(0) { found = chunk.column(0).integer(0) }
        }
        return found
    }
}
