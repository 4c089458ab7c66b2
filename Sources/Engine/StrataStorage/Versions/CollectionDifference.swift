/// The difference between a collection in two versions, in places.
///
/// It depends on the two versions alone, not on the commits between them. Elements that a commit removed and inserted
/// again, and a tree that was written anew, moved or repeated by a replay, are no change. A replaced value is a
/// deletion and an insertion, in a map a modification. A moved element is a deletion and an insertion, too.
///
/// To get the new collection, set the values at ``modifications`` (in a map), remove the elements at ``deletions`` from
/// the old collection, the last one first, and insert those that the new collection has at ``insertions``, the first
/// one first. If the changes are far apart, the difference lists the changed elements alone. For maps, and for sets
/// whose order storage knows, it is minimal.
package struct CollectionDifference: Equatable, Sendable {
    /// A key of both versions whose value differs.
    package struct Modification: Equatable, Sendable {
        package var old: Int
        package var new: Int
    }

    /// Places in the old collection; ascending, no two ranges adjoin.
    package private(set) var deletions: [Range<Int>] = []
    /// Places in the new collection; ascending, no two ranges adjoin.
    package private(set) var insertions: [Range<Int>] = []
    /// In a map: places of keys whose values differ. Ascending.
    package private(set) var modifications: [Modification] = []

    /// For each range of deletions, and of insertions, the number of places in the ranges before it.
    private var goneBefore: [Int] = []
    private var comeBefore: [Int] = []

    package var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    /// - Parameters:
    ///   - earlier: the collection of a row and column in one version.
    ///   - later: that of the same row in another version. The versions may be of different openings of one store.
    /// - Throws: `corrupt`.
    /// - Complexity: O(leaves that only one of both has, their elements, and the nodes above them); O(1) for equal
    ///   references; O(count log count) for a list that was rewritten.
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
            try compare(earlier, in: old..<run.old, with: later, in: new..<run.new)
            (old, new) = (run.old + run.count, run.new + run.count)
        }
        try compare(earlier, in: old..<earlier.count, with: later, in: new..<later.count)
        try earlier.reader.confirm()
        try later.reader.confirm()
    }

    /// The place in the later version of an element of the earlier one; nil if it was deleted.
    /// - Complexity: O(log changes).
    package func newPlace(of old: Int) -> Int? {
        let gone = Self.last(of: deletions, goneBefore, atMost: old) { range, _ in range.lowerBound }
        if gone >= 0, deletions[gone].contains(old) { return nil }
        let kept = gone < 0 ? old : old - goneBefore[gone] - deletions[gone].count
        let come = Self.last(of: insertions, comeBefore, atMost: kept) { $0.lowerBound - $1 }
        return come < 0 ? kept : kept + comeBefore[come] + insertions[come].count
    }

    /// The last range that begins at or before `place`, by `begin`; -1 if there is none.
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

    // MARK: Between shared runs

    private mutating func compare(
        _ earlier: CollectionReader, in old: Range<Int>, with later: CollectionReader, in new: Range<Int>
    ) throws(StorageError) {
        if old.isEmpty || new.isEmpty { return append(gone: old, come: new) }
        let before = try ElementStretch(earlier, old)
        let after = try ElementStretch(later, new)
        if later.isOrdered {
            return try merge(
                before, at: old.lowerBound, with: after, at: new.lowerBound, isMap: later.shape.form == .map)
        }
        let matching = try ElementMatching(before, after)
        for range in matching.gone.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            Self.append((old.lowerBound + range.lowerBound)..<(old.lowerBound + range.upperBound), to: &deletions)
        }
        for range in matching.come.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            Self.append((new.lowerBound + range.lowerBound)..<(new.lowerBound + range.upperBound), to: &insertions)
        }
    }

    /// Compares parts of sets or maps, which ascend.
    private mutating func merge(
        _ before: ElementStretch, at old: Int, with after: ElementStretch, at new: Int, isMap: Bool
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
    /// Whether both are the same tree, or the same bytes.
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
