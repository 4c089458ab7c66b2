import JSONText
import RunRecords
import Seeds
import Statistics

/// A comparison of two builds for programs: every measurement as tidy CSV, the findings as JSON.
enum BuildComparisonFiles {
    static let schemaVersion = "1"

    static let columns = [
        "schema_version", "run_id", "case_id", "time", "host", "os", "cpu", "engine", "engine_version", "durability",
        "family", "scenario", "dataset", "size", "params", "seed", "batch", "round", "side", "position", "place",
        "metric", "label", "unit", "direction", "kind", "statistic", "value", "n", "verdict",
    ]

    /// A row per figure of each measurement.
    static func csv(_ measurements: [SideMeasurement], header: RunHeader) -> String {
        var text = CSVReport.line(columns)
        for measurement in measurements {
            for sample in measurement.result.samples { text += CSVReport.line(fields(sample, measurement, header)) }
        }
        return text
    }

    private static func fields(_ sample: Sample, _ measurement: SideMeasurement, _ header: RunHeader) -> [String] {
        let result = measurement.result
        let test = result.test
        let parameters = JSONValue.object(test.parameters.map { JSONMember($0.name, .string($0.value)) })
        return [
            schemaVersion, header.id, test.id, Figure.time(header.startTime), header.machine.host,
            header.machine.system, header.machine.processor, test.engine, result.engineVersion,
            test.durability.rawValue, test.family.rawValue, test.scenario, test.dataset, String(test.size),
            parameters.text, test.seed.description, String(measurement.batch), String(measurement.round),
            measurement.side.rawValue, String(measurement.position), measurement.place, sample.metric.name,
            sample.label, sample.metric.unit, sample.metric.direction.rawValue, sample.metric.kind.rawValue,
            sample.statistic, Figure.exact(sample.value), String(sample.count), result.verdict.rawValue,
        ]
    }

    static func json(_ comparison: BuildComparison) -> JSONValue {
        let refused = comparison.refused.map { refused in
            JSONValue.members([("test", refused.test.json), ("reason", refused.reason.json)])
        }
        return .members([
            ("format", BuildComparison.format.json), ("header", comparison.header.json), ("a", json(comparison.a)),
            ("b", json(comparison.b)), ("pairs", comparison.pairs.json), ("threshold", comparison.threshold.json),
            ("confirms", comparison.confirms.json), ("cases", comparison.cases.map(json).json),
            ("refused", refused.json),
        ])
    }

    private static func json(_ side: BuildComparison.Side) -> JSONValue {
        .members([
            ("path", side.path.json), ("revision", side.revision.json), ("assay", side.build.version.json),
            ("build", side.build.json),
        ])
    }

    private static func json(_ compared: ComparedCase) -> JSONValue {
        let batches = compared.batches.map { batch in
            JSONValue.members([("judged", json(batch.judged)), ("others", batch.others.map(json).json)])
        }
        return .members([
            ("case", compared.test.id.json), ("test", compared.test.json), ("finding", compared.finding.rawValue.json),
            ("reason", compared.reason.json), ("batches", batches.json),
        ])
    }

    private static func json(_ figure: ComparedFigure) -> JSONValue {
        let name = figure.name
        let members: [(String, JSONValue?)] = [
            ("metric", name.metric.name.json), ("unit", name.metric.unit.json),
            ("direction", name.metric.direction.json), ("statistic", name.statistic.json), ("label", name.label.json),
            ("median_a", figure.medianA.json), ("median_b", figure.medianB.json),
            ("measured", figure.measured.map(json)), ("control", figure.control.map(json)),
        ]
        return .members(members.compactMap { name, value in value.map { (name, $0) } })
    }

    private static func json(_ comparison: SideComparison) -> JSONValue {
        .members([
            ("ratio", comparison.ratio.json), ("low", comparison.low.json), ("high", comparison.high.json),
            ("confidence", SideComparison.confidence.json), ("pairs", comparison.pairCount.json),
            ("finding", comparison.finding.rawValue.json), ("smallest_visible", comparison.smallestVisible.json),
        ])
    }
}

extension Reporting {
    /// For a terminal of `width` columns.
    package static func terminal(_ comparison: BuildComparison, width: Int, colour: Bool) -> String {
        BuildComparisonText(comparison: comparison, width: width, colour: colour).text
    }

    /// One self-contained document: the verdict, every interval as a drawing and in a table, and what was left out.
    package static func html(_ comparison: BuildComparison) -> String {
        BuildComparisonPage(comparison: comparison).text
    }

    /// RFC 4180: a row per figure of each measurement.
    package static func csv(_ measurements: [SideMeasurement], of comparison: BuildComparison) -> String {
        BuildComparisonFiles.csv(measurements, header: comparison.header)
    }

    /// All findings without the raw measurements: `ab.json`.
    package static func json(_ comparison: BuildComparison) -> JSONValue {
        BuildComparisonFiles.json(comparison)
    }
}
