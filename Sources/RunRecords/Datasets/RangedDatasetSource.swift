import Seeds

/// A data set whose main table can be generated in pieces: each row is determined by its number, and its key is that
/// number.
///
/// For sets that do not fit into memory beside the engine's own, or take longer to generate than to measure.
package protocol RangedDatasetSource: DatasetSource {
    /// These rows of the main table, with their links. The other tables of the set are empty.
    func mainRows(_ rows: Range<Int>) -> Table
    /// false where its other tables have rows as well: then it is generated as a whole.
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
    /// The set as a ranged one, where it can be and is large enough.
    package func inPieces(size: Int) -> (any RangedDatasetSource)? {
        guard let ranged = self as? any RangedDatasetSource, ranged.hasMainRowsAlone,
            size > type(of: ranged).largestInOnePiece
        else { return nil }
        return ranged
    }
}
