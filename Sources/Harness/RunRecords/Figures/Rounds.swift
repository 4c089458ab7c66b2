import Measuring
import Statistics

/// Merges the measurements of one case. Most parts of a report show a case with rounds in this form.
extension CaseResult {
    /// The most trials that are kept in full when the rounds of a case are merged.
    private static let keptTrials = 60

    /// - Parameter rounds: measurements of one case, in any order. Samples come from the measured side alone. Outcomes,
    ///   and so the verdict, come from every measurement, except that cut ones are left out if there are enough others.
    ///   Each sample becomes the median over the rounds, with its interval if there are enough, and has the number of
    ///   rounds as its count.
    /// - Returns: nil if there is no measurement.
    package static func merged(_ rounds: [CaseResult]) -> CaseResult? {
        let ordered = rounds.sorted { ($0.turn.round, $0.turn.side.rawValue) < ($1.turn.round, $1.turn.side.rawValue) }
        let counted = withoutCut(ordered)
        guard var merged = counted.min(by: { $0.verdict.gravity > $1.verdict.gravity }) else { return nil }
        if ordered.count == 1 { return merged }
        merged.turn = Turn()
        merged.outcomes = Outcome.allCases.compactMap { outcome in
            let count = counted.reduce(0) { $0 + $1.count(of: outcome) }
            return count == 0 ? nil : OutcomeCount(outcome: outcome, count: count)
        }
        merged.outcome = merged.findings.gravest
        merged.trials = Array(counted.flatMap(\.trials).prefix(keptTrials))
        var causes: [FailureCause] = []
        for cause in counted.flatMap(\.causes) { causes.add(cause) }
        merged.causes = causes.gravestFirst
        merged.promises = JudgedPromise.merged(counted.map(\.promises))
        merged.samples = medians(counted.filter { $0.turn.side == .measured })
        merged.durationNanoseconds = ordered.reduce(0) { $0 &+ $1.durationNanoseconds }
        merged.isCut = counted.contains(where: \.isCut)
        merged.crash = counted.lazy.compactMap(\.crash).first
        return merged
    }

    /// Leaves out the measurements that the budget cut, if the others suffice for a first look: they then do not make
    /// the case inconclusive. With fewer complete rounds every measurement counts.
    private static func withoutCut(_ rounds: [CaseResult]) -> [CaseResult] {
        let complete = rounds.filter { !($0.isCut && $0.verdict == .inconclusive) }
        let needed = Looks.standard.first ?? 1
        let isEnough = Turn.Side.allCases.allSatisfy { side in
            !rounds.contains { $0.turn.side == side } || complete.count { $0.turn.side == side } >= needed
        }
        return isEnough ? complete : rounds
    }

    private struct SampleKey: Hashable {
        var metric: String
        var statistic: String
        var label: String

        init(_ sample: Sample) {
            metric = sample.metric.name
            statistic = sample.statistic
            label = sample.label
        }
    }

    private static func medians(_ rounds: [CaseResult]) -> [Sample] {
        var order: [SampleKey] = []
        var samples: [SampleKey: [Sample]] = [:]
        for sample in rounds.flatMap(\.samples) {
            let key = SampleKey(sample)
            if samples[key] == nil { order.append(key) }
            samples[key, default: []].append(sample)
        }
        return order.compactMap { key in
            guard let all = samples[key], var sample = all.first else { return nil }
            if sample.metric.kind == .deterministic && Set(all.map(\.value)).count == 1 { return sample }
            let interval = MedianInterval(all.map(\.value))
            sample.value = MedianInterval.median(all.map(\.value))
            sample.low = interval?.low
            sample.high = interval?.high
            sample.count = all.count
            return sample
        }
    }
}

extension CaseDetails {
    /// Adds the histograms that have the same name, and takes the series of the first round that has any.
    package static func merged(_ rounds: [CaseDetails]) -> CaseDetails {
        var merged = rounds.first { !$0.series.isEmpty } ?? rounds.first ?? CaseDetails()
        var order: [String] = []
        var histograms: [String: Histogram] = [:]
        for entry in rounds.flatMap(\.histograms) {
            if histograms[entry.name] == nil { order.append(entry.name) }
            histograms[entry.name, default: Histogram()].merge(entry.histogram)
        }
        merged.histograms = order.compactMap { name in
            histograms[name].map { NamedHistogram(name: name, histogram: $0) }
        }
        return merged
    }
}

extension Verdict {
    /// The verdict of several measurements of a case is the gravest of them.
    package var gravity: Int {
        switch self {
        case .pass: 0
        case .notApplicable: 1
        case .notBuilt: 2
        case .unpromised: 3
        case .known: 4
        case .inconclusive: 5
        case .violation: 6
        case .suspectedHarness: 7
        case .harnessError: 8
        }
    }
}

extension Run {
    /// The figures of two cases of one comparison, or of the two sides of one case, paired by round. Rounds that only
    /// one of them has are left out.
    ///
    /// - Parameters:
    ///   - own: the id of the case whose figure is the first of each pair.
    ///   - other: the id of the other case; the same id pairs the measured side with its control.
    package func pairs(
        _ own: String, _ other: String, metric: String, statistic: String, label: String
    ) -> [(own: Double, other: Double)] {
        let otherSide = own == other ? Turn.Side.control : .measured
        let first = values(own, metric: metric, statistic: statistic, label: label)
        let second = values(other, otherSide, metric: metric, statistic: statistic, label: label)
        return first.keys.sorted().compactMap { round in
            guard let own = first[round], let other = second[round] else { return nil }
            return (own, other)
        }
    }

    /// Whether every measurement of a case did its work correctly, apart from those that were cut.
    package func isSound(_ id: String) -> Bool {
        (rounds[id] ?? []).allSatisfy { $0.isCut || $0.verdict == .pass }
    }

    /// The figure of one side of a case, by round. A measurement that the budget cut has no figure, and makes its round
    /// incomplete.
    package func values(
        _ id: String, _ side: Turn.Side = .measured, metric: String, statistic: String, label: String
    ) -> [Int: Double] {
        var values: [Int: Double] = [:]
        for result in rounds[id] ?? [] where result.turn.side == side && !result.isCut {
            let sample = result.samples.first {
                $0.metric.name == metric && $0.statistic == statistic && $0.label == label
            }
            if let sample { values[result.turn.round] = sample.value }
        }
        return values
    }
}
