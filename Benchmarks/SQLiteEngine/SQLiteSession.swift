#if SQLite
    import CSQLite
    import Files
    import Harness
    import Measuring
    import RunRecords
    import Synchronization

    /// The tables that this program knows at compile time, by name.
    enum KnownLayouts {
        private static let layouts = Mutex<[String: TableLayout]>([:])

        static func learn(_ tables: TableSet) {
            layouts.withLock { layouts in for table in tables.tables { layouts[table.name] = TableLayout(table) } }
        }

        static func layout(_ table: String) -> TableLayout? { layouts.withLock { $0[table] } }
    }

    final class SQLiteSession: TableSession {
        let connection: SQLiteConnection
        private var layouts: [String: TableLayout] = [:]
        var pinned: [SnapshotToken: SQLiteConnection] = [:]
        var pinCount = 0
        /// Of `KeyedRowSession`.
        var keyedRows: SQLiteKeyedRows?
        /// Whether stored texts of `ProbeSession` have characters of several scalars.
        var hasClusters = false

        init(_ connection: SQLiteConnection) {
            self.connection = connection
        }

        /// The log counts as long as it exists: closing the database removes it.
        func sizes() throws(EngineError) -> SizePoint {
            let pageSize = try connection.integer("PRAGMA page_size")
            let pages = try connection.integer("PRAGMA page_count")
            let free = try connection.integer("PRAGMA freelist_count")
            do {
                let log = connection.path + "-wal"
                return SizePoint(
                    fileBytes: try FileTree.size(connection.path), liveBytes: (pages - free) * pageSize,
                    freeBytes: free * pageSize, logBytes: FileTree.exists(log) ? try FileTree.size(log) : 0)
            } catch {
                throw EngineError(.refused, "\(error)")
            }
        }

        func close() throws(EngineError) {
            for connection in pinned.values { connection.close() }
            pinned = [:]
            connection.close()
        }

        // MARK: Tables

        func create(_ tables: TableSet) throws(EngineError) {
            try connection.transaction { () throws(EngineError) in
                for table in tables.tables { try create(table) }
            }
        }

        private func create(_ table: Table) throws(EngineError) {
            let layout = TableLayout(table)
            for statement in layout.createStatements { try connection.run(statement) }
            layouts[table.name] = layout
        }

        func load(_ tables: TableSet) throws(EngineError) {
            try connection.bulkTransaction { () throws(EngineError) in
                for table in tables.tables { try create(table) }
                for table in tables.tables {
                    let layout = try layout(table.name)
                    try RowWriter.with(table, layout, connection: connection) { writer throws(EngineError) in
                        for row in 0..<table.rowCount { try writer.insert(row, as: Int64(row)) }
                    }
                }
            }
        }

        func insertEach(_ rows: Table, latency: LatencyRecorder?) throws(EngineError) -> Int {
            let layout = try layout(rows.name)
            let connection = connection
            try RowWriter.with(rows, layout, connection: connection) { writer throws(EngineError) in
                for row in 0..<rows.rowCount {
                    if let latency {
                        try latency.time { () throws(EngineError) in
                            try connection.transaction { () throws(EngineError) in try writer.append(row) }
                        }
                    } else {
                        try connection.transaction { () throws(EngineError) in try writer.append(row) }
                    }
                }
            }
            return rows.rowCount
        }

        func insertAll(_ rows: Table) throws(EngineError) {
            let layout = try layout(rows.name)
            try connection.transaction { () throws(EngineError) in
                try RowWriter.with(rows, layout, connection: connection) { writer throws(EngineError) in
                    for row in 0..<rows.rowCount { try writer.append(row) }
                }
            }
        }

        func rowCount(table: String) throws(EngineError) -> Int {
            try connection.integer("SELECT count(*) FROM \(quoted(table))")
        }

        // MARK: Schema

        /// The layout of a table as the file has it.
        func layout(_ table: String) throws(EngineError) -> TableLayout {
            if let layout = layouts[table] { return layout }
            if let known = KnownLayouts.layout(table) { return known }
            let layout = try readLayout(table)
            layouts[table] = layout
            return layout
        }

        private func readLayout(_ table: String) throws(EngineError) -> TableLayout {
            let references = try references(of: table)
            var rowColumn = ""
            var columns: [TableLayout.LayoutColumn] = []
            let info = try connection.statement("SELECT name, type, pk FROM pragma_table_info(?)")
            info.bind(1, copy: table)
            while try info.step() {
                let name = info.text(0)
                if info.integer(2) > 0 { rowColumn = name }
                if name == TableLayout.ownRowColumn { continue }
                let kind: TableLayout.Kind =
                    switch info.text(1) {
                    case "REAL": .real
                    case "TEXT": .text
                    default: references[name].map { .link(target: $0) } ?? .integer
                    }
                columns.append(TableLayout.LayoutColumn(name: name, kind: kind))
            }
            guard !columns.isEmpty else { throw EngineError(.refused, "no table \(table)") }
            let linkTables = try connection.statement(
                "SELECT substr(name, length(?1) + 2) FROM sqlite_master WHERE type = 'table' "
                    + "AND substr(name, 1, length(?1) + 1) = ?1 || '_'")
            linkTables.bind(1, copy: table)
            var lists: [String] = []
            while try linkTables.step() { lists.append(linkTables.text(0)) }
            for list in lists {
                guard let target = try self.references(of: TableLayout.linkTable(table, list))["target"] else {
                    continue
                }
                columns.append(TableLayout.LayoutColumn(name: list, kind: .links(target: target)))
            }
            return TableLayout(name: table, rowColumn: rowColumn, columns: columns)
        }

        /// The table that each column refers to.
        private func references(of table: String) throws(EngineError) -> [String: String] {
            var references: [String: String] = [:]
            let keys = try connection.statement("SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?)")
            keys.bind(1, copy: table)
            while try keys.step() { references[keys.text(0)] = keys.text(1) }
            return references
        }
    }

    extension SQLiteSession: TracingSession {
        func startTrace() { connection.startTrace() }
        func endTrace() -> [(statement: String, count: Int)] { connection.endTrace() }
    }

    extension SQLiteSession: SettingsSession {
        func observedSettings() throws(EngineError) -> [EngineSetting] {
            var settings: [EngineSetting] = []
            for stated in connection.settings.observable {
                let answer = try connection.text("PRAGMA \(stated.name)")
                let words = SQLiteSettings.words[stated.name] ?? []
                let value = Int(answer).flatMap { words.indices.contains($0) ? words[$0] : nil } ?? answer.uppercased()
                settings.append(EngineSetting(stated.name, value))
            }
            return settings
        }
    }
#endif
