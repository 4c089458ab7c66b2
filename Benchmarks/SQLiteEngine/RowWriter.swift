#if SQLite
    import CSQLite
    import Harness
    import RunRecords

    /// Binds the rows of a data set's table to insert statements, without copying texts.
    ///
    /// The loop over a row's values touches only plain memory and C functions, as the loop of a C program does.
    struct RowWriter {
        private struct LinkSource {
            let statement: SQLiteStatement
            let lists: PinnedColumn
        }

        private let insert: SQLiteStatement
        private let nextRow: SQLiteStatement?
        /// The columns that stand in the row, in the order of the statement's parameters.
        private let sources: UnsafeBufferPointer<PinnedColumn>
        private let linkSources: [LinkSource]
        private let clusteredKeys: PinnedColumn?

        /// Runs the body with a writer that is valid only inside it.
        static func with(
            _ table: Table, _ layout: TableLayout, connection: SQLiteConnection,
            body: (RowWriter) throws(EngineError) -> Void
        ) throws(EngineError) {
            try table.withPinnedColumns { pinned throws(EngineError) in
                let inRow = pinned.filter { $0.kind != .links }
                try inRow.withUnsafeBufferPointer { sources throws(EngineError) in
                    try body(try RowWriter(table, layout, connection: connection, pinned: pinned, sources: sources))
                }
            }
        }

        private init(
            _ table: Table, _ layout: TableLayout, connection: SQLiteConnection, pinned: [PinnedColumn],
            sources: UnsafeBufferPointer<PinnedColumn>
        ) throws(EngineError) {
            self.sources = sources
            let stored = zip(table.columns, pinned).filter { $0.1.kind != .links }.map(\.0.name)
            let hasOwnRow = layout.rowColumn == TableLayout.ownRowColumn
            let names = stored + (hasOwnRow ? [layout.rowColumn] : [])
            let places = Array(repeating: "?", count: names.count).joined(separator: ", ")
            insert = try connection.statement(
                "INSERT INTO \(quoted(layout.name)) (\(names.map(quoted).joined(separator: ", "))) VALUES (\(places))")
            if hasOwnRow {
                clusteredKeys = nil
                nextRow = try connection.statement(
                    "SELECT coalesce(max(\(quoted(layout.rowColumn))) + 1, 0) FROM \(quoted(layout.name))")
            } else {
                guard let index = table.columnIndex(layout.rowColumn), pinned[index].kind == .integer else {
                    throw EngineError(.refused, "the rows of \(table.name) have no key \(layout.rowColumn)")
                }
                clusteredKeys = pinned[index]
                nextRow = nil
            }
            var linkSources: [LinkSource] = []
            for (column, lists) in zip(table.columns, pinned) where lists.kind == .links {
                let statement = try connection.statement(
                    "INSERT INTO \(quoted(layout.linkTable(column.name))) (owner, place, target) VALUES (?, ?, ?)")
                linkSources.append(LinkSource(statement: statement, lists: lists))
            }
            self.linkSources = linkSources
        }

        /// Inserts a row with the next row index; in a table whose rowid is the key, with its key.
        func append(_ row: Int) throws(EngineError) {
            guard let nextRow else {
                try insert(row, as: clusteredKeys?.integer(row) ?? Int64(row))
                return
            }
            _ = try nextRow.step()
            let index = nextRow.integer(0)
            nextRow.reset()
            try insert(row, as: index)
        }

        func insert(_ row: Int, as index: Int64) throws(EngineError) {
            var place: Int32 = 1
            for source in sources {
                switch source.kind {
                case .integer: insert.bind(place, source.integer(row))
                case .real: insert.bind(place, source.real(row))
                case .link:
                    let target = source.link(row)
                    if target < 0 { insert.bindNull(place) } else { insert.bind(place, Int64(target)) }
                case .text:
                    let part = source.part(row)
                    let bytes = UnsafeRawBufferPointer(
                        start: source.parts.map { $0 + part.start }, count: part.end - part.start)
                    insert.bind(place, unowned: bytes)
                case .links: break
                }
                place += 1
            }
            if clusteredKeys == nil { insert.bind(place, index) }
            try insert.finish()
            for source in linkSources { try insert(source, row, of: index) }
        }

        private func insert(_ source: LinkSource, _ row: Int, of owner: Int64) throws(EngineError) {
            let part = source.lists.part(row)
            guard let targets = source.lists.parts, part.start < part.end else { return }
            for place in part.start..<part.end {
                source.statement.bind(1, owner)
                source.statement.bind(2, Int64(place - part.start))
                source.statement.bind(3, Int64(targets.load(fromByteOffset: place * 4, as: Int32.self)))
                try source.statement.finish()
            }
        }
    }
#endif
