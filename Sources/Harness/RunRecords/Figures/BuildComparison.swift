import JSONText
import Seeds
import Statistics

/// Whose program a measurement ran: that of one of the two builds, or that of the first build again as a control.
package enum BuildSide: String, Sendable, CaseIterable {
    case a = "A"
    case b = "B"
    /// The program of side A again: its difference from A is noise.
    case control = "A2"
}

/// One measurement of a case in a comparison of builds. The measurements of a round follow each other directly.
package struct SideMeasurement: Sendable, Equatable {
    /// 0 for the first batch, 1 for the one that confirms it.
    package var batch: Int
    /// Counts from 0 within its batch.
    package var round: Int
    package var side: BuildSide
    /// The position in its round, from 0.
    package var position: Int
    /// The name of the directory in which the case worked. The sides change directories in a drawn order.
    package var place: String
    package var result: CaseResult

    package init(batch: Int, round: Int, side: BuildSide, position: Int, place: String, result: CaseResult) {
        self.batch = batch
        self.round = round
        self.side = side
        self.position = position
        self.place = place
        self.result = result
    }

    /// A line of `measurements.jsonl`.
    package var json: JSONValue {
        .object([
            JSONMember("batch", .integer(batch)), JSONMember("round", .integer(round)),
            JSONMember("side", .string(side.rawValue)), JSONMember("position", .integer(position)),
            JSONMember("place", .string(place)), JSONMember("result", result.json),
        ])
    }
}

/// Identifies a figure within a case.
package struct FigureName: Hashable, Sendable {
    package var metric: Metric
    package var statistic: String
    package var label: String

    package init(_ sample: Sample) {
        metric = sample.metric
        statistic = sample.statistic
        label = sample.label
    }

    package func value(in result: CaseResult) -> Double? {
        result.value(metric, statistic: statistic, label: label)
    }

    /// `latency_ns p50 (read)`, `rows_per_second`.
    package var text: String { Self.text(metric.name, statistic, label) }

    /// A name without its statistic, if that adds nothing to a single figure.
    static func text(_ metric: String, _ statistic: String, _ label: String) -> String {
        let isPlain = ["value", "count"].contains(statistic)
        let words = [metric, isPlain ? "" : statistic, label.isEmpty ? "" : "(\(label))"]
        return words.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension CaseResult {
    /// The figure by which a comparison of builds judges a case: the rate, or else the time per operation, the median
    /// latency, the duration, or the time of an open or a recovery, in this order. nil for a case without any of them.
    ///
    /// It is never p99 or above, nor a maximum: a single measurement determines them too poorly.
    package var judgedFigure: FigureName? {
        let own = findings.samples.filter { !$0.label.hasPrefix("raw ") && $0.metric.kind == .measured }
        func first(_ matches: (Sample) -> Bool) -> Sample? { own.first(where: matches) }
        let sample =
            first { $0.metric.direction == .higherIsBetter && $0.metric.unit.hasSuffix("/s") }
            ?? first { $0.metric.name == Metric.operationNanoseconds.name }
            ?? first { $0.metric.name == Metric.latencyNanoseconds.name && ["value", "p50"].contains($0.statistic) }
            ?? first { $0.metric.name == Metric.durationMilliseconds.name && $0.metric.direction == .lowerIsBetter }
            ?? first { Self.timesOfOneStep.contains($0.metric.name) && ["value", "median"].contains($0.statistic) }
        return sample.map(FigureName.init)
    }

    /// Metrics of scenarios that repeat one step, each time in a process of its own.
    private static let timesOfOneStep: Set<String> = ["open_us", "recovery_ms"]
}

/// One figure of both sides.
package struct ComparedFigure: Sendable {
    package var name: FigureName
    package var medianA: Double
    package var medianB: Double
    /// B against A; nil if there are too few pairs.
    package var measured: SideComparison?
    /// A once more against A; nil if there are too few pairs.
    package var control: SideComparison?
}

/// The figures of a case after the rounds of one batch.
package struct ComparedBatch: Sendable {
    package var judged: ComparedFigure
    /// All other figures that both sides measured. They are shown, and not judged.
    package var others: [ComparedFigure]

    /// nil if the rounds have no figure to judge.
    package init?(_ measurements: [SideMeasurement], threshold: Double, seed: Seed) {
        guard let first = measurements.first(where: { $0.side == .a }), let judgedName = first.result.judgedFigure
        else { return nil }
        let rounds = Rounds(measurements)
        func compared(_ name: FigureName) -> ComparedFigure {
            rounds.compared(name, threshold: threshold, seed: seed)
        }
        judged = compared(judgedName)
        let names = first.result.samples.filter { $0.metric.kind == .measured && $0.metric.direction != .neutral }
        others = names.map(FigureName.init).filter { $0 != judgedName }.map(compared)
    }

    /// Results by round and side.
    private struct Rounds {
        private var results: [Int: [BuildSide: CaseResult]] = [:]
        private let batch: Int

        init(_ measurements: [SideMeasurement]) {
            batch = measurements.first?.batch ?? 0
            for measurement in measurements {
                results[measurement.round, default: [:]][measurement.side] = measurement.result
            }
        }

        private func values(_ name: FigureName, _ side: BuildSide) -> [Double] {
            results.values.compactMap { $0[side] }.compactMap(name.value)
        }

        private func pairs(_ name: FigureName, _ other: BuildSide) -> [(a: Double, b: Double)] {
            results.keys.sorted().compactMap { round in
                guard let a = results[round]?[.a].flatMap(name.value),
                    let b = results[round]?[other].flatMap(name.value)
                else { return nil }
                return (a, b)
            }
        }

        func compared(_ name: FigureName, threshold: Double, seed: Seed) -> ComparedFigure {
            func comparison(with other: BuildSide) -> SideComparison? {
                var random = RandomStream(
                    seed.derived("\(batch)/\(other)/\(name.metric.name)/\(name.statistic)/\(name.label)"))
                return SideComparison(
                    pairs(name, other), higherIsBetter: name.metric.direction == .higherIsBetter,
                    threshold: threshold, random: &random)
            }
            return ComparedFigure(
                name: name, medianA: MedianInterval.median(values(name, .a)),
                medianB: MedianInterval.median(values(name, .b)), measured: comparison(with: .b),
                control: comparison(with: .control))
        }
    }
}

/// A case of both builds, and the conclusion about it.
package struct ComparedCase: Sendable {
    package var test: Case
    /// The first batch, and the confirming one if the first had a flagged difference.
    package var batches: [ComparedBatch]
    /// A measurement that gave no figure to compare, which ended the comparison of the case.
    package var failure: SideMeasurement?
    /// The conclusion of the batches about B against A.
    package var conclusion: ComparisonConclusion
    package var finding: SideComparison.Finding
    /// The reason for the finding, in a sentence; empty if the figures say enough.
    package var reason: String
    /// The fewest pairs that give an interval.
    package static let fewestPairs = BootstrapInterval.fewestValues

    /// The conclusion about A once more against A, by the same rule as for B.
    package var control: ComparisonConclusion

    package init(test: Case, batches: [ComparedBatch], failure: SideMeasurement?, confirms: Bool) {
        self.test = test
        self.batches = batches
        self.failure = failure
        control = ComparisonConclusion(batches.map(\.judged.control), confirms: confirms)
        conclusion = ComparisonConclusion(batches.map(\.judged.measured), confirms: confirms)
        (finding, reason) = (conclusion.finding, conclusion.reason)
        if let failure {
            finding = .inconclusive
            reason = "side \(failure.side.rawValue): \(failure.result.isCut ? "cut" : failure.result.verdict.rawValue)"
            if !failure.result.message.isEmpty { reason += ", \(failure.result.message)" }
        }
    }
}

extension ComparedCase {
    /// The conclusion for this case, without regard to other cases.
    package var conclusionAlone: (finding: SideComparison.Finding, reason: String) {
        var alone = self
        alone.doubt(control, of: test.scenario)
        return (alone.finding, alone.reason)
    }

    /// Makes the conclusion inconclusive if a control, of this or another case, differs from itself.
    fileprivate mutating func doubt(_ control: ComparisonConclusion, of place: String) {
        guard failure == nil else { return }
        let concluded = conclusion.beside(control: control, of: place)
        (finding, reason) = (concluded.finding, concluded.reason)
    }
}

/// A comparison of two builds.
package struct BuildComparison: Sendable {
    /// Version of this format: `assay-ab/1`.
    package static let format = "assay-ab/1"

    package struct Side: Sendable {
        package var path: String
        package var build: BuildDescription
        /// The revision that it was built from, for people; empty for a program that was named by its path.
        package var revision: String

        package init(path: String, build: BuildDescription, revision: String = "") {
            self.path = path
            self.build = build
            self.revision = revision
        }
    }

    /// A case that is not compared, with the reason.
    package struct Refused: Sendable, Equatable {
        package var test: Case
        package var reason: String

        package init(test: Case, reason: String) {
            self.test = test
            self.reason = reason
        }
    }

    /// The header of the comparison as a whole: machine, command, seed, warnings.
    package var header: RunHeader
    package var a: Side
    package var b: Side
    package var pairs: Int
    package var threshold: Double
    package var confirms: Bool
    package var cases: [ComparedCase]
    package var refused: [Refused]
    /// The directory of the raw measurements.
    package var directory: String

    /// If the control of any case differs from itself, all cases become inconclusive: the machine was disturbed.
    package init(
        header: RunHeader, a: Side, b: Side, pairs: Int, threshold: Double, confirms: Bool, cases: [ComparedCase],
        refused: [Refused], directory: String
    ) {
        self.header = header
        self.a = a
        self.b = b
        self.pairs = pairs
        self.threshold = threshold
        self.confirms = confirms
        self.cases = cases
        self.refused = refused
        self.directory = directory
        guard let flagged = cases.first(where: \.control.isDifference) else { return }
        for index in cases.indices { self.cases[index].doubt(flagged.control, of: flagged.test.scenario) }
    }

    /// 1 for an error of the harness; otherwise 2 if side B is slower or wrong; otherwise 3 if anything is undecided.
    package var exitStatus: Int32 {
        let failures = cases.compactMap(\.failure)
        if failures.contains(where: { $0.result.verdict == .harnessError }) { return 1 }
        let isWrong = failures.contains { $0.side == .b && $0.result.verdict == .violation }
        if isWrong || cases.contains(where: { $0.finding == .slower }) { return 2 }
        return cases.isEmpty || cases.contains { $0.finding == .inconclusive } ? 3 : 0
    }
}
