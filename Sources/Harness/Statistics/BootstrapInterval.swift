import Seeds

/// The percentile bootstrap of a median: an interval of the medians of resamples of the values.
///
/// For 40 values and 99 % it is narrower than `MedianInterval`, whose bounds must be values; in return its coverage is
/// approximate, and too small for few values. The caller's generator determines every draw: equal values and an equal
/// seed give equal bounds.
///
/// Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13.
package struct BootstrapInterval: Sendable, Hashable {
    package let median: Double
    package let low: Double
    package let high: Double
    package let count: Int

    /// With fewer values the coverage of a median's bootstrap is much too low.
    package static let fewestValues = 10
    /// Enough that each bound of a 99 % interval has 20 samples beyond it.
    package static let resamples = 4_000

    /// nil if there are fewer than `fewestValues` values.
    ///
    /// - Parameter confidence: above 0 and below 1.
    /// - Complexity: O(`resamples` * n).
    package init?(_ values: [Double], confidence: Double = 0.99, random: inout RandomStream) {
        precondition(confidence > 0 && confidence < 1)
        guard values.count >= Self.fewestValues else { return nil }
        let sorted = values.sorted()
        var medians: [Double] = []
        medians.reserveCapacity(Self.resamples)
        // How often each value was drawn, by its rank, so that the resample needs no sorting.
        var draws = [Int](repeating: 0, count: sorted.count)
        draws.withUnsafeMutableBufferPointer { draws in
            for _ in 0..<Self.resamples {
                draws.update(repeating: 0)
                for _ in draws.indices { draws[random.below(draws.count)] += 1 }
                medians.append(Self.median(sorted, UnsafeBufferPointer(draws)))
            }
        }
        medians.sort()
        let beyond = Int(Double(Self.resamples) * (1 - confidence) / 2)
        count = sorted.count
        median = MedianInterval.median(sorted)
        low = medians[beyond]
        high = medians[Self.resamples - 1 - beyond]
    }

    private static func median(_ sorted: [Double], _ draws: UnsafeBufferPointer<Int>) -> Double {
        let upper = sorted.count / 2
        let lower = sorted.count.isMultiple(of: 2) ? upper - 1 : upper
        var seen = 0
        var lowerValue: Double?
        for rank in draws.indices {
            seen += draws[rank]
            if lowerValue == nil, seen > lower { lowerValue = sorted[rank] }
            if seen > upper { return ((lowerValue ?? sorted[rank]) + sorted[rank]) / 2 }
        }
        preconditionFailure("fewer draws than values")
    }
}
