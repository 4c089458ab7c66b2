import Seeds

/// A data set whose main table can be generated in pieces: the number of a row determines the row, and is its key.
///
/// It is for sets that do not fit into memory beside the engine's copy, or take longer to generate than to measure.
package protocol RangedDatasetSource: DatasetSource {
    /// These rows of the main table, with their links. All other tables of the set are empty.
    func mainRows(_ rows: Range<Int>) -> Table
    /// Whether only the main table has rows. Otherwise the set is generated as a whole.
    var hasMainRowsAlone: Bool { get }
}

extension RangedDatasetSource {
    /// Sets with more rows than this are loaded, verified and read in pieces.
    package static var largestInOnePiece: Int { 1_000_000 }
    /// Rows per transaction when a set is loaded in pieces.
    package static var rowsOfAPiece: Int { 200_000 }
    package var hasMainRowsAlone: Bool { true }
}

extension DatasetSource {
    /// This set as one that comes in pieces, if it can and is large enough.
    package func inPieces(size: Int) -> (any RangedDatasetSource)? {
        guard let ranged = self as? any RangedDatasetSource, ranged.hasMainRowsAlone,
            size > type(of: ranged).largestInOnePiece
        else { return nil }
        return ranged
    }
}
