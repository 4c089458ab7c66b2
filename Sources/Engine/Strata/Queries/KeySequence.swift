import StrataStorage

/// An ordered sequence of keys, in pieces, so that a removal or an insertion costs a piece, not the whole.
///
/// Complexity: O(sqrt n) for a change at a place and for the key at a place, with small constants; a search takes O(log
/// n) comparisons.
struct KeySequence {
    private var pieces: [[Int64]] = []
    private(set) var count = 0
    private static let pieceSize = 512

    init(_ keys: [Int64]) {
        var start = 0
        while start < keys.count {
            let end = min(keys.count, start + Self.pieceSize)
            pieces.append(Array(keys[start..<end]))
            start = end
        }
        count = keys.count
    }

    var keys: [Int64] {
        var all: [Int64] = []
        all.reserveCapacity(count)
        for piece in pieces { all += piece }
        return all
    }

    /// The number of keys for which `precedes` is true; they must form a prefix of the sequence.
    func partition(_ precedes: (Int64) throws(StorageError) -> Bool) throws(StorageError) -> Int {
        var low = 0
        var high = pieces.count
        while low < high {
            let middle = (low + high) / 2
            // No piece is empty.
            if try precedes(pieces[middle][pieces[middle].count - 1]) { low = middle + 1 } else { high = middle }
        }
        var before = 0
        for piece in pieces[..<low] { before += piece.count }
        guard low < pieces.count else { return before }
        let piece = pieces[low]
        var first = 0
        var last = piece.count
        while first < last {
            let middle = (first + last) / 2
            if try precedes(piece[middle]) { first = middle + 1 } else { last = middle }
        }
        return before + first
    }

    /// Number of smaller keys, in an ascending sequence.
    func rank(of key: Int64) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle][pieces[middle].count - 1] < key { low = middle + 1 } else { high = middle }
        }
        var before = 0
        for piece in pieces[..<low] { before += piece.count }
        guard low < pieces.count else { return before }
        let piece = pieces[low]
        var (first, last) = (0, piece.count)
        while first < last {
            let middle = (first + last) / 2
            if piece[middle] < key { first = middle + 1 } else { last = middle }
        }
        return before + first
    }

    private func find(_ place: Int) -> (piece: Int, place: Int) {
        var left = place
        for (index, piece) in pieces.enumerated() {
            if left < piece.count { return (index, left) }
            left -= piece.count
        }
        return (pieces.count, 0)
    }

    /// Nil beyond the end.
    func key(at place: Int) -> Int64? {
        guard place >= 0, place < count else { return nil }
        let found = find(place)
        return pieces[found.piece][found.place]
    }

    mutating func remove(at place: Int) {
        let found = find(place)
        guard found.piece < pieces.count else { return }
        pieces[found.piece].remove(at: found.place)
        if pieces[found.piece].isEmpty { pieces.remove(at: found.piece) }
        count -= 1
    }

    mutating func insert(_ key: Int64, at place: Int) {
        var found = find(place)
        if found.piece == pieces.count {
            if pieces.isEmpty { pieces.append([]) }
            found = (pieces.count - 1, pieces[pieces.count - 1].count)
        }
        pieces[found.piece].insert(key, at: found.place)
        count += 1
        guard pieces[found.piece].count > 2 * Self.pieceSize else { return }
        let tail = Array(pieces[found.piece][Self.pieceSize...])
        pieces[found.piece].removeLast(tail.count)
        pieces.insert(tail, at: found.piece + 1)
    }

    /// Removes the keys at some places, and inserts others.
    /// - Parameters:
    ///   - deletions: places before the change, ascending.
    ///   - insertions: places after the change, ascending.
    ///   - now: has the keys that come.
    /// - Returns: false if a place does not exist; the sequence is invalid then.
    /// - Complexity: O(sqrt n) for each, or O(n) for many of them.
    mutating func exchange(_ deletions: [Int], for insertions: [Int], _ now: any KnownRows) -> Bool {
        guard deletions.count + insertions.count > 64 + count / 256 else {
            for place in deletions.reversed() {
                if place >= count { return false }
                remove(at: place)
            }
            for place in insertions {
                guard place <= count, let key = now.key(at: place) else { return false }
                insert(key, at: place)
            }
            return true
        }
        WorkSteps.note(count)
        let all = now.keys
        let left = count - deletions.count
        if let last = deletions.last, last >= count { return false }
        self = KeySequence(all)
        return all.count == left + insertions.count
    }

    /// The same keys, for many reads at places.
    /// - Complexity: O(sqrt n).
    var indexed: IndexedKeys { IndexedKeys(pieces) }
}
