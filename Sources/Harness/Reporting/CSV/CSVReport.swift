import JSONText
import RunRecords

/// RFC 4180: fields with a comma, a quote or a line end are quoted, lines end with CR LF.
///
/// One row per measurement. A case that was measured once has one row per sample, with `round`, `side` and `pair`
/// empty. A case that ran in rounds has one row per sample of each round. Such a row has the number of the round from
/// 0, its side (`measured`, or `control` for the second run of the same program), and in `pair` the number that it
/// shares with the rows that it is compared with. Further rows, with an empty `round`, combine all rounds: their value
/// is the median, with its interval in `ci_low` and `ci_high` and the number of rounds in `n`.
///
/// Every case has at least its `case_duration_ms`; a case that was not run has a row without a value, with the verdict
/// `not-run`. Rows of the metric `trials` count trials by outcome; a trial that is kept in full also has a row of its
/// own, with its address in `trial`. `params` is a JSON object: the parameters of the case as texts, and values that
/// have no column (`CSVParameters`).
///
/// No two rows are equal in all of case_id, round, side, metric, statistic, label, params, trial and outcome.
enum CSVReport {
    static let schemaVersion = "2"

    static let columns = [
        "schema_version", "run_id", "case_id", "shard_index", "shard_total", "commit", "branch", "time", "host", "os",
        "cpu", "engine", "engine_version", "durability", "family", "scenario", "dataset", "params", "fault", "trial",
        "seed", "round", "side", "pair", "metric", "label", "unit", "direction", "kind", "statistic", "value", "ci_low",
        "ci_high", "n", "outcome", "verdict",
    ]

    /// The fields in which the rows of one case differ.
    fileprivate struct Row {
        var parameters: CSVParameters
        /// nil for the case as a whole.
        var turn: Turn?
        var fault = ""
        var trial = ""
        var sample: Sample
        /// nil for the outcome of the case.
        var outcome: Outcome?
    }

    static func text(_ run: Run) -> String {
        var text = line(columns)
        let byID = Dictionary(run.results.map { ($0.test.id, $0) }) { _, last in last }
        let shards = run.header.shardsByCase
        for id in run.header.cases + RunDigest.strangers(of: run) {
            var header = run.header
            if let shard = shards[id] { (header.machine, header.startTime) = (shard.machine, shard.startTime) }
            guard let result = byID[id] else {
                text += line(fieldsOfMissing(id, header))
                continue
            }
            var seen: [Row.Key: Int] = [:]
            func add(_ rows: [Row], _ result: CaseResult) {
                for var row in rows {
                    let before = seen[row.key(result), default: 0]
                    seen[row.key(result)] = before + 1
                    // Samples or trials of the same name are told apart by a number.
                    if before > 0 { row.parameters.add("repeat", .integer(before + 1)) }
                    text += line(fields(row, result, header))
                }
            }
            let rounds = run.rounds[id] ?? []
            for measurement in rounds { add(rows(measurement, measurement.turn), measurement) }
            add(rounds.isEmpty ? rows(result, nil) : mergedRows(result), result)
            for series in run.details[id]?.series ?? [] { add(rows(series, CSVParameters(result.test)), result) }
        }
        return text
    }

    static func line(_ fields: [String]) -> String {
        fields.map(quoted).joined(separator: ",") + "\r\n"
    }

    static func quoted(_ field: String) -> String {
        guard field.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }) else { return field }
        var text = "\""
        for scalar in field.unicodeScalars {
            if scalar == "\"" { text += "\"" }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }

    // MARK: Rows

    /// The duration of the case with preparation and checks; a scenario's own `duration_ms` excludes them.
    private static let caseDuration = Metric("case_duration_ms", unit: "ms", .lowerIsBetter, .measured)

    private static func rows(_ result: CaseResult, _ turn: Turn?) -> [Row] {
        let parameters = CSVParameters(result.test)
        let duration = Sample(caseDuration, Double(result.durationNanoseconds) / 1e6)
        var rows = ([duration] + result.samples).map { Row(parameters: parameters, turn: turn, sample: $0) }
        for entry in result.outcomes {
            let kind = result.isCut || result.hasFreeSchedule ? Metric.Kind.measured : .deterministic
            let metric = Metric("trials", unit: "count", .neutral, kind)
            let sample = Sample(metric, Double(entry.count), statistic: "count", count: entry.count)
            rows.append(Row(parameters: parameters, turn: turn, sample: sample, outcome: entry.outcome))
        }
        for trial in result.trials {
            rows.append(
                Row(
                    parameters: parameters, turn: turn, fault: trial.address.faultWord, trial: trial.address.text,
                    sample: Sample(.trials, 1, statistic: "count"), outcome: trial.outcome))
        }
        return rows
    }

    /// The rows that combine the rounds of a case. A single value becomes a median; a quantile keeps its name, and is
    /// the median of the quantiles of the rounds.
    private static func mergedRows(_ result: CaseResult) -> [Row] {
        struct Name: Hashable {
            var metric: String
            var label: String
        }
        let medians = Set(
            result.samples.filter { $0.statistic == "median" }.map { Name(metric: $0.metric.name, label: $0.label) })
        return result.samples.map { sample in
            var sample = sample
            let name = Name(metric: sample.metric.name, label: sample.label)
            if sample.statistic == "value", !medians.contains(name) { sample.statistic = "median" }
            return Row(parameters: CSVParameters(result.test), sample: sample)
        }
    }

    private static func rows(_ series: Series, _ parameters: CSVParameters) -> [Row] {
        series.points.flatMap { point -> [Row] in
            var place = parameters
            place.add("series", .string(series.name))
            place.add("step", .string(series.step))
            place.add("position", .integer(point.position))
            let sizes = [
                ("file_bytes", point.fileBytes), ("live_bytes", point.liveBytes), ("free_bytes", point.freeBytes),
                ("log_bytes", point.logBytes),
            ]
            var rows = sizes.compactMap { name, bytes in
                bytes.map {
                    Row(
                        parameters: place,
                        sample: Sample(Metric(name, unit: "bytes", .lowerIsBetter, series.kind), Double($0)))
                }
            }
            if let version = point.oldestPinnedVersion {
                let metric = Metric("oldest_pinned_version", unit: "count", .neutral, series.kind)
                rows.append(Row(parameters: place, sample: Sample(metric, Double(version))))
            }
            return rows
        }
    }

    // MARK: Fields

    private static func fields(_ row: Row, _ result: CaseResult, _ header: RunHeader) -> [String] {
        let test = result.test
        let sample = row.sample
        let round = row.turn.map { String($0.round) } ?? ""
        let side = row.turn.map { $0.side == .control ? "control" : "measured" } ?? ""
        return [
            schemaVersion, header.id, test.id, "", "", header.commit, header.branch, Figure.time(header.startTime),
            header.machine.host, header.machine.system, header.machine.processor, test.engine, result.engineVersion,
            test.durability.rawValue, test.family.rawValue, test.scenario, test.dataset, row.parameters.text, row.fault,
            row.trial, test.seed.description, round, side, round, sample.metric.name, sample.label, sample.metric.unit,
            sample.metric.direction.rawValue, sample.metric.kind.rawValue, sample.statistic,
            Figure.exact(sample.value), sample.low.map(Figure.exact) ?? "", sample.high.map(Figure.exact) ?? "",
            String(sample.count), (row.outcome ?? result.outcome)?.rawValue ?? "", result.verdict.rawValue,
        ]
    }

    private static func fieldsOfMissing(_ id: String, _ header: RunHeader) -> [String] {
        let known = [
            "schema_version": schemaVersion, "run_id": header.id, "case_id": id, "commit": header.commit,
            "branch": header.branch, "time": Figure.time(header.startTime), "host": header.machine.host,
            "os": header.machine.system, "cpu": header.machine.processor, "seed": header.seed.description,
            "verdict": "not-run",
        ]
        return columns.map { known[$0] ?? "" }
    }
}

extension CSVReport.Row {
    /// The columns that differ among the rows of one case.
    fileprivate struct Key: Hashable {
        var turn: Turn?
        var metric: String
        var statistic: String
        var label: String
        var parameters: String
        var trial: String
        var outcome: Outcome?
    }

    fileprivate func key(_ result: CaseResult) -> Key {
        Key(
            turn: turn, metric: sample.metric.name, statistic: sample.statistic, label: sample.label,
            parameters: parameters.text, trial: trial, outcome: outcome ?? result.outcome)
    }
}

extension Reporting {
    /// RFC 4180 with a header line: one row per measurement. The columns are those of `CSVReport.columns`.
    package static func csv(_ run: Run) -> String {
        CSVReport.text(run)
    }

    /// Rows of fields as CSV, by RFC 4180.
    package static func csv(_ rows: [[String]]) -> String {
        rows.map(CSVReport.line).joined()
    }
}
