/// Looks for the largest rate that holds, by halving: what is tried next follows from what held so far.
///
/// The first rate is a guess, such as what a closed loop reached. While rates hold it goes up by half; once one has not
/// held, into the middle between the largest that held and the smallest that did not. A rate that does not hold is
/// tried a second time before that is believed: one pause of the machine in a short window is no saturation.
package struct SaturationSearch: Sendable {
    package struct Attempt: Sendable, Equatable {
        package var rate: Double
        package var holds: Bool
    }

    package private(set) var attempts: [Attempt] = []
    /// The largest rate that held; nil while none has.
    package private(set) var largest: Double?
    /// The smallest that did not, twice.
    package private(set) var smallest: Double?
    private let guess: Double
    private let most: Int
    private var repeated: Double?

    /// Closer than this the two ends need not come.
    private static let closeness = 1.1

    /// - Parameters:
    ///   - guess: above 0.
    ///   - most: how many windows may be spent.
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

    /// What came of the rate that `next` named.
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
