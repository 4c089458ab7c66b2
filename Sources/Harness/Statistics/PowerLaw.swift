import Platform

/// How a cost depends on a size: the exponent of a power law with its interval, and whether a power law fits at all.
///
/// Each round has an exponent, the slope of the logarithms by least squares: a disturbance of a whole round affects all
/// sizes alike, and leaves the slope unchanged. The interval is that of the median of the rounds' slopes
/// (`MedianInterval`): a bootstrap of seven rounds would promise more than it keeps.
///
/// A step function has a slope, too. So the exponents of the stretches between neighbouring sizes are compared with
/// each other, round by round: if two differ by more than `band`, with the whole interval, there is no common exponent.
package struct PowerLaw: Sendable, Hashable {
    /// A common name of a growth. A law has one only if the exponents of all others lie outside its interval.
    package enum Shape: String, Sendable, CaseIterable {
        case constant = "1"
        case logarithmic = "log n"
        case linear = "n"
        case lineLogarithmic = "n log n"
        case quadratic = "n\u{B2}"
    }

    /// From a size to the next larger one.
    package struct Stretch: Sendable, Hashable {
        package let from: Double
        package let to: Double
        package let exponent: Double
    }

    package enum Form: Sendable, Hashable {
        /// No two stretches are known to differ.
        case power
        /// Two stretches differ: there is no common exponent.
        case bent
        /// There are too few rounds to decide.
        case unknown
    }

    package let exponent: Double
    /// nil if there are too few rounds.
    package let low: Double?
    package let high: Double?
    /// By size, ascending; at least two.
    package let stretches: [Stretch]
    package let form: Form
    /// The only shape within the interval; nil for none, several, or no interval.
    package let shape: Shape?
    /// Rounds that measured every size.
    package let count: Int

    package static let fewestSizes = 3
    /// The least difference of two stretches that counts: 0.1 is a quarter more per ten times the size, and five times
    /// the difference between neighbouring decades of n log n from 10^4 on.
    package static let band = 0.1
    /// Exponents are reported with two digits after the point.
    private static let resolution = 0.01

    /// - Parameters:
    ///   - sizes: ascending, above 1.
    ///   - rounds: of each round the cost at each size. A round that lacks a cost above 0 is left out.
    /// - Returns: nil if there are fewer than three sizes, or no round is left.
    package init?(sizes: [Double], rounds: [[Double]]) {
        precondition(zip(sizes, sizes.dropFirst()).allSatisfy { $0 < $1 } && sizes.allSatisfy { $0 > 1 })
        guard sizes.count >= Self.fewestSizes else { return nil }
        let costs = rounds.filter { round in
            round.count == sizes.count && round.allSatisfy { $0 > 0 && $0.isFinite }
        }.map { $0.map { log($0) } }
        guard !costs.isEmpty else { return nil }
        let places = sizes.map { log($0) }
        let slopes = costs.map { Self.slope(places, $0) }
        let interval = MedianInterval(slopes)
        exponent = MedianInterval.median(slopes)
        low = interval?.low
        high = interval?.high
        count = costs.count
        let local = costs.map { cost in
            places.indices.dropLast().map { (cost[$0 + 1] - cost[$0]) / (places[$0 + 1] - places[$0]) }
        }
        stretches = sizes.indices.dropLast().map { place in
            Stretch(
                from: sizes[place], to: sizes[place + 1], exponent: MedianInterval.median(local.map { $0[place] }))
        }
        form = Self.form(local)
        shape = form == .bent ? nil : interval.flatMap { Self.shape($0, places) }
    }

    /// Compares every two stretches, since neighbours alone would not show a slow bend. The more pairs of stretches,
    /// the higher the confidence that each must have, so that all of them together err in 5 % at most.
    private static func form(_ local: [[Double]]) -> Form {
        let count = local[0].count
        let pairs = (0..<count).flatMap { first in (first + 1..<count).map { (first, $0) } }
        let confidence = 1 - 0.05 / Double(pairs.count)
        for (first, second) in pairs {
            guard let difference = MedianInterval(local.map { $0[second] - $0[first] }, confidence: confidence) else {
                return .unknown
            }
            if difference.low > band || difference.high < -band { return .bent }
        }
        return .power
    }

    private static func shape(_ interval: MedianInterval, _ places: [Double]) -> Shape? {
        let agreeing = Shape.allCases.filter { shape in
            let expected = slope(places, places.map { shape.logarithm(ofCostAt: $0) })
            return expected >= interval.low - resolution && expected <= interval.high + resolution
        }
        return agreeing.count == 1 ? agreeing[0] : nil
    }

    private static func slope(_ places: [Double], _ values: [Double]) -> Double {
        let (x, y) = (mean(places), mean(values))
        let products = zip(places, values).reduce(0) { $0 + ($1.0 - x) * ($1.1 - y) }
        return products / places.reduce(0) { $0 + ($1 - x) * ($1 - x) }
    }

    private static func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
}

extension PowerLaw.Shape {
    /// - Parameter place: the logarithm of the size.
    fileprivate func logarithm(ofCostAt place: Double) -> Double {
        switch self {
        case .constant: 0
        case .logarithmic: log(place)
        case .linear: place
        case .lineLogarithmic: place + log(place)
        case .quadratic: 2 * place
        }
    }
}
