import Platform

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

    /// - Parameter pairs: own figure and the other's, of the same round. A pair with a figure that is not above 0 is
    ///   left out.
    /// - Returns: nil if no pair is left.
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
    /// The interval allows no claim.
    case open
}

/// The range of ratios that two measurements of one program may have: a ratio of two engines within it decides nothing.
package struct DeadBand: Sendable, Hashable {
    /// The least factor of a measured band: no machine is steadier than 3 %.
    package static let least = 1.03

    /// A ratio between `factor` and its inverse decides nothing. At least `least`, unless the user chose it.
    package let factor: Double

    package static let narrowest = DeadBand(factor: least)

    private init(factor: Double) {
        self.factor = max(Self.least, factor)
    }

    /// The band of the difference that a user calls relevant, which may be smaller than `least`.
    package init(threshold: Double) {
        factor = 1 + threshold
    }

    /// From the pairs of one engine that ran as two sides: the median of the differences within the pairs.
    package init(_ pairs: [(own: Double, other: Double)]) {
        let differences = pairs.compactMap { own, other -> Double? in
            own > 0 && other > 0 ? abs(log(own / other)) : nil
        }
        self.init(factor: exp(MedianInterval.median(differences)))
    }
}
