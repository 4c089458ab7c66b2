#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How much better one side is than the other: the median ratio of pairs, each of two figures that were measured close
/// together in time. Above 1 is better.
///
/// A disturbance of the machine affects both figures of a pair, so that their ratio varies much less than they do. The
/// median is that of logarithms: twice as fast and half as fast have equal weight.
package struct PairedRatio: Sendable, Hashable {
    /// Above 1 is better, for both directions of a figure.
    package let ratio: Double
    /// The interval of the ratio; nil with too few pairs.
    package let interval: MedianInterval?
    /// The ratio of each pair, in the order of the rounds.
    package let pairs: [Double]

    /// - Parameter pairs: own figure and the other's, of the same round; those that are not above 0 are left out.
    /// - Returns: nil without a pair.
    package init?(
        _ pairs: [(own: Double, other: Double)], higherIsBetter: Bool, confidence: Double = 0.95
    ) {
        let logarithms = Self.logarithms(pairs, higherIsBetter: higherIsBetter)
        guard !logarithms.isEmpty else { return nil }
        self.pairs = logarithms.map { exp($0) }
        ratio = exp(MedianInterval.median(logarithms))
        interval = MedianInterval(logarithms, confidence: confidence)
    }

    static func logarithms(_ pairs: [(own: Double, other: Double)], higherIsBetter: Bool) -> [Double] {
        pairs.compactMap { own, other -> Double? in
            guard own > 0, other > 0, own.isFinite, other.isFinite else { return nil }
            return higherIsBetter ? log(own / other) : log(other / own)
        }
    }

    package var low: Double? { interval.map { exp($0.low) } }
    package var high: Double? { interval.map { exp($0.high) } }

}

/// The decision of a comparison.
package enum Decision: String, Sendable, CaseIterable {
    case ahead, behind
    /// Within 5 % of each other.
    case same
    /// Nothing is claimed.
    case open
}

/// The range of ratios that two sides of the same program may have: within it nothing is claimed.
package struct DeadBand: Sendable, Hashable {
    /// No machine is steadier than this: a smaller difference is never claimed.
    package static let least = 1.03

    /// At least `least`, unless chosen: a ratio between it and its inverse counts as equal.
    package let factor: Double

    package static let narrowest = DeadBand(factor: least)

    private init(factor: Double) {
        self.factor = max(Self.least, factor)
    }

    /// For a relevant difference chosen by the user, which may be smaller than `least`.
    package init(threshold: Double) {
        factor = 1 + threshold
    }

    /// From the pairs of one engine that ran as two sides: the median difference.
    package init(_ pairs: [(own: Double, other: Double)]) {
        let differences = pairs.compactMap { own, other -> Double? in
            own > 0 && other > 0 ? abs(log(own / other)) : nil
        }
        self.init(factor: exp(MedianInterval.median(differences)))
    }
}
