import RunRecords

/// RFC 4180: fields with a comma, a quote or a line end are quoted, lines end with CR LF.
///
/// One row per measurement. Every case has at least its `duration_ms`; a case that was not run has a row without a
/// value and the verdict `not-run`. Trials are counted by outcome in rows of the metric `trials`; a trial that is kept
/// in full has a row of its own with its address in `trial`. What tells measurements of a case apart and has no column
/// (rows of the data set, the label of a sample, the place in a series) stands in `params`, as `name=value`.
enum CSVReport {
    static let schemaVersion = "1"

    static let columns = [
        "schema_version", "run_id", "case_id", "shard_index", "shard_total", "commit", "branch", "time", "host", "os",
        "cpu", "engine", "engine_version", "durability", "family", "scenario", "dataset", "params", "fault", "trial",
        "seed", "side", "pair", "metric", "unit", "direction", "kind", "statistic", "value", "ci_low", "ci_high", "n",
        "outcome", "verdict",
    ]

    /// What differs between the rows of a case.
    private struct Row {
        var parameters: String
        var fault = ""
        var trial = ""
        var sample: Sample
        /// nil: the outcome of the case.
        var outcome: Outcome?
    }

    static func text(_ run: Run) -> String {
        var text = line(columns)
        let byID = Dictionary(run.results.map { ($0.test.id, $0) }) { _, last in last }
        for id in run.header.cases + RunDigest.strangers(of: run) {
            if let result = byID[id] {
                for row in rows(result, run.details[id] ?? CaseDetails()) {
                    text += line(fields(row, result, run.header))
                }
            } else {
                text += line(fieldsOfMissing(id, run.header))
            }
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

    private static func rows(_ result: CaseResult, _ details: CaseDetails) -> [Row] {
        let test = result.test
        let parameters = joined([test.dataset.isEmpty ? "" : "size=\(test.size)", test.parameterText])
        let duration = Sample(.durationMilliseconds, Double(result.durationNanoseconds) / 1e6)
        var rows = [Row(parameters: parameters, sample: duration)]
        for sample in result.samples {
            let label = sample.label.isEmpty ? "" : "label=\(sample.label)"
            rows.append(Row(parameters: joined([parameters, label]), sample: sample))
        }
        for entry in result.outcomes {
            let kind = result.isCut || result.hasFreeSchedule ? Metric.Kind.measured : .deterministic
            let metric = Metric("trials", unit: "count", .neutral, kind)
            let sample = Sample(metric, Double(entry.count), statistic: "count", count: entry.count)
            rows.append(Row(parameters: parameters, sample: sample, outcome: entry.outcome))
        }
        for trial in result.trials {
            rows.append(
                Row(
                    parameters: parameters, fault: trial.address.fault, trial: trial.address.text,
                    sample: Sample(.trials, 1, statistic: "count"), outcome: trial.outcome))
        }
        for series in details.series {
            rows += self.rows(series, parameters)
        }
        return rows
    }

    private static func rows(_ series: Series, _ parameters: String) -> [Row] {
        series.points.flatMap { point -> [Row] in
            let place = joined([parameters, "series=\(series.name)", "\(series.step)=\(point.position)"])
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

    private static func fields(_ row: Row, _ result: CaseResult, _ header: RunHeader) -> [String] {
        let test = result.test
        let sample = row.sample
        return [
            schemaVersion, header.id, test.id, "", "", header.commit, header.branch, Figure.time(header.startTime),
            header.machine.host, header.machine.system, header.machine.processor, test.engine, result.engineVersion,
            test.durability.rawValue, test.family.rawValue, test.scenario, test.dataset, row.parameters, row.fault,
            row.trial, test.seed.description, "", "", sample.metric.name, sample.metric.unit,
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

    private static func joined(_ parts: [String]) -> String {
        parts.filter { !$0.isEmpty }.joined(separator: " ")
    }
}
