import Files
import Harness
import Measuring
import RunRecords

/// A thread's connection to a database.
final class DuckDBSession: TableSession {
    private let path: String
    private let store: DuckDBStore
    private let settings: DuckDBSettings
    let connection: DuckDBConnection
    private var layouts: [String: DuckDBLayout] = [:]
    var pinned: [SnapshotToken: DuckDBConnection] = [:]
    private var pinCount = 0
    private var isOpen = true

    init(path: String, library: DuckDBLibrary, settings: DuckDBSettings) throws(EngineError) {
        self.path = path
        self.settings = settings
        store = try DuckDBStore.open.store(path) { () throws(EngineError) in
            try DuckDBStore(path: path, library: library, settings: settings)
        }
        do throws(EngineError) {
            connection = try DuckDBConnection(store)
        } catch {
            DuckDBStore.open.letGo(path) { $0.close() }
            throw error
        }
    }

    /// Blocks of the file, and free blocks.
    func sizes() throws(EngineError) -> SizePoint {
        var (free, size): (Int64, Int64) = (0, 0)
        let result = try connection.query(
            "SELECT CAST(free_blocks AS BIGINT), CAST(block_size AS BIGINT) FROM pragma_database_size()")
        defer { result.destroy() }
        try result.forEachChunk { chunk throws(EngineError) in
            (free, size) = (chunk.column(0).integer(0), chunk.column(1).integer(0))
        }
        do {
            let (file, log) = (try FileTree.size(path), path + ".wal")
            let unused = Int(free * size)
            return SizePoint(
                fileBytes: file, liveBytes: max(0, file - unused), freeBytes: unused,
                logBytes: FileTree.exists(log) ? try FileTree.size(log) : 0)
        } catch {
            throw EngineError(.refused, "\(error)")
        }
    }

    func close() throws(EngineError) {
        guard isOpen else { return }
        isOpen = false
        for connection in pinned.values { connection.close() }
        pinned = [:]
        connection.close()
        DuckDBStore.open.letGo(path) { $0.close() }
    }

    // MARK: Tables

    func layout(_ table: String) throws(EngineError) -> DuckDBLayout {
        if let layout = layouts[table] ?? DuckDBLayout.known(table) { return layout }
        let layout = try DuckDBLayout(name: table, connection)
        layouts[table] = layout
        return layout
    }

    private func create(_ table: Table, rows: Int) throws(EngineError) -> DuckDBLayout {
        let layout = DuckDBLayout(table)
        for statement in layout.createStatements(rows: rows) { try connection.run(statement) }
        layouts[table.name] = layout
        return layout
    }

    func create(_ tables: TableSet) throws(EngineError) {
        try connection.transaction { () throws(EngineError) in
            for table in tables.tables { _ = try create(table, rows: 0) }
        }
    }

    func load(_ tables: TableSet) throws(EngineError) {
        try connection.transaction { () throws(EngineError) in
            for table in tables.tables {
                let layout = try create(table, rows: table.rowCount)
                try DuckDBFilling(connection).fill(
                    table.name, with: table.columns, firstRow: layout.hasOwnRow ? 0 : nil)
            }
        }
    }

    /// The statement, and the number of the table's columns for which it has a parameter.
    private func insertion(_ layout: DuckDBLayout) throws(EngineError) -> DuckDBStatement {
        let names = layout.columns.map { quoted($0.name) }.joined(separator: ", ")
        // Not all versions can bind a list: it is passed as a text, which DuckDB parses.
        let places = layout.columns.map { $0.kind == .links ? "CAST(? AS BIGINT[])" : "?" }.joined(separator: ", ")
        return try connection.statement("INSERT INTO \(quoted(layout.name)) (\(names)) VALUES (\(places))")
    }

    private func bind(_ row: Int, of table: Table, to statement: DuckDBStatement) {
        for (index, column) in table.columns.enumerated() {
            let place = UInt64(index + 1)
            switch column.values {
            case .integer(let values): statement.bind(place, values[row])
            case .real(let values): statement.bind(place, values[row])
            case .text(let texts): texts.withUTF8(row) { statement.bind(place, $0) }
            case .link(_, let values):
                if values[row] < 0 { statement.bindNull(place) } else { statement.bind(place, Int64(values[row])) }
            case .links(_, let lists): statement.bind(place, "[\(lists[row].map(String.init).joined(separator: ","))]")
            }
        }
    }

    func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
        let (statement, connection) = (try insertion(try layout(rows.name)), connection)
        func insert(_ row: Int) throws(EngineError) {
            bind(row, of: rows, to: statement)
            try connection.retried { () throws(EngineError) in try statement.execute().destroy() }
        }
        for row in 0..<rows.rowCount {
            if let latency {
                try latency.time { () throws(EngineError) in try insert(row) }
            } else {
                try insert(row)
            }
        }
        return rows.rowCount
    }

    func insertAll(_ rows: Table) throws(EngineError) {
        let layout = try layout(rows.name)
        try connection.transaction { () throws(EngineError) in
            if layout.hasOwnRow {
                let statement = try insertion(layout)
                for row in 0..<rows.rowCount {
                    bind(row, of: rows, to: statement)
                    try statement.execute().destroy()
                }
            } else {
                try DuckDBFilling(connection).fill(rows.name, with: rows.columns)
            }
        }
    }

    func rowCount(table: String) throws(EngineError) -> Int {
        Int(try connection.statement("SELECT count(*) FROM \(quoted(table))").integer() ?? 0)
    }

    func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
        for table in schema.tables {
            let layout = try layout(table.name)
            let names = table.columns.map { quoted($0.name) }.joined(separator: ", ")
            let row = quoted(layout.rowColumn)
            let result = try connection.query("SELECT \(row), \(names) FROM \(quoted(table.name)) ORDER BY \(row)")
            defer { result.destroy() }
            var isWanted = true
            try result.forEachChunk { chunk throws(EngineError) in
                let rows = chunk.column(0)
                let columns = table.columns.indices.map { chunk.column($0 + 1) }
                for place in 0..<chunk.count where isWanted {
                    let values = zip(table.columns, columns).map { Self.value(of: $0, $1, place) }
                    let index = Int(truncatingIfNeeded: rows.integer(place))
                    isWanted = sink.receive(table: table.name, row: index, values: values)
                }
            }
            if !isWanted { return }
        }
    }

    private static func value(of column: Column, _ vector: DuckDBVector, _ row: Int) -> Value {
        if vector.isNull(row) { return .null }
        return switch column.values {
        case .integer: .integer(vector.integer(row))
        case .real: .real(vector.real(row))
        case .text: .text(vector.text(row))
        case .link: .link(Int(vector.integer(row)))
        case .links: .links(vector.list(row))
        }
    }

    // MARK: Pinned versions

    func another() throws(EngineError) -> DuckDBConnection { try DuckDBConnection(store) }

    func nextToken() -> SnapshotToken {
        pinCount += 1
        return SnapshotToken(number: pinCount)
    }
}

extension DuckDBSession: SettingsSession {
    func observedSettings() throws(EngineError) -> [EngineSetting] {
        var settings: [EngineSetting] = []
        for stated in self.settings.observable {
            let statement = try connection.statement(
                "SELECT CAST(value AS VARCHAR) FROM duckdb_settings() WHERE name = ?")
            statement.bind(1, stated.name)
            let result = try statement.execute()
            defer { result.destroy() }
            try result.forEachChunk { chunk throws(EngineError) in
                settings.append(EngineSetting(stated.name, chunk.column(0).text(0)))
            }
        }
        return settings
    }
}
