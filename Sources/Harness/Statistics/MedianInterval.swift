import Platform

/// The median of a sample with an interval that needs no assumption about the distribution.
///
/// The bounds are two of the values: the k-th smallest and the k-th largest, with the largest k for which the median of
/// the distribution lies between them with at least the requested confidence. The error is a binomial probability (each
/// value is above or below the median with equal chance), so that the coverage is exact for any number of values: a
/// bootstrap of seven values promises 95 % and keeps less.
///
/// Source: the inverted sign test; see any text on order statistics.
package struct MedianInterval: Sendable, Hashable {
    package let median: Double
    package let low: Double
    package let high: Double
    /// The actual coverage, at least the requested one: 0.984 for seven values and a request of 0.95.
    package let confidence: Double
    package let count: Int

    /// Values needed for a 95 % interval: with five, the smallest and the largest enclose the median in only 93.75 %.
    package static let fewestValues = 6

    /// nil if there are too few values for the confidence.
    ///
    /// - Parameter confidence: above 0 and below 1.
    /// - Complexity: O(n log n).
    package init?(_ values: [Double], confidence wanted: Double = 0.95) {
        precondition(wanted > 0 && wanted < 1)
        let sorted = values.sorted()
        guard let rank = Self.rank(count: sorted.count, confidence: wanted) else { return nil }
        count = sorted.count
        median = Self.median(sorted: sorted)
        low = sorted[rank - 1]
        high = sorted[sorted.count - rank]
        confidence = 1 - Self.error(count: sorted.count, rank: rank)
    }

    /// The middle value, or the mean of the two in the middle. 0 for none.
    package static func median(_ values: [Double]) -> Double {
        median(sorted: values.sorted())
    }

    private static func median(sorted: [Double]) -> Double {
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The largest k whose interval has the confidence; nil if even the smallest and the largest value do not enclose
    /// enough.
    static func rank(count: Int, confidence: Double) -> Int? {
        var best: Int?
        var rank = 1
        while rank * 2 <= count, 1 - error(count: count, rank: rank) >= confidence {
            best = rank
            rank += 1
        }
        return best
    }

    /// The probability that the median is outside the interval between the value of this rank, counted from the
    /// smallest, and the one of this rank, counted from the largest.
    static func error(count: Int, rank: Int) -> Double { 2 * tail(count: count, below: rank) }

    /// The chance that fewer than `rank` of `count` tosses of a fair coin are heads.
    private static func tail(count: Int, below rank: Int) -> Double {
        var sum = 0.0
        for heads in 0..<rank { sum += exp(logChoose(count, heads) - Double(count) * log(2)) }
        return sum
    }

    private static func logChoose(_ count: Int, _ chosen: Int) -> Double {
        lgamma(Double(count) + 1) - lgamma(Double(chosen) + 1) - lgamma(Double(count - chosen) + 1)
    }
}
