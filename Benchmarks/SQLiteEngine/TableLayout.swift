#if SQLite
    import Harness
    import RunRecords

    /// The schema of a data set's table in SQLite.
    struct TableLayout {
        enum Kind: Equatable {
            case integer, real, text
            /// A column with the row of the target, or null.
            case link(target: String)
            /// Not a column: a table (owner, place, target).
            case links(target: String)
        }

        struct LayoutColumn {
            var name: String
            var kind: Kind
            var isIndexed = false
        }

        var name: String
        /// An alias of the rowid: the integer key if keys are the row indexes, else a column of its own.
        var rowColumn: String
        /// The key, if it is not the rowid; it has a unique index.
        var uniqueColumn: String?
        var columns: [LayoutColumn]

        static let ownRowColumn = "row_index"

        init(_ table: Table) {
            name = table.name
            columns = table.columns.map { column in
                let kind: Kind =
                    switch column.values {
                    case .integer: .integer
                    case .real: .real
                    case .text: .text
                    case .link(let target, _): .link(target: target)
                    case .links(let target, _): .links(target: target)
                    }
                return LayoutColumn(name: column.name, kind: kind, isIndexed: column.isIndexed)
            }
            if let key = table.key, Self.areRowIndexes(table.keyColumn) {
                rowColumn = key
            } else {
                rowColumn = Self.ownRowColumn
                uniqueColumn = table.key
            }
        }

        init(name: String, rowColumn: String, columns: [LayoutColumn]) {
            self.name = name
            self.rowColumn = rowColumn
            self.columns = columns
        }

        private static func areRowIndexes(_ key: Column?) -> Bool {
            guard case .integer(let keys)? = key?.values else { return false }
            return keys.enumerated().allSatisfy { Int64($0.offset) == $0.element }
        }

        func linkTable(_ column: String) -> String { Self.linkTable(name, column) }

        static func linkTable(_ table: String, _ column: String) -> String { "\(table)_\(column)" }

        func kind(_ column: String) throws(EngineError) -> Kind {
            guard let found = columns.first(where: { $0.name == column }) else {
                throw EngineError(.refused, "table \(name) has no column \(column)")
            }
            return found.kind
        }

        /// Columns of the table itself, in order, without lists of links.
        var stored: [LayoutColumn] {
            columns.filter { if case .links = $0.kind { false } else { true } }
        }

        var createStatements: [String] {
            var definitions = rowColumn == Self.ownRowColumn ? [quoted(rowColumn) + " INTEGER PRIMARY KEY"] : []
            var statements: [String] = []
            for column in columns {
                switch column.kind {
                case .integer where column.name == rowColumn:
                    definitions.append(quoted(column.name) + " INTEGER PRIMARY KEY")
                case .integer: definitions.append(quoted(column.name) + " INTEGER NOT NULL")
                case .real: definitions.append(quoted(column.name) + " REAL NOT NULL")
                case .text: definitions.append(quoted(column.name) + " TEXT NOT NULL")
                case .link(let target):
                    definitions.append(quoted(column.name) + " INTEGER REFERENCES " + quoted(target))
                    statements.append(index(of: name, on: column.name, unique: false))
                case .links(let target):
                    let linkTable = linkTable(column.name)
                    statements.append(
                        "CREATE TABLE \(quoted(linkTable)) (owner INTEGER NOT NULL, place INTEGER NOT NULL, "
                            + "target INTEGER NOT NULL REFERENCES \(quoted(target)), PRIMARY KEY (owner, place)) "
                            + "WITHOUT ROWID")
                    statements.append(index(of: linkTable, on: "target", unique: false))
                }
                if column.isIndexed { statements.append(index(of: name, on: column.name, unique: false)) }
            }
            if let uniqueColumn { statements.append(index(of: name, on: uniqueColumn, unique: true)) }
            return ["CREATE TABLE \(quoted(name)) (\(definitions.joined(separator: ", ")))"] + statements
        }

        private func index(of table: String, on column: String, unique: Bool) -> String {
            "CREATE \(unique ? "UNIQUE " : "")INDEX \(quoted("\(table)_by_\(column)")) "
                + "ON \(quoted(table)) (\(quoted(column)))"
        }
    }

    /// A name in SQL.
    func quoted(_ name: String) -> String {
        "\"" + name.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
    }
#endif
