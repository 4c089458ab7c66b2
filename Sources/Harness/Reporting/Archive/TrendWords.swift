import Files
import RunRecords

/// The wording of trends, shared by the terminal and the pages.
struct TrendWords {
    let trend: Trend

    /// The title with the names that a command takes: `operation_ns median of point-read  strata  people 2000`.
    var title: String { "\(trend.figure.text) of \(trend.test.title)" }

    /// The title in the words of a report.
    var pageTitle: String {
        let test = trend.test
        let parts = [test.scenario, RunDigest.datasetText(Subject(test)), test.parameterText].filter { !$0.isEmpty }
        return "\(figureWords) of \(test.engine) in \(parts.joined(separator: ", "))"
    }

    /// The figure as a report names it: `commits/s`, `latency p99`.
    var figureWords: String { Measure(trend.figure).words }

    /// Which numbers are searched for changes, and why.
    var basis: String {
        switch trend.basis {
        case .ratio(let reference): "how many times as good as \(reference) in the same run; above 1 is better"
        case .count: "a count: it needs no reference"
        case .nothing:
            "no engine stands beside it in these runs: times of two runs do not compare, and no change is claimed"
        }
    }

    /// The formatted figure of a point.
    func value(_ point: TrendPoint, gap: String = Figure.gap) -> String {
        Figure.text(point.value, unit: trend.figure.metric.unit, gap: gap)
    }

    /// `2.1× as slow as sqlite, 1.9 to 2.2`; empty if the run has no ratio.
    func ratio(_ point: TrendPoint) -> String {
        guard case .ratio = trend.basis, let ratio = point.ratio else { return "" }
        return [Self.words(ratio, trend.figure), Self.beside(ratio).interval].compactMap { $0 }.joined(separator: ", ")
    }

    private static func beside(_ ratio: RecordedRatio) -> FigureRatio {
        FigureRatio(value: ratio.value, peer: ratio.reference, low: ratio.low, high: ratio.high)
    }

    /// `2.1× as slow as sqlite`.
    static func words(_ ratio: RecordedRatio, _ figure: FigureName) -> String {
        beside(ratio).shortWithPeer(Measure(figure))
    }

    /// `12 % worse`.
    func step(_ change: Trend.Change, gap: String = Figure.gap) -> String {
        let fraction = change.factor > 1 ? change.factor - 1 : 1 - change.factor
        return "\(Figure.percent(fraction, gap: gap)) \(trend.direction(of: change))"
    }

    /// `12 % worse from 20261123-.. on (1a2b3c); the last before it is 20261122-.. (9f8e7d)`, and what else changed.
    func sentence(_ change: Trend.Change, gap: String = Figure.gap) -> String {
        guard let (before, after) = trend.neighbours(of: change) else { return step(change, gap: gap) }
        let sentence =
            "\(step(change, gap: gap)) from \(after.id) on (\(after.shortCommit)); the last before it is \(before.id) "
            + "(\(before.shortCommit))"
        return ([sentence] + change.remarks).joined(separator: "; ")
    }

    /// The style of a change: `ahead`, `behind`, or `open` for one that is neither better nor worse.
    func tone(_ change: Trend.Change) -> String {
        switch trend.direction(of: change) {
        case "worse": "behind"
        case "better": "ahead"
        default: "open"
        }
    }

    func style(_ change: Trend.Change) -> String { "t-\(tone(change))" }

    /// The command that finds the commit; nil if a commit is unknown, or the figure did not become worse.
    func command(_ change: Trend.Change) -> String? {
        guard let (before, after) = trend.neighbours(of: change), trend.direction(of: change) == "worse",
            !before.commit.isEmpty, !after.commit.isEmpty, before.commit != after.commit, trend.basis != .count
        else { return nil }
        let test = trend.test
        var words = [
            "assay", "bisect", "--good", before.shortCommit, "--bad", after.shortCommit, test.scenario, "--engine",
            test.engine,
        ]
        if !test.dataset.isEmpty { words += ["--dataset", test.dataset] }
        if test.size > 0 { words += ["--size", String(test.size)] }
        for parameter in test.parameters { words += ["--param", "\(parameter.name)=\(parameter.value)"] }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }
}
