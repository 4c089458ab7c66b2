import Harness
import Seeds

/// The expected elements of a list, in pieces, so that a change in the middle moves few of them.
struct ListModel {
    private var pieces: [[Int64]]
    private(set) var count: Int
    /// A piece of twice that size is split.
    private let room: Int

    init(_ values: [Int64], room: Int = 4_096) {
        self.room = room
        count = values.count
        pieces = stride(from: 0, to: values.count, by: room).map { start in
            Array(values[start..<min(start + room, values.count)])
        }
    }

    var values: [Int64] { pieces.flatMap { $0 } }

    subscript(place: Int) -> Int64 {
        let (piece, within) = find(place)
        return pieces[piece][within]
    }

    private func find(_ place: Int) -> (piece: Int, within: Int) {
        var left = place
        for (number, piece) in pieces.enumerated() {
            if left < piece.count { return (number, left) }
            left -= piece.count
        }
        preconditionFailure("no element at \(place) of \(count)")
    }

    mutating func append(_ values: [Int64]) {
        for value in values { insert(value, at: count) }
    }

    mutating func insert(_ value: Int64, at place: Int) {
        count += 1
        guard place < count - 1 else {
            if pieces.last.map({ $0.count >= room }) ?? true { pieces.append([]) }
            return pieces[pieces.count - 1].append(value)
        }
        let (piece, within) = find(place)
        pieces[piece].insert(value, at: within)
        guard pieces[piece].count >= 2 * room else { return }
        pieces.insert(Array(pieces[piece][room...]), at: piece + 1)
        pieces[piece].removeLast(pieces[piece].count - room)
    }

    mutating func remove(at place: Int) {
        let (piece, within) = find(place)
        count -= 1
        pieces[piece].remove(at: within)
        if pieces[piece].isEmpty { pieces.remove(at: piece) }
    }

    mutating func apply(_ change: ListChange) {
        switch change {
        case .append(let values), .appendAll(let values): append(values)
        case .insert(let values, let places): for (value, place) in zip(values, places) { insert(value, at: place) }
        case .remove(let places): for place in places { remove(at: place) }
        case .move(let places, let others):
            for (place, other) in zip(places, others) {
                let value = self[place]
                remove(at: place)
                insert(value, at: other)
            }
        }
    }

    func digest(at places: [Int]) -> ListDigest {
        var digest = ListDigest()
        for place in places { digest.add(self[place]) }
        return digest
    }

    /// The digest of a walk over this list alone.
    var walk: ListDigest {
        var digest = ListDigest()
        for piece in pieces { for value in piece { digest.add(value) } }
        digest.endList()
        return digest
    }

    /// The first difference of a list that was read; nil without one.
    func difference(from read: [Int64]) -> String? {
        var place = 0
        for piece in pieces {
            for value in piece {
                guard place < read.count else { return "\(read.count) elements instead of \(count)" }
                if read[place] != value { return "place \(place): \(read[place]) instead of \(value)" }
                place += 1
            }
        }
        return read.count == place ? nil : "\(read.count) elements instead of \(count)"
    }
}

/// The elements that lists are made of.
enum ListValues {
    /// Below a million, so that they mix small and large numbers.
    static func value(_ owner: Int64, _ place: Int) -> Int64 {
        Int64(splitMix(UInt64(bitPattern: owner &* 1_000_003) ^ UInt64(place)) % 1_000_000)
    }

    static func batch(firstOwner: Int64, lists: Int, length: Int) -> ListBatch {
        var values: [Int64] = []
        values.reserveCapacity(lists * length)
        for owner in firstOwner..<(firstOwner + Int64(lists)) {
            for place in 0..<length { values.append(value(owner, place)) }
        }
        return ListBatch(firstOwner: firstOwner, length: length, values: values)
    }
}
