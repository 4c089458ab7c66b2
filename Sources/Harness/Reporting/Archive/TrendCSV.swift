import RunRecords

/// A trend for programs: RFC 4180, a row per run.
enum TrendCSV {
    static let columns = [
        "run_id", "time", "commit", "branch", "host", "cpu", "assay_version", "build_digest", "case_id", "engine",
        "engine_version", "metric", "label", "statistic", "unit", "direction", "value", "ci_low", "ci_high",
        "reference", "reference_version", "ratio", "ratio_low", "ratio_high", "pairs", "change",
    ]

    /// `change`: the factor to the old level (above 1 is better) at the first run of a new level, empty elsewhere.
    static func text(_ trend: Trend) -> String {
        var text = CSVReport.line(columns)
        let (test, metric) = (trend.test, trend.figure.metric)
        for (index, point) in trend.points.enumerated() {
            let run = point.run
            func exact(_ value: Double?) -> String { value.map(Figure.exact) ?? "" }
            let change = trend.changes.first { $0.index == index }
            text += CSVReport.line([
                run.id, Figure.time(run.startTime), run.commit, run.branch, run.machine.host, run.machine.processor,
                run.assayVersion, run.buildDigest, test.id, test.engine, point.engineVersion, metric.name,
                trend.figure.label, trend.figure.statistic, metric.unit, metric.direction.rawValue,
                exact(point.value), exact(point.low), exact(point.high), point.ratio?.reference ?? "",
                point.ratio?.version ?? "", exact(point.ratio?.value), exact(point.ratio?.low),
                exact(point.ratio?.high), point.ratio.map { String($0.pairCount) } ?? "", exact(change?.factor),
            ])
        }
        return text
    }
}

extension Reporting {
    /// RFC 4180 with a header line: a row per run.
    package static func csv(_ trend: Trend) -> String { TrendCSV.text(trend) }
}
