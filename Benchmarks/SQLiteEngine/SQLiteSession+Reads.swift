#if SQLite
    import Harness
    import Measuring
    import RunRecords

    extension SQLiteSession: QuerySession {
        func readPoints(_ reads: PointReads, latency: LatencyRecorder?) throws(EngineError) -> ReadDigest {
            let (connection, layout) = (connection, try layout(reads.table))
            // SQLite itself wraps a single read in a transaction.
            guard reads.snapshot == .batch, reads.keys.count > 1 else {
                return try Self.read(reads, layout: layout, connection: connection, latency: latency)
            }
            return try connection.reading { () throws(EngineError) in
                try Self.read(reads, layout: layout, connection: connection, latency: latency)
            }
        }

        static func read(
            _ reads: PointReads, layout: TableLayout, connection: SQLiteConnection, latency: LatencyRecorder?
        ) throws(EngineError) -> ReadDigest {
            var kinds: [TableLayout.Kind] = []
            for column in reads.columns { kinds.append(try layout.kind(column)) }
            let statement = try connection.statement(
                "SELECT \(reads.columns.map(quoted).joined(separator: ", ")) FROM \(quoted(layout.name)) "
                    + "WHERE \(quoted(layout.rowColumn)) = ?")
            var digest = ReadDigest()
            for (index, key) in reads.keys.enumerated() {
                if let latency {
                    try latency.timeSampled(index) { () throws(EngineError) in
                        try read(key, statement, kinds, into: &digest)
                    }
                } else {
                    try read(key, statement, kinds, into: &digest)
                }
            }
            return digest
        }

        @inline(__always)
        private static func read(
            _ key: Int64, _ statement: SQLiteStatement, _ kinds: [TableLayout.Kind], into digest: inout ReadDigest
        ) throws(EngineError) {
            statement.bind(1, key)
            if try statement.step() { add(statement, kinds, to: &digest) }
            statement.reset()
        }

        /// Adds the current row of the statement.
        @inline(__always)
        static func add(_ statement: SQLiteStatement, _ kinds: [TableLayout.Kind], to digest: inout ReadDigest) {
            var column: Int32 = 0
            for kind in kinds {
                switch kind {
                case .integer, .link: digest.add(integer: statement.integer(column))
                case .real: digest.add(real: statement.real(column))
                case .text: digest.add(utf8: statement.utf8(column))
                case .links: break
                }
                column += 1
            }
        }

        func countEqual(table: String, column: String, text: String) throws(EngineError) -> Int {
            let statement = try connection.statement(
                "SELECT count(*) FROM \(quoted(table)) WHERE \(quoted(column)) = ?")
            defer { statement.reset() }
            statement.bind(1, copy: text)
            return try statement.step() ? Int(statement.integer(0)) : 0
        }

        func sum(table: String, column: String) throws(EngineError) -> Int64 {
            let column = try integerColumn(column, of: table)
            let statement = try connection.statement("SELECT sum(\(column)) FROM \(quoted(table))")
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0) : 0
        }

        func count(_ filter: TwoColumnFilter) throws(EngineError) -> Int {
            let integer = try integerColumn(filter.integer, of: filter.table)
            guard try layout(filter.table).kind(filter.real) == .real else {
                throw EngineError(.refused, "column \(filter.real) holds no reals")
            }
            let statement = try connection.statement(
                "SELECT count(*) FROM \(quoted(filter.table)) WHERE \(integer) > ? AND \(quoted(filter.real)) < ?")
            defer { statement.reset() }
            statement.bind(1, filter.above)
            statement.bind(2, filter.below)
            return try statement.step() ? Int(statement.integer(0)) : 0
        }

        /// A row per step, as in every program that reads a table.
        func iterate(table: String, column: String) throws(EngineError) -> ReadDigest {
            let column = try integerColumn(column, of: table)
            let statement = try connection.statement("SELECT \(column) FROM \(quoted(table))")
            defer { statement.reset() }
            var digest = ReadDigest()
            while try statement.step() { digest.add(integer: statement.integer(0)) }
            return digest
        }

        private func integerColumn(_ column: String, of table: String) throws(EngineError) -> String {
            guard try layout(table).kind(column) == .integer else {
                throw EngineError(.refused, "column \(column) holds no integers")
            }
            return quoted(column)
        }

        func readAll(_ schema: TableSet, into sink: any RowSink) throws(EngineError) {
            for table in schema.tables {
                guard try readAll(table, into: sink) else { return }
            }
        }

        /// A list of links is read by a second cursor, in step with the rows.
        private final class ListCursor {
            let statement: SQLiteStatement
            let column: Int
            var owner: Int64?
            var target: Int64 = 0

            init(_ statement: SQLiteStatement, column: Int) throws(EngineError) {
                self.statement = statement
                self.column = column
                try advance()
            }

            func advance() throws(EngineError) {
                owner = try statement.step() ? statement.integer(0) : nil
                target = statement.integer(1)
            }

            /// The links of the row. Those of owners without a row are skipped.
            func links(of row: Int64) throws(EngineError) -> [Int] {
                var links: [Int] = []
                while let owner, owner <= row {
                    if owner == row { links.append(Int(target)) }
                    try advance()
                }
                return links
            }
        }

        private func readAll(_ table: Table, into sink: any RowSink) throws(EngineError) -> Bool {
            let layout = try layout(table.name)
            var names = [quoted(layout.rowColumn)]
            var cursors: [ListCursor] = []
            for (index, column) in table.columns.enumerated() {
                guard case .links = column.values else {
                    names.append(quoted(column.name))
                    continue
                }
                let statement = try connection.statement(
                    "SELECT owner, target FROM \(quoted(layout.linkTable(column.name))) ORDER BY owner, place")
                cursors.append(try ListCursor(statement, column: index))
            }
            let rows = try connection.statement(
                "SELECT \(names.joined(separator: ", ")) FROM \(quoted(table.name)) "
                    + "ORDER BY \(quoted(layout.rowColumn))")
            defer {
                rows.reset()
                for cursor in cursors { cursor.statement.reset() }
            }
            while try rows.step() {
                let row = rows.integer(0)
                var values: [Value] = []
                values.reserveCapacity(table.columns.count)
                var next: Int32 = 1
                for (index, column) in table.columns.enumerated() {
                    switch column.values {
                    case .links:
                        guard let cursor = cursors.first(where: { $0.column == index }) else { continue }
                        values.append(.links(try cursor.links(of: row)))
                    case .link:
                        values.append(rows.value(next, isLink: true))
                        next += 1
                    default:
                        values.append(rows.value(next, isLink: false))
                        next += 1
                    }
                }
                guard sink.receive(table: table.name, row: Int(truncatingIfNeeded: row), values: values) else {
                    return false
                }
            }
            return true
        }
    }
#endif
