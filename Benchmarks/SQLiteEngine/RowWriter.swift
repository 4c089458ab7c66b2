#if SQLite
    import Harness
    import RunRecords

    /// Binds the rows of a data set's table to insert statements, without copying texts.
    struct RowWriter {
        private enum Source {
            case integer([Int64])
            case real([Double])
            /// Start of the column's bytes, and where each row's text ends.
            case text(UnsafeBufferPointer<UInt8>, TextColumn)
            case link([Int32])
        }

        private struct LinkSource {
            var statement: SQLiteStatement
            var lists: LinkListColumn
        }

        private let insert: SQLiteStatement
        private let nextRow: SQLiteStatement?
        private let sources: [Source]
        private let linkSources: [LinkSource]
        private let clusteredKeys: [Int64]?

        /// Runs the body with a writer that is valid only inside it.
        static func with(
            _ table: Table, _ layout: TableLayout, connection: SQLiteConnection,
            body: (RowWriter) throws(EngineError) -> Void
        ) throws(EngineError) {
            try pin(table.columns[...], []) { sources throws(EngineError) in
                try body(try RowWriter(table, layout, connection: connection, sources: sources))
            }
        }

        /// Pins the bytes of one text column after the other, and runs the body inside all of these calls.
        private static func pin(
            _ columns: ArraySlice<Column>, _ sources: [Source], _ body: ([Source]) throws(EngineError) -> Void
        ) throws(EngineError) {
            guard let column = columns.first else { return try body(sources) }
            let rest = columns.dropFirst()
            switch column.values {
            case .integer(let values): try pin(rest, sources + [.integer(values)], body)
            case .real(let values): try pin(rest, sources + [.real(values)], body)
            case .link(_, let values): try pin(rest, sources + [.link(values)], body)
            case .links: try pin(rest, sources, body)
            case .text(let text):
                try text.bytes.withUnsafeBufferPointer { bytes throws(EngineError) in
                    try pin(rest, sources + [.text(bytes, text)], body)
                }
            }
        }

        private init(
            _ table: Table, _ layout: TableLayout, connection: SQLiteConnection, sources: [Source]
        ) throws(EngineError) {
            self.sources = sources
            let stored = table.columns.filter { if case .links = $0.values { false } else { true } }.map(\.name)
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
                guard case .integer(let keys)? = table.column(layout.rowColumn)?.values else {
                    throw EngineError(.refused, "the rows of \(table.name) have no key \(layout.rowColumn)")
                }
                clusteredKeys = keys
                nextRow = nil
            }
            var linkSources: [LinkSource] = []
            for column in table.columns {
                guard case .links(_, let lists) = column.values else { continue }
                let statement = try connection.statement(
                    "INSERT INTO \(quoted(layout.linkTable(column.name))) (owner, place, target) VALUES (?, ?, ?)")
                linkSources.append(LinkSource(statement: statement, lists: lists))
            }
            self.linkSources = linkSources
        }

        /// Inserts a row with the next row index; a clustered table takes the key for it.
        func append(_ row: Int) throws(EngineError) {
            guard let nextRow else {
                try insert(row, as: clusteredKeys?[row] ?? Int64(row))
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
                switch source {
                case .integer(let values): insert.bind(place, values[row])
                case .real(let values): insert.bind(place, values[row])
                case .text(let bytes, let text):
                    insert.bind(place, unowned: UnsafeBufferPointer(rebasing: bytes[text.range(row)]))
                case .link(let values):
                    if values[row] < 0 { insert.bindNull(place) } else { insert.bind(place, Int64(values[row])) }
                }
                place += 1
            }
            if clusteredKeys == nil { insert.bind(place, index) }
            try insert.finish()
            for source in linkSources {
                var position: Int64 = 0
                for target in source.lists[row] {
                    source.statement.bind(1, index)
                    source.statement.bind(2, position)
                    source.statement.bind(3, Int64(target))
                    try source.statement.finish()
                    position += 1
                }
            }
        }
    }
#endif
