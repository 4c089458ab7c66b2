import RunRecords
import Seeds

/// Gives the expected values of single rows of a case's main table, as it was loaded.
///
/// A data set that comes in pieces is never generated as a whole: of ten million rows, the case reads a few thousand.
package struct RowOracle {
    /// The tables; without rows if the data set comes in pieces.
    package let schema: TableSet
    package let rowCount: Int
    private let exact: ExactOracle?
    private let keys: [Int64]
    private let source: (any RangedDatasetSource)?

    /// Throws: `HarnessError` if the main table has no integer key.
    package init(_ context: CaseContext) throws {
        source = context.sourceInPieces
        if let source {
            schema = try source.tables(size: 0, seed: Seed(0))
            rowCount = context.test.size
            exact = nil
            keys = []
            return
        }
        let tables = try context.tables()
        guard case .integer(let keys)? = tables.main.keyColumn?.values, !keys.isEmpty else {
            throw HarnessError("\(tables.main.name) has no integer key")
        }
        schema = tables
        rowCount = keys.count
        exact = ExactOracle(tables)
        self.keys = keys
    }

    package var main: Table { schema.main }

    package func key(ofRow row: Int) -> Int64 { source == nil ? keys[row] : Int64(row) }

    /// What `TableSession.readPoints` must return for unchanged rows.
    /// Complexity: O(keys), with one or two allocations per key if the data set comes in pieces.
    package func digest(_ reads: PointReads) -> ReadDigest {
        if let exact { return exact.digest(reads) }
        var digest = ReadDigest()
        guard let source else { return digest }
        let columns = reads.columns.compactMap { main.columnIndex($0) }
        for key in reads.keys where key >= 0 && key < rowCount {
            let row = source.mainRows(Int(key)..<(Int(key) + 1))
            for column in columns { digest.add(row.value(row: 0, column: column)) }
        }
        return digest
    }
}
