import RunRecords
import Seeds
import Statistics

/// The comparison of one figure: the harness's value against a control's.
package struct FigureComparison: Sendable {
    package enum Standing: String, Sendable {
        /// The ratio lies within the bounds.
        case holds
        /// The whole interval lies beyond one of the bounds.
        case off
        /// The ratio lies outside of the bounds, but its interval reaches into them.
        case undecided
    }

    package static var bounds: ClosedRange<Double> { FigureVerdict.bounds }

    package var name: String
    package var engine: String
    package var metric: String
    package var label = ""
    package var assayMedian: Double
    package var controlMedian: Double
    /// The harness's figure as a multiple of the control's, above 1 if the harness's is better: the median of the pairs
    /// with its interval, or with fewer than six pairs, with their minimum and maximum.
    package var ratio: Double
    package var low: Double
    package var high: Double
    package var pairs: Int

    package var standing: Standing {
        if Self.bounds.contains(ratio) { return .holds }
        return high < Self.bounds.lowerBound || low > Self.bounds.upperBound ? .off : .undecided
    }

    /// The part of the comparison that is stored.
    package func verdict(_ figure: ControlledFigure) -> FigureVerdict {
        FigureVerdict(
            name: figure.name, workload: figure.workload, engine: engine, parameters: figure.parameters,
            metric: metric, label: label, ratio: ratio)
    }

    /// The two figures of a pair are measured one directly after the other, so that the machine's state affects both.
    /// nil without a pair.
    package init?(name: String, engine: String, metric: String, pairs: [(own: Double, other: Double)]) {
        guard let paired = PairedRatio(pairs, higherIsBetter: metric.hasSuffix("_per_second")) else { return nil }
        self.name = name
        self.engine = engine
        self.metric = metric
        assayMedian = MedianInterval.median(pairs.map(\.own))
        controlMedian = MedianInterval.median(pairs.map(\.other))
        ratio = paired.ratio
        low = paired.low ?? paired.pairs.min() ?? paired.ratio
        high = paired.high ?? paired.pairs.max() ?? paired.ratio
        self.pairs = pairs.count
    }
}

/// Measures a figure on both sides alternately; the seed decides the order in each round.
package struct FigureVerification {
    /// Measures one side: it returns a figure for each value of the list's entry, in their order.
    package typealias Side = (_ figure: ControlledFigure, _ engine: String, _ round: Int) throws -> [Double]

    private let assay: Side
    private let control: Side

    package init(assay: @escaping Side, control: @escaping Side) {
        self.assay = assay
        self.control = control
    }

    /// A figure that is undecided is measured in this many times as many pairs, twice at most.
    private static let repetition = 3

    /// Compares each value of a figure after `rounds` pairs. While one of them is undecided, measures until there are
    /// three and then nine times as many pairs. The result is that of all pairs.
    package func compare(
        _ figure: ControlledFigure, engine: String, rounds: Int, seed: Seed
    ) throws -> [FigureComparison] {
        var random = RandomStream(seed.derived(figure.name + engine))
        var pairs: [Pair] = []
        var found: [FigureComparison] = []
        for look in [rounds, Self.repetition * rounds, Self.repetition * Self.repetition * rounds] {
            for round in pairs.count..<look {
                pairs.append(try pair(figure, engine, round: round, random: &random))
            }
            found = comparisons(figure, engine, pairs)
            if !found.contains(where: { $0.standing == .undecided }) { break }
        }
        return found
    }

    private typealias Pair = (assay: [Double], control: [Double])

    private func pair(
        _ figure: ControlledFigure, _ engine: String, round: Int, random: inout RandomStream
    ) throws -> Pair {
        let found: Pair
        if random.below(2) == 0 {
            let own = try assay(figure, engine, round)
            found = (own, try control(figure, engine, round))
        } else {
            let other = try control(figure, engine, round)
            found = (try assay(figure, engine, round), other)
        }
        guard found.assay.count == figure.values.count, found.control.count == found.assay.count,
            (found.assay + found.control).allSatisfy({ $0 > 0 })
        else { throw HarnessError("\(figure.name) on \(engine): a figure is missing") }
        return found
    }

    private func comparisons(_ figure: ControlledFigure, _ engine: String, _ pairs: [Pair]) -> [FigureComparison] {
        figure.values.enumerated().compactMap { index, value in
            var found = FigureComparison(
                name: value.label.isEmpty ? figure.name : "\(figure.name) \(value.label)", engine: engine,
                metric: value.metric, pairs: pairs.map { ($0.assay[index], $0.control[index]) })
            found?.label = value.label
            return found
        }
    }
}
