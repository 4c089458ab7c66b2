/// What is known of a revision.
package enum RevisionMark: String, Sendable, CaseIterable {
    /// Not slower than the good end of the search.
    case good
    /// Slower than the good end of the search.
    case bad
    /// It gives no answer: it does not build, or measurements do not tell it from either end.
    case skipped
}

/// Searches for the first bad revision of a line: all revisions after it are bad, all before it good.
///
/// A value: equal marks lead to the same next step, so that a search can be resumed from its recorded marks alone.
package struct RevisionSearch: Sendable, Hashable {
    package enum Conclusion: Sendable, Hashable {
        case first(Int)
        /// Any revision of this range may be the first bad one: all but the last are skipped.
        case among(ClosedRange<Int>)
    }

    /// The revisions after the good end, oldest first; the last is the bad end.
    package let count: Int
    private var marks: [RevisionMark?]

    package init(count: Int) {
        precondition(count > 0, "a search among nothing")
        self.count = count
        marks = Array(repeating: nil, count: count)
        marks[count - 1] = .bad
    }

    /// The index of the last revision that is known to be good; nil if only the good end is.
    private var lastGood: Int? { marks.lastIndex(of: .good) }

    private var firstBad: Int {
        let start = lastGood.map { $0 + 1 } ?? 0
        return marks[start...].firstIndex(of: .bad) ?? count - 1
    }

    /// The indexes that may be the first bad one. Complexity: O(n).
    package var candidates: ClosedRange<Int> { (lastGood.map { $0 + 1 } ?? 0)...firstBad }

    /// The index to measure next: the unmarked candidate nearest to the middle; nil if no measurement can exclude
    /// another one.
    package var next: Int? {
        let (low, high) = (candidates.lowerBound, candidates.upperBound)
        // The middle halves the candidates: if it is bad, those up to it remain; if it is good, those after it.
        let middle = low + (high - low - 1) / 2
        return (low..<high).filter { marks[$0] == nil }.min { first, second in
            (abs(first - middle), first) < (abs(second - middle), second)
        }
    }

    /// The largest number of further measurements, unless some are skipped.
    package var stepsLeft: Int {
        let open = candidates.dropLast().count { marks[$0] == nil }
        var (steps, reach) = (0, 1)
        while reach < open + 1 { (steps, reach) = (steps + 1, reach * 2) }
        return steps
    }

    package mutating func mark(_ place: Int, _ mark: RevisionMark) {
        precondition(candidates.contains(place) && place != candidates.upperBound, "a place that was decided")
        marks[place] = mark
    }

    /// The conclusion from the marks; nil while there is a next index.
    package var conclusion: Conclusion? {
        guard next == nil else { return nil }
        return candidates.count == 1 ? .first(candidates.upperBound) : .among(candidates)
    }
}

/// The mark that follows from a comparison with an end of the line. An inconclusive comparison gives no mark.
extension RevisionMark {
    /// - Parameter finding: of a comparison of the revision with the good end.
    package init?(besideGood finding: SideComparison.Finding) {
        switch finding {
        case .slower: self = .bad
        case .same, .faster: self = .good
        case .inconclusive: return nil
        }
    }

    /// - Parameters:
    ///   - finding: of a comparison of the bad end with the revision: `slower` if the bad end is the slower one.
    ///   - ends: the comparison of the bad end with the good one.
    package init?(besideBad finding: SideComparison.Finding, ends: SideComparison) {
        switch finding {
        // The revision is still faster than the bad end.
        case .slower: self = .good
        case .faster: self = .bad
        // The revision is as slow as the bad end, within the threshold. That shows it to be slower than the good end
        // only if the ends differ by more than two thresholds.
        case .same where ends.high * (1 + ends.threshold) * (1 + ends.threshold) < 1: self = .bad
        case .same, .inconclusive: return nil
        }
    }
}
