/// What is known of a revision.
package enum RevisionMark: String, Sendable, CaseIterable {
    /// Not slower than the good end.
    case good
    /// Slower than the good end.
    case bad
    /// It gives no answer: it does not build, or cannot be told from both ends.
    case skipped
}

/// Looks for the first bad revision of a line: one that is bad follows one that is good, and all after it are bad.
///
/// A value: the same marks lead to the same next step, so that a search goes on from its record alone.
package struct RevisionSearch: Sendable, Hashable {
    package enum Conclusion: Sendable, Hashable {
        case first(Int)
        /// One of these, of which all but the last gave no answer.
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

    /// The last that is known to be good; nil where that is the good end.
    private var lastGood: Int? { marks.lastIndex(of: .good) }

    private var firstBad: Int {
        let start = lastGood.map { $0 + 1 } ?? 0
        return marks[start...].firstIndex(of: .bad) ?? count - 1
    }

    /// Places that may be the first bad one. Complexity: O(n).
    package var candidates: ClosedRange<Int> { (lastGood.map { $0 + 1 } ?? 0)...firstBad }

    /// The place to look at next: the nearest to the middle without a mark; nil where nothing more can be learnt.
    package var next: Int? {
        let (low, high) = (candidates.lowerBound, candidates.upperBound)
        // The middle one of an even number would leave the larger half where it is good: the earlier costs no more.
        let middle = low + (high - low - 1) / 2
        return (low..<high).filter { marks[$0] == nil }.min { first, second in
            (abs(first - middle), first) < (abs(second - middle), second)
        }
    }

    /// How many more places are looked at, at most, unless some are skipped.
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

    /// What the marks come to; nil while there is a next place.
    package var conclusion: Conclusion? {
        guard next == nil else { return nil }
        return candidates.count == 1 ? .first(candidates.upperBound) : .among(candidates)
    }
}

/// What a comparison with an end of the line says about a revision. Nothing is made of silence: that a difference was
/// not found marks nothing.
extension RevisionMark {
    /// - Parameter finding: of the revision beside the good end.
    package init?(besideGood finding: SideComparison.Finding) {
        switch finding {
        case .slower: self = .bad
        case .same, .faster: self = .good
        case .inconclusive: return nil
        }
    }

    /// - Parameters:
    ///   - finding: of the bad end beside the revision.
    ///   - ends: of the bad end beside the good one.
    package init?(besideBad finding: SideComparison.Finding, ends: SideComparison) {
        switch finding {
        // The bad end has lost something that this one still has.
        case .slower: self = .good
        case .faster: self = .bad
        // As slow as the bad end, within the threshold: slower than the good end only where the ends lie further apart.
        case .same where ends.high * (1 + ends.threshold) * (1 + ends.threshold) < 1: self = .bad
        case .same, .inconclusive: return nil
        }
    }
}
