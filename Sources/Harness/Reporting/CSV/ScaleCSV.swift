import RunRecords
import Statistics

/// Figures over size for a spreadsheet, with a row per figure, engine and size. The row of an engine's largest size
/// also has the growth since the smallest size, and the exponent over all sizes. RFC 4180.
///
/// `growth` is the factor by which the cost grew, whichever direction of the figure is better; its bounds are empty if
/// there are too few rounds. `beside` is `1` for a data set that is not on the line. `form` is `power`, `bent` or
/// `unknown`. If it is `bent`, no single exponent fits; the row of each size but the smallest has in `local_exponent`
/// the exponent of the stretch that ends there. `shape` is the only growth, such as `n log n`, that the interval
/// contains.
enum ScaleCSV {
    static let columns = [
        "scenario", "dataset", "durability", "params", "metric", "statistic", "label", "unit", "direction", "engine",
        "rows", "file_bytes", "value", "ci_low", "ci_high", "n", "verdict", "beside", "growth", "growth_low",
        "growth_high", "growth_n", "exponent", "exponent_low", "exponent_high", "exponent_n", "form", "shape",
        "local_exponent",
    ]

    /// Empty if the run has no figures over size.
    static func text(_ digest: RunDigest) -> String {
        let figures = digest.scaleFigures
        if figures.isEmpty { return "" }
        var text = CSVReport.line(columns)
        for figure in figures {
            for line in figure.lines {
                for point in line.points {
                    let growth = point.size == line.growth?.largest ? line.growth : nil
                    let law = lawFields(line.law, point.size, isLast: point.size == line.points.last?.size)
                    text += CSVReport.line(
                        fields(figure, line.engine, point: point, growth: growth, isBeside: false, digest: digest) + law
                    )
                }
                if let aside = line.aside {
                    text += CSVReport.line(
                        fields(figure, line.engine, point: aside, growth: nil, isBeside: true, digest: digest)
                            + lawFields(nil, aside.size, isLast: false))
                }
            }
        }
        return text
    }

    private static func lawFields(_ law: PowerLaw?, _ size: Int, isLast: Bool) -> [String] {
        let stretch = law?.stretches.first { $0.to == Double(size) }.map { Figure.exact($0.exponent) } ?? ""
        guard isLast, let law else { return Array(repeating: "", count: 6) + [stretch] }
        return [
            Figure.exact(law.exponent), law.low.map(Figure.exact) ?? "", law.high.map(Figure.exact) ?? "",
            "\(law.count)", law.formName, law.shape?.rawValue ?? "", stretch,
        ]
    }

    private static func fields(
        _ figure: ScaleFigure, _ engine: String, point: ScaleFigure.Point, growth: ScaleFigure.Growth?,
        isBeside: Bool, digest: RunDigest
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

extension Reporting {
    /// Figures over size with their growth; empty unless a scenario ran on several sizes.
    package static func scaleCSV(_ run: Run) -> String {
        ScaleCSV.text(RunDigest(run))
    }
}
