import Platform
import Seeds

/// The result of one batch of pairs for side B against side A.
package struct SideComparison: Sendable, Hashable {
    package enum Finding: String, Sendable, CaseIterable {
        case slower, faster
        /// The whole interval is within the threshold.
        case same
        /// Neither a difference nor its absence is shown.
        case inconclusive
    }

    /// B as a multiple of A in the median pair; above 1 is better, for both directions of a figure.
    package let ratio: Double
    package let low: Double
    package let high: Double
    package let pairCount: Int
    /// The smallest difference that matters, as a fraction: 0.03.
    package let threshold: Double

    package static let confidence = 0.99

    /// - Parameter pairs: figures of A and B of the same round. A pair with a figure that is not above 0 is left out.
    /// - Returns: nil if fewer than `BootstrapInterval.fewestValues` pairs are left.
    package init?(
        _ pairs: [(a: Double, b: Double)], higherIsBetter: Bool, threshold: Double,
        random: inout RandomStream
    ) {
        precondition(threshold > 0 && threshold.isFinite)
        let logarithms = pairs.compactMap { a, b -> Double? in
            guard a > 0, b > 0, a.isFinite, b.isFinite else { return nil }
            return higherIsBetter ? log(b / a) : log(a / b)
        }
        guard let interval = BootstrapInterval(logarithms, confidence: Self.confidence, random: &random) else {
            return nil
        }
        ratio = exp(interval.median)
        low = exp(interval.low)
        high = exp(interval.high)
        pairCount = interval.count
        self.threshold = threshold
    }

    /// A comparison that was stored.
    package init(ratio: Double, low: Double, high: Double, pairCount: Int, threshold: Double) {
        (self.ratio, self.low, self.high) = (ratio, low, high)
        (self.pairCount, self.threshold) = (pairCount, threshold)
    }

    /// A difference is flagged when the interval excludes 1 and the median is beyond the threshold.
    package var finding: Finding {
        let limit = log(1 + threshold)
        if high < 1, log(ratio) < -limit { return .slower }
        if low > 1, log(ratio) > limit { return .faster }
        return log(low) > -limit && log(high) < limit ? .same : .inconclusive
    }

    package var isFlagged: Bool { finding == .slower || finding == .faster }

    /// The smallest difference, as a fraction, that nine of ten batches with this spread would flag.
    ///
    /// Half of the interval is 2.58 standard errors; one miss in ten adds 1.28. The median must exceed the larger
    /// of that half and the threshold by as much.
    package var smallestVisible: Double {
        let half = max(log(high / ratio), log(ratio / low))
        let error = half / 2.576
        return exp(max(half, log(1 + threshold)) + 1.282 * error) - 1
    }
}
