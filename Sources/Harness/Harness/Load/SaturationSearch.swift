/// Searches for the largest sustainable rate by bisection: the results so far decide the next rate.
///
/// The first rate is a guess, such as the throughput of a closed loop. While no rate has failed, the next one is larger
/// by half; while none has held, it is half of the smallest that failed; then it is the geometric mean of the largest
/// that held and the smallest that failed. A rate counts as failed only after a second failure: one pause of the
/// machine in a short window is not saturation.
package struct SaturationSearch: Sendable {
    package struct Attempt: Sendable, Equatable {
        package var rate: Double
        package var holds: Bool
    }

    package private(set) var attempts: [Attempt] = []
    /// The largest rate that held; nil before there is one.
    package private(set) var largest: Double?
    /// The smallest rate that failed twice.
    package private(set) var smallest: Double?
    private let guess: Double
    private let most: Int
    private var repeated: Double?

    /// The search ends when the two rates differ by less than this factor.
    private static let closeness = 1.1

    /// - Parameters:
    ///   - guess: above 0.
    ///   - most: the most windows that the search may measure.
    package init(guess: Double, most: Int) {
        precondition(guess > 0 && most > 0, "a search needs a rate to begin with, and something to spend")
        self.guess = guess
        self.most = most
    }

    /// The rate of the next window; nil when the search is over.
    package var next: Double? {
        guard attempts.count < most else { return nil }
        if let repeated { return repeated }
        switch (largest, smallest) {
        case (nil, nil): return guess
        case (let low?, nil): return low * 1.5
        case (nil, let high?): return high / 2
        case (let low?, let high?): return high / low < Self.closeness ? nil : (low * high).squareRoot()
        }
    }

    /// Records the result of the rate that `next` returned.
    package mutating func note(holds: Bool) {
        guard let rate = next else { return }
        attempts.append(Attempt(rate: rate, holds: holds))
        if holds {
            repeated = nil
            largest = max(largest ?? 0, rate)
        } else if repeated == nil {
            repeated = rate
        } else {
            repeated = nil
            smallest = min(smallest ?? .infinity, rate)
        }
    }
}
