#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The median of a sample with an interval that needs no assumption about the distribution.
///
/// The bounds are two of the values themselves: the k-th smallest and the k-th largest, with the largest k for which
/// the median of the distribution lies between them with at least the confidence asked for. How often it lies outside
/// is a question of coin tosses (each value is above the median or below it), so that the coverage is exact for any
/// number of values: a bootstrap of seven values promises 95 % and keeps less.
///
/// Source: the sign test turned round; see any text on order statistics.
package struct MedianInterval: Sendable, Hashable {
    package let median: Double
    package let low: Double
    package let high: Double
    /// What the interval really covers, at least what was asked for: 0.984 for seven values and 0.95 asked for.
    package let confidence: Double
    package let count: Int

    /// How many values a 95 % interval needs: of five, the smallest and the largest enclose the median in 93.75 %.
    package static let fewestValues = 6

    /// nil where there are too few values for the confidence.
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

    /// The largest k whose interval covers enough; nil where not even the smallest and the largest value do.
    static func rank(count: Int, confidence: Double) -> Int? {
        var best: Int?
        var rank = 1
        while rank * 2 <= count, 1 - error(count: count, rank: rank) >= confidence {
            best = rank
            rank += 1
        }
        return best
    }

    /// How often the median lies outside the interval from the value of a rank to the one of that rank from the top.
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
