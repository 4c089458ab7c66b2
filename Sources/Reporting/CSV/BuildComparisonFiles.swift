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
        .object([
            JSONMember("format", .string(BuildComparison.format)), JSONMember("header", comparison.header.json),
            JSONMember("a", json(comparison.a)), JSONMember("b", json(comparison.b)),
            JSONMember("pairs", .integer(comparison.pairs)), JSONMember("threshold", .real(comparison.threshold)),
            JSONMember("confirms", .bool(comparison.confirms)),
            JSONMember("cases", .array(comparison.cases.map(json))),
            JSONMember(
                "refused",
                .array(
                    comparison.refused.map {
                        .object([JSONMember("test", $0.test.json), JSONMember("reason", .string($0.reason))])
                    })),
        ])
    }

    private static func json(_ side: BuildComparison.Side) -> JSONValue {
        .object([
            JSONMember("path", .string(side.path)), JSONMember("revision", .string(side.revision)),
            JSONMember("assay", .string(side.build.version)), JSONMember("build", side.build.json),
        ])
    }

    private static func json(_ compared: ComparedCase) -> JSONValue {
        .object([
            JSONMember("case", .string(compared.test.id)), JSONMember("test", compared.test.json),
            JSONMember("finding", .string(compared.finding.rawValue)), JSONMember("reason", .string(compared.reason)),
            JSONMember(
                "batches",
                .array(
                    compared.batches.map {
                        .object([
                            JSONMember("judged", json($0.judged)), JSONMember("others", .array($0.others.map(json))),
                        ])
                    })),
        ])
    }

    private static func json(_ figure: ComparedFigure) -> JSONValue {
        var members = [
            JSONMember("metric", .string(figure.name.metric.name)),
            JSONMember("unit", .string(figure.name.metric.unit)),
            JSONMember("direction", .string(figure.name.metric.direction.rawValue)),
            JSONMember("statistic", .string(figure.name.statistic)), JSONMember("label", .string(figure.name.label)),
            JSONMember("median_a", .real(figure.medianA)), JSONMember("median_b", .real(figure.medianB)),
        ]
        if let measured = figure.measured { members.append(JSONMember("measured", json(measured))) }
        if let control = figure.control { members.append(JSONMember("control", json(control))) }
        return .object(members)
    }

    private static func json(_ comparison: SideComparison) -> JSONValue {
        .object([
            JSONMember("ratio", .real(comparison.ratio)), JSONMember("low", .real(comparison.low)),
            JSONMember("high", .real(comparison.high)), JSONMember("confidence", .real(SideComparison.confidence)),
            JSONMember("pairs", .integer(comparison.pairCount)),
            JSONMember("finding", .string(comparison.finding.rawValue)),
            JSONMember("smallest_visible", .real(comparison.smallestVisible)),
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
