/// Keys in pieces, with the places where these begin.
final class IndexedKeys: Sendable {
    private let pieces: [[Int64]]
    private let starts: [Int]

    init(_ pieces: [[Int64]]) {
        self.pieces = pieces
        var starts: [Int] = []
        starts.reserveCapacity(pieces.count)
        var end = 0
        for piece in pieces {
            starts.append(end)
            end += piece.count
        }
        self.starts = starts
    }

    /// The key at a place that exists.
    subscript(place: Int) -> Int64 {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= place { low = middle + 1 } else { high = middle }
        }
        return pieces[low - 1][place - starts[low - 1]]
    }
}
