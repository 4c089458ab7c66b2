import RunRecords
import Statistics

/// How one figure of each engine grows over several sizes of one data set. A scenario that generates its own data has
/// the size as a parameter.
struct ScaleFigure {
    struct Point {
        /// The size in rows of the data set, or in the parameter's unit.
        var size: Int
        var sample: Sample
        var result: CaseResult
    }

    struct Line {
        var engine: String
        /// By size, ascending.
        var points: [Point]
        /// nil if there is only one size, or a case at either end was cut or wrong.
        var growth: Growth?
        /// The cost as a power law of the size; nil if there are fewer than three sizes, or a case was cut or wrong.
        var law: PowerLaw?
        /// The same figure on another data set that has one size. A chart draws it beside the line.
        var aside: Point?
    }

    /// The factor from the cost at the smallest size to that at the largest; above 1 if the cost grows.
    struct Growth {
        var smallest: Int
        var largest: Int
        var factor: Double
        /// The interval over the rounds; nil if there are too few.
        var low: Double?
        var high: Double?
        /// The number of rounds that measured both sizes.
        var pairCount: Int
    }

    /// The fewest sizes of a line.
    static let fewestSizes = PowerLaw.fewestSizes

    /// The subject of the smallest size.
    var subject: Subject
    var measure: Measure
    var lines: [Line]
    /// The data set that a chart draws beside the lines; nil if there is none.
    var asideSubject: Subject?

    var sizes: [Int] { Set(lines.flatMap { $0.points.map(\.size) }).sorted() }

    /// `10 000 rows`, `1 000 elements`.
    func sizeWords(_ size: Int) -> String { Figure.count(size, subject.extentUnit) }
}

extension ScaleFigure.Growth {
    private var ratio: FigureRatio { FigureRatio(value: factor, peer: "", low: low, high: high) }

    /// `1.9× as dear`, `4.3× as cheap`; the number is never below one.
    var words: String { ratio.isEqual ? "as dear" : "\(ratio.times)\u{D7} as \(factor > 1 ? "dear" : "cheap")" }

    /// `1.9×`, `4.3× as cheap`, for a column with the heading `times as dear`.
    var short: String { ratio.isEqual || factor > 1 ? "\(ratio.times)\u{D7}" : words }

    /// `1.7 to 2.2`; nil if there is no interval.
    var interval: String? { ratio.interval }
}

extension RunDigest {
    /// A figure per scenario and measure of speed that at least three sizes have, in plan order. Empty for a plan whose
    /// cases share the machine (`measures: false`).
    var scaleFigures: [ScaleFigure] {
        once {
            guard run.header.measures else { return [] }
            let limits = rawScenarios
            let usable = comparisons.filter { !limits.contains($0.subject.scenario) && $0.subject.extent > 0 }
            let groups = Dictionary(grouping: usable, by: \.subject.withoutExtent)
            return Self.unique(usable.map(\.subject.withoutExtent)).flatMap { key -> [ScaleFigure] in
                let sized = (groups[key] ?? []).sorted { $0.subject.extent < $1.subject.extent }
                guard sized.count >= ScaleFigure.fewestSizes, let first = sized.first else { return [] }
                let others = usable.filter { other in
                    var subject = other.subject.withoutExtent
                    subject.dataset = key.dataset
                    return subject == key && other.subject.dataset != key.dataset
                }
                // A data set with several sizes has lines of its own.
                let aside = others.count == 1 ? others[0] : nil
                let measures = Self.unique(
                    sized.flatMap { comparison in
                        engines.compactMap { comparison.results[$0] }.flatMap { result in
                            result.samples.filter { Self.counts($0, result) }.map(Measure.init)
                        }
                    }
                ).filter { $0.kind == .speed && $0.isCompared }
                return measures.compactMap { measure in
                    let lines = engines.compactMap { scaleLine($0, measure, sized: sized, aside: aside) }
                    let isLong = lines.contains { $0.points.count >= ScaleFigure.fewestSizes }
                    let subject = lines.contains { $0.aside != nil } ? aside?.subject : nil
                    if !isLong { return nil }
                    return ScaleFigure(subject: first.subject, measure: measure, lines: lines, asideSubject: subject)
                }
            }
        }
    }

    private func scaleLine(
        _ engine: String, _ measure: Measure, sized: [Comparison], aside: Comparison?
    ) -> ScaleFigure.Line? {
        func point(_ comparison: Comparison) -> ScaleFigure.Point? {
            guard let result = comparison.results[engine],
                let sample = result.samples.first(where: { Measure($0) == measure }), sample.value > 0
            else { return nil }
            return ScaleFigure.Point(size: comparison.subject.extent, sample: sample, result: result)
        }
        let points = sized.compactMap(point)
        if points.isEmpty { return nil }
        return ScaleFigure.Line(
            engine: engine, points: points, growth: growth(points, measure), law: law(points, measure),
            aside: aside.flatMap(point))
    }

    /// The law over the rounds that measured every size, or over the points if there are no rounds.
    private func law(_ points: [ScaleFigure.Point], _ measure: Measure) -> PowerLaw? {
        guard let first = points.first,
            points.allSatisfy({
                Self.isWhole($0.result) && $0.size > 1 && isMeasuredTogether($0.result, first.result)
            })
        else { return nil }
        let higher = measure.metric.direction == .higherIsBetter
        func cost(_ value: Double) -> Double { higher ? 1 / value : value }
        let values = points.map {
            run.values(
                $0.result.test.id, metric: measure.metric.name, statistic: measure.statistic, label: measure.label)
        }
        let common = values.dropFirst().reduce(Set((values.first ?? [:]).keys)) { $0.intersection($1.keys) }
        var rounds = common.sorted().map { round in values.map { cost($0[round] ?? 0) } }
        if rounds.isEmpty { rounds = [points.map { cost($0.sample.value) }] }
        return PowerLaw(sizes: points.map { Double($0.size) }, rounds: rounds)
    }

    private func growth(_ points: [ScaleFigure.Point], _ measure: Measure) -> ScaleFigure.Growth? {
        guard points.count > 1, let first = points.first, let last = points.last, Self.isWhole(first.result),
            Self.isWhole(last.result), isMeasuredTogether(first.result, last.result)
        else { return nil }
        let higher = measure.metric.direction == .higherIsBetter
        let pairs = run.pairs(
            first.result.test.id, last.result.test.id, metric: measure.metric.name, statistic: measure.statistic,
            label: measure.label)
        if let paired = PairedRatio(pairs, higherIsBetter: higher) {
            return ScaleFigure.Growth(
                smallest: first.size, largest: last.size, factor: paired.ratio, low: paired.low, high: paired.high,
                pairCount: paired.pairs.count)
        }
        let (small, large) = (first.sample.value, last.sample.value)
        return ScaleFigure.Growth(
            smallest: first.size, largest: last.size, factor: higher ? small / large : large / small, pairCount: 1)
    }

    /// The bytes of the engine's files for a data set of that size, if a case of the run measured them.
    func fileBytes(_ engine: String, dataset: String, size: Int) -> Double? {
        results.lazy.filter { $0.test.engine == engine && $0.test.dataset == dataset && $0.test.size == size }
            .flatMap(\.samples).first { $0.metric.name == Metric.fileBytes.name && $0.label.isEmpty }?.value
    }
}
