import RunRecords
import Seeds

/// Compares the rows of a full read with those of a data set that is generated in pieces during the read. It is for
/// databases so large that memory cannot hold a second copy of the rows.
final class PiecewiseComparison: ContentComparison {
    /// The data set's tables without their rows.
    let schema: TableSet
    private let source: any RangedDatasetSource
    private let size: Int
    private var piece: Table
    private var pieceStart = 0
    private var nextRow = 0
    private(set) var difference: String?

    /// The rows that are generated at a time.
    private static let rowsOfAPiece = 4_096

    init(_ source: any RangedDatasetSource, size: Int) throws {
        self.source = source
        self.size = size
        schema = try source.tables(size: 0, seed: Seed(0))
        piece = source.mainRows(0..<min(size, Self.rowsOfAPiece))
    }

    func receive(table name: String, row: Int, values: [Value]) -> Bool {
        guard name == schema.main.name else { return differ("a row of \(name) came, which has none") }
        guard row == nextRow, row < size else {
            return differ("\(name): expected row \(nextRow < size ? "\(nextRow)" : "none"), got row \(row)")
        }
        nextRow += 1
        if row >= pieceStart + piece.rowCount {
            pieceStart = row
            piece = source.mainRows(row..<min(row + Self.rowsOfAPiece, size))
        }
        guard values.count == piece.columns.count else {
            return differ("\(name) row \(row): expected \(piece.columns.count) values, got \(values.count)")
        }
        for (column, got) in values.enumerated() {
            let expected = piece.value(row: row - pieceStart, column: column)
            guard FullReadComparison.isSame(expected, got) else {
                let short = (FullReadComparison.short(expected), FullReadComparison.short(got))
                return differ("\(name) row \(row) \(piece.columns[column].name): expected \(short.0), got \(short.1)")
            }
        }
        return true
    }

    func finish() {
        if difference == nil && nextRow < size {
            difference = "\(schema.main.name): row \(nextRow) and those after it are missing"
        }
    }

    private func differ(_ text: String) -> Bool {
        difference = text
        return false
    }
}
