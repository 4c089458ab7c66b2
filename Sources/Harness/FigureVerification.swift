import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the harness and a control say of one figure.
package struct FigureComparison: Sendable {
    package enum Standing: String, Sendable {
        /// The ratio and most of its interval lie within the bounds.
        case holds
        /// The whole interval lies outside.
        case off
        /// The interval reaches over a bound, and the ratio lies outside.
        case undecided
    }

    /// A figure of the harness may differ by a tenth from what the engine does without it.
    package static let bounds = 0.9...1.1

    package var name: String
    package var engine: String
    package var metric: String
    package var assayMedian: Double
    package var controlMedian: Double
    /// The harness's figure over the control's: the median of the pairs' ratios, and an interval of that median.
    package var ratio: Double
    package var low: Double
    package var high: Double

    package var standing: Standing {
        if Self.bounds.contains(ratio) { return .holds }
        return high < Self.bounds.lowerBound || low > Self.bounds.upperBound ? .off : .undecided
    }

    /// Pairs are measured one right after the other: what the machine does meanwhile meets both.
    package init(name: String, engine: String, metric: String, pairs: [(assay: Double, control: Double)]) {
        self.name = name
        self.engine = engine
        self.metric = metric
        assayMedian = MedianInterval(pairs.map(\.assay)).median
        controlMedian = MedianInterval(pairs.map(\.control)).median
        let logs = MedianInterval(pairs.map { log($0.assay / $0.control) })
        ratio = exp(logs.median)
        (low, high) = (exp(logs.low), exp(logs.high))
    }
}

/// The median of a few values, and an interval between two of them that holds the median of what they were drawn from
/// with a probability of 95 % or more, whatever its distribution; below six values the least and the largest.
struct MedianInterval {
    var median: Double
    var low: Double
    var high: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        let count = sorted.count
        median = count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2
        // The chance that all but `left` of the values lie on one side of the median, as often as a coin falls so.
        var left = 0
        var tail = pow(0.5, Double(count))
        var term = tail
        while left + 1 < count / 2 {
            term *= Double(count - left) / Double(left + 1)
            if 2 * (tail + term) > 0.05 { break }
            tail += term
            left += 1
        }
        (low, high) = (sorted[left], sorted[count - 1 - left])
    }
}

/// Measures a figure by turns on both sides, in an order that the seed throws for every round.
package struct FigureVerification {
    /// One figure per value of the list's entry, in its order.
    package typealias Side = (_ figure: ControlledFigure, _ engine: String, _ round: Int) throws -> [Double]

    private let assay: Side
    private let control: Side

    package init(assay: @escaping Side, control: @escaping Side) {
        self.assay = assay
        self.control = control
    }

    package func compare(
        _ figure: ControlledFigure, engine: String, rounds: Int, seed: Seed
    ) throws -> [FigureComparison] {
        var random = RandomStream(seed.derived(figure.name + engine))
        var pairs: [(assay: [Double], control: [Double])] = []
        for round in 0..<rounds {
            if random.below(2) == 0 {
                let own = try assay(figure, engine, round)
                pairs.append((own, try control(figure, engine, round)))
            } else {
                let other = try control(figure, engine, round)
                pairs.append((try assay(figure, engine, round), other))
            }
        }
        for (own, other) in pairs {
            guard own.count == figure.values.count, other.count == own.count, (own + other).allSatisfy({ $0 > 0 })
            else {
                throw HarnessError("\(figure.name) on \(engine): a figure is missing")
            }
        }
        return figure.values.enumerated().map { index, value in
            FigureComparison(
                name: value.label.isEmpty ? figure.name : "\(figure.name) \(value.label)", engine: engine,
                metric: value.metric, pairs: pairs.map { ($0.assay[index], $0.control[index]) })
        }
    }
}
