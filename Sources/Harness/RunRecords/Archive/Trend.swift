import Platform
import Seeds
import Statistics

/// The figure of one run, as a point of a trend.
package struct TrendPoint: Sendable, Equatable {
    /// The run, without its cases.
    package var run: RecordedRun
    package var engineVersion: String
    /// The figure itself, with its interval.
    package var value: Double
    package var low: Double?
    package var high: Double?
    /// nil if the run has no figure of the reference.
    package var ratio: RecordedRatio?

    package init(
        run: RecordedRun, engineVersion: String, value: Double, low: Double? = nil, high: Double? = nil,
        ratio: RecordedRatio? = nil
    ) {
        (self.run, self.engineVersion) = (run, engineVersion)
        (self.value, self.low, self.high, self.ratio) = (value, low, high, ratio)
    }
}

/// A figure of a case over the runs of an archive, in the order of their start, with change points.
///
/// Times of two runs are not comparable. So a trend of times uses the ratio to a pinned reference, an engine of the
/// same run and of one version, which had the same disturbances. A count needs no reference.
package struct Trend: Sendable, Equatable {
    /// The quantity in which change points are searched for.
    package enum Basis: Sendable, Equatable {
        case ratio(reference: String)
        /// A count, which repeats on any machine.
        case count
        /// No value of the figure is comparable over time: values are shown, but no change is claimed.
        case nothing
    }

    /// A change of the level between two consecutive runs.
    package struct Change: Sendable, Equatable {
        /// The index in `points` of the first point of the new level.
        package var index: Int
        /// The new level as a multiple of the old one, above 1 if it is better. Of a neutral count it is just the
        /// multiple.
        package var factor: Double
        /// What else differs between the two runs: the machine, the version of an engine.
        package var remarks: [String]
    }

    package let test: Case
    package let figure: FigureName
    package let basis: Basis
    /// All runs that have the figure, whether or not they have a value for the basis.
    package let points: [TrendPoint]
    package let changes: [Change]
    /// Remarks for the reader, such as on runs without the reference, or on its versions.
    package let remarks: [String]

    /// A smaller change is not reported: no machine is steadier.
    package static let least = DeadBand.least
    private static let seed = Seed(1)

    /// - Parameter points: in the order of time, with ratios to the reference of `basis`.
    package init(test: Case, figure: FigureName, basis: Basis, points: [TrendPoint]) {
        self.test = test
        self.figure = figure
        self.basis = basis
        self.points = points
        let stretches = Self.stretches(points, basis)
        changes = stretches.flatMap { Self.changes(in: $0, of: points, basis, figure) }
        var remarks: [String] = []
        if case .ratio(let reference) = basis {
            let without = points.count { $0.ratio == nil }
            if without > 0 { remarks.append("\(without) of \(points.count) runs have no figure of \(reference)") }
            for (before, after) in zip(stretches, stretches.dropFirst()) {
                guard let last = before.last, let first = after.first else { continue }
                remarks.append(
                    "\(reference) is \(points[last].ratio?.version ?? "") up to \(points[last].run.id), and "
                        + "\(points[first].ratio?.version ?? "") from \(points[first].run.id) on: nothing is claimed "
                        + "across")
            }
        }
        self.remarks = remarks
    }

    /// The value of a point that is compared over time; nil if it has none.
    package func level(_ point: TrendPoint) -> Double? { Self.level(point, basis) }

    private static func level(_ point: TrendPoint, _ basis: Basis) -> Double? {
        let level: Double? =
            switch basis {
            case .ratio: point.ratio?.value
            case .count: point.value
            case .nothing: nil
            }
        return level.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    }

    /// The indexes of points that are comparable with each other: consecutive ones with the same version of the
    /// reference.
    private static func stretches(_ points: [TrendPoint], _ basis: Basis) -> [[Int]] {
        var stretches: [[Int]] = []
        var version: String?
        for (index, point) in points.enumerated() where level(point, basis) != nil {
            let own = point.ratio?.version ?? ""
            if version != own { stretches.append([]) }
            version = own
            stretches[stretches.count - 1].append(index)
        }
        return stretches
    }

    private static func changes(
        in stretch: [Int], of points: [TrendPoint], _ basis: Basis, _ figure: FigureName
    ) -> [Change] {
        var search = ChangePointSearch(least: log(least), seed: seed)
        let levels = stretch.compactMap { level(points[$0], basis).map { log($0) } }
        return search.find(in: levels).map { found in
            let (last, first) = (points[stretch[found.index - 1]], points[stretch[found.index]])
            var step = found.step
            if basis == .count, figure.metric.direction == .lowerIsBetter { step = -step }
            var remarks: [String] = []
            if last.run.machine.isOther(than: first.run.machine) {
                remarks.append("another machine: \(first.run.machine.host), \(first.run.machine.processor)")
            }
            if last.engineVersion != first.engineVersion {
                remarks.append("another version: \(last.engineVersion) before, \(first.engineVersion) after")
            }
            return Change(index: stretch[found.index], factor: exp(step), remarks: remarks)
        }
    }
}

extension Trend {
    /// The runs around the change: the last of the old level and the first of the new one.
    package func neighbours(of change: Change) -> (before: RecordedRun, after: RecordedRun)? {
        guard let before = points[..<change.index].last(where: { level($0) != nil }) else { return nil }
        return (before.run, points[change.index].run)
    }

    /// `12.3 % worse`, `4.1 % better`; for a neutral figure `more` and `less`.
    package func direction(of change: Change) -> String {
        if case .count = basis, figure.metric.direction == .neutral { return change.factor > 1 ? "more" : "less" }
        return change.factor > 1 ? "better" : "worse"
    }
}

extension Machine {
    /// Whether the two have different hardware or file systems. The host name does not count: machines of a CI service
    /// have a new one each time.
    package func isOther(than machine: Machine) -> Bool {
        processor != machine.processor || coreCount != machine.coreCount || memoryBytes != machine.memoryBytes
            || fileSystem != machine.fileSystem
    }
}

extension Trend.Basis {
    /// The default basis of a figure: for a count the count itself, otherwise the ratio to the peer engine that is in
    /// most runs. An engine of the same library is no reference, since both change together. Nor is Strata, whose
    /// changes the trend is to show, nor the model in memory.
    ///
    /// - Parameter references: the engines to which the figure has a ratio, the most frequent first.
    package init(of test: Case, _ figure: FigureName, references: [String]) {
        if Counter(metric: figure.metric.name) != nil {
            self = .count
        } else if let peer = references.first(where: { Self.isPeer($0, of: test.engine) }) {
            self = .ratio(reference: peer)
        } else {
            self = .nothing
        }
    }

    private static func isPeer(_ engine: String, of own: String) -> Bool {
        let library = engine.prefix { $0 != "-" }
        return library != "strata" && library != "model" && library != own.prefix { $0 != "-" }
    }
}
