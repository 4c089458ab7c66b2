/// The places of two sequences of keys that do not correspond.
struct SequenceDifference {
    /// Places in the old sequence, ascending.
    private(set) var deletions: [Int] = []
    /// Places in the new sequence, ascending.
    private(set) var insertions: [Int] = []
    /// Old and new places of elements that exist in both sequences, without moves.
    private(set) var kept: [(old: Int, new: Int)] = []

    /// For values of any type.
    init<Value: Hashable>(from old: [Value], to new: [Value]) {
        var numbers: [Value: Int64] = [:]
        func number(_ value: Value) -> Int64 {
            if let known = numbers[value] { return known }
            let made = Int64(numbers.count)
            numbers[value] = made
            return made
        }
        self.init(from: old.map(number), to: new.map(number))
    }

    /// - Complexity: O(n log n) without duplicates. With duplicates O(n d) for d differences, if at most 4 096 elements
    ///   are left between the equal beginnings and ends; if more are left, all of them count as replaced.
    init(from old: [Int64], to new: [Int64]) {
        WorkSteps.note(old.count + new.count)
        var start = 0
        while start < old.count, start < new.count, old[start] == new[start] {
            kept.append((start, start))
            start += 1
        }
        var tail = 0
        while tail < old.count - start, tail < new.count - start,
            old[old.count - 1 - tail] == new[new.count - 1 - tail]
        {
            tail += 1
        }
        compare(old, in: start..<(old.count - tail), with: new, in: start..<(new.count - tail))
        for place in stride(from: tail, to: 0, by: -1) { kept.append((old.count - place, new.count - place)) }
    }

    private mutating func compare(_ old: [Int64], in oldRange: Range<Int>, with new: [Int64], in newRange: Range<Int>) {
        var places: [Int64: Int] = [:]
        for place in newRange { places[new[place]] = place }
        let isUnique = places.count == newRange.count && Set(old[oldRange]).count == oldRange.count
        guard isUnique else { return compareDuplicates(old, in: oldRange, with: new, in: newRange) }
        let common = oldRange.compactMap { place in places[old[place]].map { (old: place, new: $0) } }
        let longest = Self.longestAscending(common.map(\.new)).map { common[$0] }
        keep(longest, oldRange, newRange)
    }

    private mutating func compareDuplicates(
        _ old: [Int64], in oldRange: Range<Int>, with new: [Int64], in newRange: Range<Int>
    ) {
        guard oldRange.count + newRange.count <= 4096 else { return keep([], oldRange, newRange) }
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in Array(new[newRange]).difference(from: Array(old[oldRange])) {
            switch change {
            case .remove(let offset, _, _): removed.insert(oldRange.lowerBound + offset)
            case .insert(let offset, _, _): inserted.insert(newRange.lowerBound + offset)
            }
        }
        let pairs = zip(
            oldRange.filter { !removed.contains($0) }, newRange.filter { !inserted.contains($0) })
        keep(pairs.map { (old: $0, new: $1) }, oldRange, newRange)
    }

    private mutating func keep(_ pairs: [(old: Int, new: Int)], _ oldRange: Range<Int>, _ newRange: Range<Int>) {
        let oldKept = Set(pairs.map(\.old))
        let newKept = Set(pairs.map(\.new))
        deletions += oldRange.filter { !oldKept.contains($0) }
        insertions += newRange.filter { !newKept.contains($0) }
        kept += pairs
    }

    /// Indices of a longest ascending subsequence.
    /// - Complexity: O(n log n).
    static func longestAscending(_ values: [Int]) -> [Int] {
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: values.count)
        for (place, value) in values.enumerated() {
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[place] = tails[low - 1] }
            if low == tails.count { tails.append(place) } else { tails[low] = place }
        }
        var chain: [Int] = []
        var place = tails.last ?? -1
        while place >= 0 {
            chain.append(place)
            place = previous[place]
        }
        return chain.reversed()
    }
}
