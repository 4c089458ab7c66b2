import Harness
import RunRecords
import Synchronization

/// The schema of a data set's table in DuckDB.
struct DuckDBLayout {
    enum Kind: Equatable {
        case integer, real, text
        /// The row of the target, or null.
        case link
        /// Rows of the target.
        case links

        var type: String {
            switch self {
            case .integer, .link: "BIGINT"
            case .real: "DOUBLE"
            case .text: "VARCHAR"
            case .links: "BIGINT[]"
            }
        }
    }

    struct LayoutColumn {
        var name: String
        var kind: Kind
    }

    /// The additional column with the row index, in tables whose key is not the row index.
    static let ownRowColumn = "row_index"

    var name: String
    /// The integer key if keys are the row indexes, else the additional column.
    var rowColumn: String
    /// The key, if it is not `rowColumn`.
    var uniqueColumn: String?
    var isKeyed: Bool
    /// Without the additional column.
    var columns: [LayoutColumn]

    private static let known = Mutex<[String: DuckDBLayout]>([:])

    static func learn(_ tables: TableSet) {
        known.withLock { known in for table in tables.tables { known[table.name] = DuckDBLayout(table) } }
    }

    static func known(_ table: String) -> DuckDBLayout? { known.withLock { $0[table] } }

    init(_ table: Table) {
        name = table.name
        columns = table.columns.map { LayoutColumn(name: $0.name, kind: Self.kind($0.values)) }
        isKeyed = table.key != nil
        if let key = table.key, Self.areRowIndexes(table.keyColumn) {
            rowColumn = key
        } else {
            rowColumn = Self.ownRowColumn
            uniqueColumn = table.key
        }
    }

    /// Reads the schema of a table from the database.
    init(name: String, _ connection: DuckDBConnection) throws(EngineError) {
        self.name = name
        rowColumn = Self.ownRowColumn
        columns = []
        isKeyed = false
        let statement = try connection.statement("SELECT name, type, pk FROM pragma_table_info(?)")
        statement.bind(1, name)
        var (found, key): ([LayoutColumn], String?) = ([], nil)
        try statement.execute().forEachChunk { chunk throws(EngineError) in
            for row in 0..<chunk.count {
                let column = chunk.column(0).text(row)
                if chunk.column(2).boolean(row) { key = column }
                let kind: Kind =
                    switch chunk.column(1).text(row) {
                    case "DOUBLE": .real
                    case "VARCHAR": .text
                    case "BIGINT[]": .links
                    default: .integer
                    }
                found.append(LayoutColumn(name: column, kind: kind))
            }
        }
        guard !found.isEmpty else { throw EngineError(.refused, "no table \(name)") }
        isKeyed = key != nil
        if let key, !found.contains(where: { $0.name == Self.ownRowColumn }) { rowColumn = key }
        columns = found.filter { $0.name != Self.ownRowColumn }
    }

    private static func kind(_ values: ColumnValues) -> Kind {
        switch values {
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .link: .link
        case .links: .links
        }
    }

    private static func areRowIndexes(_ key: Column?) -> Bool {
        guard case .integer(let keys)? = key?.values else { return false }
        return keys.enumerated().allSatisfy { Int64($0.offset) == $0.element }
    }

    var hasOwnRow: Bool { rowColumn == Self.ownRowColumn }

    private var sequence: String { quoted(name + "_rows") }

    /// - Parameter rows: the number of rows loaded with explicit row indexes: the next one follows them.
    func createStatements(rows: Int) -> [String] {
        var definitions = columns.map { column in
            let null = column.kind == .link ? "" : " NOT NULL"
            let key = column.name == rowColumn ? " PRIMARY KEY" : column.name == uniqueColumn ? " UNIQUE" : ""
            return "\(quoted(column.name)) \(column.kind.type)\(null)\(key)"
        }
        guard hasOwnRow else { return ["CREATE TABLE \(quoted(name)) (\(definitions.joined(separator: ", ")))"] }
        let key = isKeyed ? " PRIMARY KEY" : ""
        definitions.append("\(quoted(rowColumn)) BIGINT DEFAULT nextval('\(name)_rows')\(key)")
        return [
            "CREATE SEQUENCE \(sequence) MINVALUE 0 START \(rows)",
            "CREATE TABLE \(quoted(name)) (\(definitions.joined(separator: ", ")))",
        ]
    }

    func kind(_ column: String) throws(EngineError) -> Kind {
        guard let found = columns.first(where: { $0.name == column }) else {
            throw EngineError(.refused, "table \(name) has no column \(column)")
        }
        return found.kind
    }

    func requireKind(_ kind: Kind, _ column: String) throws(EngineError) -> String {
        guard try self.kind(column) == kind else {
            throw EngineError(.refused, "column \(column) is no \(kind.type)")
        }
        return quoted(column)
    }
}

/// A name in SQL.
func quoted(_ name: String) -> String {
    "\"" + name.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
}
