#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How many times as good one side is as the other, by pairs that were measured one beside the other.
///
/// What disturbs a machine disturbs both halves of a pair: the ratio within a pair is much steadier than the figures.
/// It is taken as a logarithm, so that twice as fast and half as fast weigh the same.
package struct PairedRatio: Sendable, Hashable {
    /// Above 1 is better, whichever direction the figure has.
    package let ratio: Double
    /// Bounds of the ratio's interval; nil where there are too few pairs for one.
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

/// What a comparison says.
package enum Decision: String, Sendable, CaseIterable {
    case ahead, behind
    /// Within 5 % of each other.
    case same
    /// Nothing is claimed.
    case open
}

/// How far apart two sides may be that are the same program: within it nothing is claimed.
package struct DeadBand: Sendable, Hashable {
    /// No machine is steadier than this: a smaller difference is never claimed, whatever the pairs say.
    package static let least = 1.03

    /// At least `least`, unless it was chosen: a ratio between its inverse and it counts as equal.
    package let factor: Double

    package static let narrowest = DeadBand(factor: least)

    private init(factor: Double) {
        self.factor = max(Self.least, factor)
    }

    /// Of a difference that somebody chose to matter, which may be smaller than `least`.
    package init(threshold: Double) {
        factor = 1 + threshold
    }

    /// From the pairs of one engine that ran as two sides: by how much the pair in the middle differed.
    package init(_ pairs: [(own: Double, other: Double)]) {
        let differences = pairs.compactMap { own, other -> Double? in
            own > 0 && other > 0 ? abs(log(own / other)) : nil
        }
        self.init(factor: exp(MedianInterval.median(differences)))
    }
}
