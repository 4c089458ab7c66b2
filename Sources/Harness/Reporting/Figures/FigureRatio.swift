import RunRecords
import Statistics

/// The ratio of one engine's figure to another's.
struct FigureRatio {
    /// The factor, above 1 if this engine is better, for both directions of a figure.
    var value: Double
    var peer: String
    /// The interval of the ratio over the rounds; nil if there are too few rounds.
    var low: Double?
    var high: Double?
    /// How many rounds measured both.
    var pairCount = 0
    var band = DeadBand.narrowest
    /// nil for figures that support no claim: those of one measurement, and withheld ones.
    var decision: Decision?
    /// Whether both figures were measured in rounds.
    var isRepeated = false
    /// Whether a figure of the row differs from that of its control program: no claim is made then, whatever the rounds
    /// decide.
    var isDoubtful = false
    /// Whether no claim may be made, since assertions that are compiled into a library may have decided: for a figure
    /// of speed beside an engine with such a library, unless that engine is ahead all the same.
    var isWithheld = false

    /// `ahead`, `behind`, `same`, `open`; `doubtful` if a control differs.
    var decisionWord: String? { isDoubtful && decision != nil ? "doubtful" : decision?.rawValue }
}

// As a number, without words.
extension FigureRatio {
    /// The number, such as `2.60`: how many times as fast, or as slow.
    var turned: Double { value > 0 && value < 1 ? 1 / value : value }

    /// Whether reports show the ratio as equal: it differs from 1 by less than half a hundredth, which three digits do
    /// not show.
    var isEqual: Bool { (0.995..<1.005).contains(value) || !(value > 0) }

    /// The number as text.
    var times: String { Figure.rounded(turned, digits: turned < 1.1 ? 3 : 2) }
}

extension FigureRatio {
    /// The decision of the rounds, or the reason against a claim; nil for figures of one measurement.
    var claim: String? { isWithheld ? Self.withheld : decisionWord }

    static let withheld = "no claim: assertions"

    /// The style of a figure in a table, by the decision: grey if neither engine is ahead.
    var style: String? {
        switch decision {
        case .ahead: "up"
        case .behind: "down"
        case .same, .open, nil: nil
        }
    }
}

extension RunDigest {
    /// The engine's figure beside that of the best of `peers`, which is the one with the best median. Only a decision
    /// by the rounds is a claim; a ratio of figures that were measured once has none.
    ///
    /// Two zeros are equal. A zero has no ratio to another figure: an engine that wrote nothing did other work, and not
    /// the same work at less cost.
    ///
    /// - Parameter peers: nil for all other engines but the in-memory reference, which is no peer and has no ratio. A
    ///   Strata engine has another Strata engine as its peer only if the run has no other engine.
    func ratio(_ row: MeasureRow, of engine: String, among peers: [String]? = nil) -> FigureRatio? {
        guard var ratio = measuredRatio(row, of: engine, among: peers) else { return nil }
        guard isDoubtful(row) else { return ratio }
        ratio.isDoubtful = true
        if ratio.decision != nil { ratio.decision = .open }
        return ratio
    }

    /// Whether a figure of the row differs from that of its control program: without the error, another peer might be
    /// the best.
    func isDoubtful(_ row: MeasureRow) -> Bool {
        row.values.values.contains { isDoubtful($0.result, row.measure) }
    }

    func isDoubtful(_ result: CaseResult, _ measure: Measure) -> Bool {
        guard measure.kind == .speed else { return false }
        return run.header.doubtfulFigures.contains { $0.test == result.test.id && $0.label == measure.label }
    }

    private func measuredRatio(_ row: MeasureRow, of engine: String, among peers: [String]?) -> FigureRatio? {
        guard engine != Self.reference, let own = row.values[engine], row.measure.isCompared else { return nil }
        let higher = row.measure.metric.direction == .higherIsBetter
        let others = (peers ?? strangers(to: engine)).filter {
            guard $0 != engine, let value = row.values[$0] else { return false }
            return value.sample.value.isFinite && isMeasuredTogether(own.result, value.result)
        }
        let best = others.min { first, second in
            let (a, b) = (row.values[first]?.sample.value ?? 0, row.values[second]?.sample.value ?? 0)
            return a == b ? first < second : (higher ? a > b : a < b)
        }
        guard let best, let other = row.values[best] else { return nil }
        guard var ratio = decidedRatio(row, own.result, other.result) ?? openRatio(row, own, beside: best) else {
            return nil
        }
        if row.measure.metric.isSpeed, !holdsDespiteAssertions(ratio, own: asserts(engine), peer: asserts(best)) {
            (ratio.decision, ratio.isWithheld) = (nil, true)
        }
        return ratio
    }

    /// Assertions make an engine slower. So it may be claimed that another engine is behind it, and that it is ahead
    /// itself: without assertions the difference would be larger. All else is withheld.
    private func holdsDespiteAssertions(_ ratio: FigureRatio, own: Bool, peer: Bool) -> Bool {
        switch (own, peer) {
        case (false, false): true
        case (false, true): ratio.decision == .behind || ratio.decision == nil && ratio.value < 1
        case (true, false): ratio.decision == .ahead || ratio.decision == nil && ratio.value > 1
        case (true, true): false
        }
    }

    private func strangers(to engine: String) -> [String] {
        let others = engines.filter { $0 != engine && $0 != Self.reference }
        guard PeerTable.isOwn(engine) else { return others }
        let peers = others.filter { !PeerTable.isOwn($0) }
        return peers.isEmpty ? others : peers
    }

    /// Whether its library is built with assertions, and so slower than a release build.
    private func asserts(_ engine: String) -> Bool { run.header.assertingEngines.contains(engine) }

    /// The ratio for figures of one measurement, or of too few rounds.
    private func openRatio(
        _ row: MeasureRow, _ own: (sample: Sample, result: CaseResult), beside peer: String
    ) -> FigureRatio? {
        let higher = row.measure.metric.direction == .higherIsBetter
        guard let other = row.values[peer],
            let value = Self.plainRatio(own.sample.value, other.sample.value, higher: higher)
        else { return nil }
        let isHeadline = run.rounds[own.result.test.id] != nil && run.rounds[other.result.test.id] != nil
        return FigureRatio(value: value, peer: peer, decision: isHeadline ? .open : nil, isRepeated: isHeadline)
    }

    private static func plainRatio(_ own: Double, _ other: Double, higher: Bool) -> Double? {
        if own == other { return 1 }
        guard own > 0, other > 0 else { return nil }
        return higher ? own / other : other / own
    }

    /// The ratio by the rounds; nil unless both cases ran in rounds.
    private func decidedRatio(_ row: MeasureRow, _ own: CaseResult, _ other: CaseResult) -> FigureRatio? {
        guard run.rounds[own.test.id] != nil, run.rounds[other.test.id] != nil else { return nil }
        let pairs = pairs(row.measure, own.test.id, other.test.id)
        let higher = row.measure.metric.direction == .higherIsBetter
        let looks = Looks(most: max(1, run.header.rounds[own.test.id] ?? pairs.count))
        let sequential = SequentialRatio(pairs, controls: controls(row), higherIsBetter: higher, looks: looks)
        guard let sequential else { return nil }
        let isSound = run.isSound(own.test.id) && run.isSound(other.test.id)
        return FigureRatio(
            value: sequential.ratio, peer: other.test.engine, low: sequential.low, high: sequential.high,
            pairCount: sequential.rounds, band: sequential.band, decision: isSound ? sequential.decision : .open,
            isRepeated: true)
    }

    /// The pairs of the engine of this row that each round measured twice.
    private func controls(_ row: MeasureRow) -> [(own: Double, other: Double)] {
        for engine in engines {
            guard let id = row.values[engine]?.result.test.id else { continue }
            let pairs = pairs(row.measure, id, id)
            if !pairs.isEmpty { return pairs }
        }
        return []
    }

    private func pairs(_ measure: Measure, _ own: String, _ other: String) -> [(own: Double, other: Double)] {
        run.pairs(own, other, metric: measure.metric.name, statistic: measure.statistic, label: measure.label)
    }

    /// Whether the case did all of its work correctly. Otherwise its figure is not comparable with a peer's.
    static func isWhole(_ result: CaseResult) -> Bool {
        if result.isCut { return false }
        return result.verdict == .pass
    }
}
