/// A set of page numbers, a bit each. The bits are in pieces of 32 768 pages; the first insert of a page in a piece
/// allocates it, so that memory follows the pages inserted, not the file's length.
package struct PageSet {
    private static let pagesPerPiece = 1 << 15
    /// A piece without any page in the set is an empty array.
    private var pieces: [[UInt64]] = []

    package init() {}

    package func contains(_ page: Int) -> Bool {
        let piece = page / Self.pagesPerPiece
        guard piece < pieces.count, !pieces[piece].isEmpty else { return false }
        let bit = page % Self.pagesPerPiece
        return pieces[piece][bit >> 6] >> UInt64(bit & 63) & 1 != 0
    }

    /// - Parameter page: below 2^31.
    /// - Returns: false if the page was a member already.
    @discardableResult
    package mutating func insert(_ page: Int) -> Bool {
        precondition(page >= 0 && page < Int(Format.arenaBit), "no page of a file")
        let piece = page / Self.pagesPerPiece
        while pieces.count <= piece { pieces.append([]) }
        if pieces[piece].isEmpty { pieces[piece] = Array(repeating: 0, count: Self.pagesPerPiece / 64) }
        let bit = page % Self.pagesPerPiece
        let mask: UInt64 = 1 << UInt64(bit & 63)
        if pieces[piece][bit >> 6] & mask != 0 { return false }
        pieces[piece][bit >> 6] |= mask
        return true
    }

    /// Calls `body` with the pages, ascending.
    func forEach(_ body: (_ page: Int) throws -> Void) rethrows {
        for (number, piece) in pieces.enumerated() {
            for (index, word) in piece.enumerated() {
                var left = word
                while left != 0 {
                    try body(number * Self.pagesPerPiece + index * 64 + left.trailingZeroBitCount)
                    left &= left - 1
                }
            }
        }
    }
}
