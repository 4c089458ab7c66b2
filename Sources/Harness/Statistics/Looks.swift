/// The rounds after which a comparison is examined, and the confidence of a claim at each look.
///
/// A comparison that is examined repeatedly is wrong more often than each look states. So the looks are fixed in
/// advance, and the probability of error is divided among them: all looks together err at most as often as one interval
/// of 95 %. The first look spends what the interval from the smallest to the largest of six pairs needs (3.1 %). Each
/// later one may spend half of what is left, and the last one all of it.
///
/// Source: alpha spending, Lan and DeMets 1983; the exact error of an interval of order statistics as in
/// ``MedianInterval``.
package struct Looks: Sendable, Hashable {
    /// One point at which the comparison is examined.
    package struct Look: Sendable, Hashable {
        /// The number of complete rounds that are examined, from the first.
        package let rounds: Int
        /// The interval reaches from the value of this rank, counted from the smallest, to the one of this rank,
        /// counted from the largest; nil if no interval of so few rounds keeps the error.
        package let rank: Int?
        /// The probability that the median is outside the interval; 0 if there is no interval.
        package let error: Double
    }

    package let looks: [Look]

    /// Rounds after which a plan examines its comparisons.
    package static let standard = [6, 12, 24]
    /// The error of a figure over all of its looks.
    package static let error = 0.05
    /// The error that the first of several looks may spend: the extremes of six values enclose the median in 96.9 %.
    private static let firstError = 0.032

    /// - Parameter most: the most rounds of a comparison, at least 1: the last look is after them. Looks before it are
    ///   the standard ones after at most half as many rounds.
    package init(most: Int) {
        precondition(most >= 1)
        // A look shortly before the last one would spend a part of the error, and save little time.
        let counts = Self.standard.filter { 2 * $0 <= most } + [most]
        var left = Self.error
        var looks: [Look] = []
        for (index, count) in counts.enumerated() {
            let isLast = index == counts.count - 1
            let allowed = isLast ? left : index == 0 ? Self.firstError : left / 2
            let rank = MedianInterval.rank(count: count, confidence: 1 - allowed)
            let error = rank.map { MedianInterval.error(count: count, rank: $0) } ?? 0
            left -= error
            looks.append(Look(rounds: count, rank: rank, error: error))
        }
        self.looks = looks
    }

    /// The rounds that are measured until each look, ascending.
    package var rounds: [Int] { looks.map(\.rounds) }

    /// The last look that so many complete rounds allow; nil if the first one needs more.
    package func last(within rounds: Int) -> Look? { looks.last { $0.rounds <= rounds } }
}
