import Files
import Seeds

#if SQLite
    import CSQLite
    import Datasets
    import Harness
    import RunRecords

    /// The largest table of a SQLite file, `--dataset FILE`: read only, with columns of any declared type.
    ///
    /// Kinds of columns are inferred from the values by `TableBuilder`. A null counts as an empty cell; a row with a
    /// blob is left out and listed.
    package struct SQLiteDataset: DatasetSource {
        package let name: String

        package init(path: String) {
            name = path
        }

        package var summary: String { "the largest table in \(name), the kinds of its columns inferred" }
        package var defaultSize: Int? { nil }
        package var isTyped: Bool { false }

        package var unavailableReason: String? {
            FileTree.exists(name) ? nil : "\(name): there is no such file"
        }

        /// Whether a file has the header of a SQLite database.
        package static func isDatabase(_ head: [UInt8]) -> Bool {
            head.starts(with: Array("SQLite format 3".utf8) + [0])
        }

        /// Throws: `DatasetError` when the file cannot be read, or no row is left.
        package func tables(size: Int?, seed: Seed) throws -> TableSet {
            do {
                return try read(limit: size)
            } catch let error as EngineError {
                throw DatasetError("\(name): \(error.message)")
            }
        }

        private func read(limit: Int?) throws -> TableSet {
            let connection = try SQLiteConnection(readOnly: name)
            defer { connection.close() }
            var largest: (name: String, rows: Int)?
            let tables = try connection.statement(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
            var names: [String] = []
            while try tables.step() { names.append(tables.text(0)) }
            for table in names {
                let rows = try connection.integer("SELECT count(*) FROM \(quoted(table))")
                if rows > largest?.rows ?? 0 { largest = (table, rows) }
            }
            guard let largest else { throw DatasetError("\(name): no table has a row") }
            let bound = limit.map { " LIMIT \($0)" } ?? ""
            let rows = try connection.statement("SELECT * FROM \(quoted(largest.name))\(bound)")
            let columns = rows.columnNames
            var builder = TableBuilder(name: CSVDataset.tableName(largest.name), columns: columns, placeWord: "row")
            var number = 0
            while try rows.step() {
                number += 1
                var cells: [[UInt8]] = []
                var blob: String?
                for (index, column) in columns.enumerated() {
                    if rows.isBlob(Int32(index)) { blob = column }
                    cells.append(Array(rows.utf8(Int32(index))))
                }
                if let blob {
                    builder.reject(number, "\(blob) is a blob")
                } else {
                    builder.append(cells, place: number)
                }
            }
            let table = builder.table()
            guard table.rowCount > 0 else { throw DatasetError("\(name): no row of \(largest.name) could be read") }
            return TableSet(dataset: name, content: [table], isComparable: false, rejected: builder.rejected)
        }
    }
#endif
