import Platform
import Seeds

/// Decides when the operations of an open loop are due: at a rate that does not depend on how long earlier ones took.
package struct ArrivalSchedule: Sendable {
    package enum Spacing: String, Sendable, CaseIterable {
        /// At equal intervals.
        case constant
        /// As independent requests arrive: at exponentially distributed intervals, so that some arrivals come close
        /// together.
        case poisson
    }

    /// The mean interval between two arrivals.
    package let meanNanoseconds: Double
    private let spacing: Spacing
    private var random: RandomStream
    private var time = 0.0

    /// - Parameter rate: arrivals a second, above 0.
    package init(rate: Double, spacing: Spacing, seed: Seed) {
        precondition(rate > 0, "a schedule needs a rate")
        meanNanoseconds = 1e9 / rate
        self.spacing = spacing
        random = RandomStream(seed)
    }

    /// Nanoseconds from the start to the next arrival. No arrival is skipped.
    package mutating func next() -> UInt64 {
        switch spacing {
        case .constant: time += meanNanoseconds
        case .poisson:
            // From 53 random bits; above 0 and at most 1.
            let share = Double((random.next() >> 11) + 1) * 0x1p-53
            time -= log(share) * meanNanoseconds
        }
        return UInt64(time)
    }
}
