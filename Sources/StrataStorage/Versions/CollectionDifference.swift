/// How a collection of one version became that of another, in places.
///
/// It follows from the two versions alone, so it does not matter what commits, or whose, lie between. Elements that a
/// commit has taken out and put in again as they were, a tree that was written anew, moved or repeated by a replay are
/// no change. A value that stands in another's place is both a deletion and an insertion, in a map a modification. So
/// is what was moved.
///
/// Whoever takes the elements at ``deletions`` out of the old collection, from the back, and puts those at
/// ``insertions`` of the new one in, from the front, has the new one (a map's values at ``modifications`` set). It is
/// as small as the changes where they stand apart; of maps, and of sets whose order storage knows, never larger than it
/// must be.
package struct CollectionDifference: Equatable, Sendable {
    /// A key that both versions have, with another value in each.
    package struct Modification: Equatable, Sendable {
        package var old: Int
        package var new: Int
    }

    /// Old places; ascending, no two ranges touch.
    package private(set) var deletions: [Range<Int>] = []
    /// New places; ascending, no two ranges touch.
    package private(set) var insertions: [Range<Int>] = []
    /// Of a map: where keys stand whose values differ. Ascending.
    package private(set) var modifications: [Modification] = []

    /// For each range, how many places the ones before it have.
    private var goneBefore: [Int] = []
    private var comeBefore: [Int] = []

    package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    /// - Parameters:
    ///   - earlier: the collection of a row and column in one version.
    ///   - later: the same row's in another. Versions may be of different openings of one store.
    /// - Throws: `corrupt`.
    /// - Complexity: the leaves that one of both has alone, the elements in them, and the nodes above them; nothing of
    ///   two equal references. Lists that were rewritten cost O(count log count).
    package init(from earlier: CollectionReader, to later: CollectionReader) throws(StorageError) {
        if earlier.stands(where: later) { return }
        if earlier.shape.kind == later.shape.kind && earlier.shape.form == later.shape.form {
            try compare(earlier, later)
        } else {
            append(gone: 0..<earlier.count, come: 0..<later.count)
        }
        goneBefore = Self.countsBefore(deletions)
        comeBefore = Self.countsBefore(insertions)
    }

    private mutating func compare(_ earlier: CollectionReader, _ later: CollectionReader) throws(StorageError) {
        var (old, new) = (0, 0)
        for run in try SharedRuns(earlier, later).runs {
            try compare(earlier, old..<run.old, later, new..<run.new)
            (old, new) = (run.old + run.count, run.new + run.count)
        }
        try compare(earlier, old..<earlier.count, later, new..<later.count)
        try earlier.reader.confirm()
        try later.reader.confirm()
    }

    /// Where an element stands in the later version that stood at a place of the earlier one; nil when it is gone.
    /// - Complexity: O(log changes).
    package func newPlace(of old: Int) -> Int? {
        let gone = Self.last(of: deletions, goneBefore, atMost: old) { range, _ in range.lowerBound }
        if gone >= 0, deletions[gone].contains(old) { return nil }
        let kept = gone < 0 ? old : old - goneBefore[gone] - deletions[gone].count
        let come = Self.last(of: insertions, comeBefore, atMost: kept) { $0.lowerBound - $1 }
        return come < 0 ? kept : kept + comeBefore[come] + insertions[come].count
    }

    /// The last range that begins no later, as `begin` counts; -1 when there is none.
    private static func last(
        of ranges: [Range<Int>], _ counts: [Int], atMost place: Int, begin: (Range<Int>, Int) -> Int
    ) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) >> 1
            if begin(ranges[middle], counts[middle]) <= place { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    private static func countsBefore(_ ranges: [Range<Int>]) -> [Int] {
        var total = 0
        return ranges.map { range in
            defer { total += range.count }
            return total
        }
    }

    private mutating func append(gone: Range<Int>, come: Range<Int>) {
        Self.append(gone, to: &deletions)
        Self.append(come, to: &insertions)
    }

    private static func append(_ range: Range<Int>, to ranges: inout [Range<Int>]) {
        if range.isEmpty { return }
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }

    // MARK: Between what both share

    private mutating func compare(
        _ earlier: CollectionReader, _ old: Range<Int>, _ later: CollectionReader, _ new: Range<Int>
    ) throws(StorageError) {
        if old.isEmpty || new.isEmpty { return append(gone: old, come: new) }
        let before = try ElementStretch(earlier, old)
        let after = try ElementStretch(later, new)
        if later.isOrdered {
            return try merge(before, old.lowerBound, after, new.lowerBound, isMap: later.shape.form == .map)
        }
        let matching = try ElementMatching(before, after)
        for range in matching.gone.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            Self.append((old.lowerBound + range.lowerBound)..<(old.lowerBound + range.upperBound), to: &deletions)
        }
        for range in matching.come.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            Self.append((new.lowerBound + range.lowerBound)..<(new.lowerBound + range.upperBound), to: &insertions)
        }
    }

    /// Of sets and maps, which ascend.
    private mutating func merge(
        _ before: ElementStretch, _ old: Int, _ after: ElementStretch, _ new: Int, isMap: Bool
    ) throws(StorageError) {
        var (a, b) = (0, 0)
        while a < before.count, b < after.count {
            let (left, right) = (try before.ordered(a), try after.ordered(b))
            if CollectionOrder.precedes(left, right) {
                Self.append((old + a)..<(old + a + 1), to: &deletions)
                a += 1
            } else if CollectionOrder.precedes(right, left) {
                Self.append((new + b)..<(new + b + 1), to: &insertions)
                b += 1
            } else {
                if isMap, try !before.hasSameValue(a, as: after, b) {
                    modifications.append(Modification(old: old + a, new: new + b))
                }
                a += 1
                b += 1
            }
        }
        append(gone: (old + a)..<(old + before.count), come: (new + b)..<(new + after.count))
    }
}

extension CollectionReader {
    /// Whether two are one tree, or the same bytes.
    fileprivate func stands(where other: CollectionReader) -> Bool {
        switch (cell, other.cell) {
        case (.empty, .empty): true
        case (.tree(let mine, let count), .tree(let others, let otherCount)): mine == others && count == otherCount
        case (.encoded(let mine), .encoded(let others)):
            mine.baseAddress == others.baseAddress && mine.count == others.count
        default: false
        }
    }
}
