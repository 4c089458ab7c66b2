import Seeds

/// A data set whose main table can be made in pieces: each row follows from its number alone, and its key is that
/// number.
///
/// What would not fit into memory beside an engine's own, or would take longer to make than to measure, is made as it
/// is needed.
package protocol RangedDatasetSource: DatasetSource {
    /// These rows of the main table, links included. The other tables of the set are empty.
    func mainRows(_ rows: Range<Int>) -> Table
    /// false where its other tables have rows as well: then it is made whole.
    var hasMainRowsAlone: Bool { get }
}

extension RangedDatasetSource {
    /// Sets with more rows than this are loaded, verified and read in pieces.
    package static var largestInOnePiece: Int { 1_000_000 }
    /// Of a transaction that loads a piece.
    package static var rowsOfAPiece: Int { 200_000 }
    package var hasMainRowsAlone: Bool { true }
}

extension DatasetSource {
    /// The set as one that comes in pieces, where it can and has so many rows that it should.
    package func inPieces(size: Int) -> (any RangedDatasetSource)? {
        guard let ranged = self as? any RangedDatasetSource, ranged.hasMainRowsAlone,
            size > type(of: ranged).largestInOnePiece
        else { return nil }
        return ranged
    }
}
