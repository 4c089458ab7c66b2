import Platform

/// The decision on one figure from the complete rounds of a comparison: that of the first look that decides. If no look
/// decides, the comparison is open.
package struct SequentialRatio: Sendable, Hashable {
    /// Two engines whose ratio lies within this factor are the same.
    package static let sameness = 1.05
    /// Fewer rounds never show that two engines are the same: six values lie close together by chance more often than
    /// they all lie on one side of the dead band.
    package static let fewestForSame = 12

    /// The median of the examined rounds. Above 1 is better.
    package let ratio: Double
    /// The interval at the look that decided, or else at the last look; nil if there were too few rounds for a look.
    package let low: Double?
    package let high: Double?
    /// The examined rounds: those up to that look, or all of them if there was none.
    package let rounds: Int
    package let band: DeadBand
    package let decision: Decision

    /// - Parameters:
    ///   - pairs: own figure and the other's by complete rounds, in their order. A pair with a figure that is not above
    ///     0 is left out.
    ///   - controls: the pairs of one program that ran as two sides, in the order of the rounds.
    ///   - looks: those of the plan.
    /// - Returns: nil if no pair is left.
    package init?(
        _ pairs: [(own: Double, other: Double)], controls: [(own: Double, other: Double)], higherIsBetter: Bool,
        looks: Looks
    ) {
        let logarithms = PairedRatio.logarithms(pairs, higherIsBetter: higherIsBetter)
        guard !logarithms.isEmpty else { return nil }
        var best: (look: Looks.Look, low: Double, high: Double, band: DeadBand, decision: Decision)?
        for look in looks.looks where look.rounds <= logarithms.count {
            guard let rank = look.rank else { continue }
            let sorted = logarithms.prefix(look.rounds).sorted()
            let (low, high) = (sorted[rank - 1], sorted[sorted.count - rank])
            let band = controls.isEmpty ? DeadBand.narrowest : DeadBand(Array(controls.prefix(look.rounds)))
            let decision = Self.decision(low: low, high: high, band, rounds: look.rounds)
            best = (look, low, high, band, decision)
            if decision != .open { break }
        }
        if let best {
            rounds = best.look.rounds
            (low, high) = (exp(best.low), exp(best.high))
            (band, decision) = (best.band, best.decision)
        } else {
            rounds = logarithms.count
            (low, high) = (nil, nil)
            band = controls.isEmpty ? .narrowest : DeadBand(controls)
            decision = .open
        }
        ratio = exp(MedianInterval.median(Array(logarithms.prefix(rounds))))
    }

    private static func decision(low: Double, high: Double, _ band: DeadBand, rounds: Int) -> Decision {
        let edge = log(band.factor)
        if low > edge { return .ahead }
        if high < -edge { return .behind }
        let same = log(sameness)
        return rounds >= fewestForSame && low > -same && high < same ? .same : .open
    }
}
