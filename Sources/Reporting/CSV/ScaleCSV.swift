import RunRecords

/// Figures over size for a spreadsheet: a row per figure, engine and size, and in the row of an engine's largest size
/// its growth since the smallest. RFC 4180.
///
/// `growth` is how many times as dear the figure is, whichever direction it has; its bounds are empty where it was
/// measured in too few rounds. `beside` is `1` for a data set that stands beside the line.
enum ScaleCSV {
    static let columns = [
        "scenario", "dataset", "durability", "params", "metric", "statistic", "label", "unit", "direction", "engine",
        "rows", "file_bytes", "value", "ci_low", "ci_high", "n", "verdict", "beside", "growth", "growth_low",
        "growth_high", "growth_n",
    ]

    /// Empty where the run has no figure over size.
    static func text(_ digest: RunDigest) -> String {
        let figures = digest.scaleFigures
        if figures.isEmpty { return "" }
        var text = CSVReport.line(columns)
        for figure in figures {
            for line in figure.lines {
                for point in line.points {
                    let growth = point.size == line.growth?.largest ? line.growth : nil
                    text += CSVReport.line(fields(figure, line.engine, point, growth, isBeside: false, digest))
                }
                if let aside = line.aside {
                    text += CSVReport.line(fields(figure, line.engine, aside, nil, isBeside: true, digest))
                }
            }
        }
        return text
    }

    private static func fields(
        _ figure: ScaleFigure, _ engine: String, _ point: ScaleFigure.Point, _ growth: ScaleFigure.Growth?,
        isBeside: Bool, _ digest: RunDigest
    ) -> [String] {
        let test = point.result.test
        let (measure, sample) = (figure.measure, point.sample)
        let bytes = digest.fileBytes(engine, dataset: test.dataset, size: test.size)
        return [
            test.scenario, test.dataset, test.durability.rawValue, CSVParameters(test).text, measure.metric.name,
            measure.statistic, measure.label, measure.metric.unit, measure.metric.direction.rawValue, engine,
            "\(point.size)", bytes.map(Figure.exact) ?? "", Figure.exact(sample.value),
            sample.low.map(Figure.exact) ?? "", sample.high.map(Figure.exact) ?? "", "\(sample.count)",
            point.result.verdict.rawValue, isBeside ? "1" : "", growth.map { Figure.exact($0.factor) } ?? "",
            (growth?.low).map(Figure.exact) ?? "", (growth?.high).map(Figure.exact) ?? "",
            growth.map { "\($0.pairCount)" } ?? "",
        ]
    }
}
