import RunRecords
import Seeds

/// The results that are equal for two runs with equal seed, plan, binary and libraries, as text that can be compared
/// byte by byte.
///
/// Cases are ordered by id, not by when they ended. The text leaves out the machine, times, messages, and everything
/// that is marked as measured. How far a case gets within its budget depends on the machine: of a cut case the text
/// says only that it was cut. Of a case whose threads run freely it has the state of each promise, without causes and
/// counts.
enum DeterministicReport {
    static func text(_ run: Run) -> String {
        let header = run.header
        var lines = [
            "format assay-deterministic/1", "assay \(header.assayVersion)", "plan \(header.plan)",
            "seed \(header.seed)",
            "build \(header.isReleaseBuild ? "release" : "debug")",
        ]
        lines += header.engines.map { "engine \($0.name) \($0.version)" }.sorted()
        lines += header.notBuilt.map { "not-built \($0.name)" }.sorted()
        let byID = Dictionary(run.results.map { ($0.test.id, $0) }) { _, last in last }
        let ids = Set(header.cases).union(byID.keys).sorted()
        lines.append("cases \(ids.count)")
        for id in ids {
            lines.append("")
            lines.append("case \(id)")
            if let result = byID[id] {
                lines += self.lines(result, run.details[id] ?? CaseDetails()).map { "  " + $0 }
            } else {
                lines.append("  not run")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(_ result: CaseResult, _ details: CaseDetails) -> [String] {
        var lines = [result.test.canonicalText, "engine-version \(result.engineVersion)"]
        lines += result.settings.map { "setting \($0.name) = \($0.value)" }
        lines.append("verdict \(result.verdict.rawValue)")
        if result.isCut {
            return (lines + ["cut by its budget: counts depend on the machine"]).map(oneLine)
        }
        lines.append("outcome \(result.outcome?.rawValue ?? "none")")
        lines += result.promises.map {
            "promise \($0.kind.isEmpty ? "-" : $0.kind) \($0.concern.rawValue) \($0.state.rawValue)"
        }.sorted()
        if !result.hasFreeSchedule {
            lines += result.causes.map { "cause \($0.outcome.rawValue) \($0.count) \($0.example) \($0.text)" }
            lines += result.outcomes.map { "trials \($0.outcome.rawValue) \($0.count)" }
            lines += result.trials.map { trial in
                "trial \(trial.address) \(trial.outcome.rawValue)"
                    + (trial.signal.map { " signal \($0)" } ?? "") + (trial.detail.isEmpty ? "" : " " + trial.detail)
            }
            if !details.trialCodes.isEmpty {
                let codes = details.trialCodes.map(String.init).joined(separator: ",")
                lines.append("trial-codes \(StableHash.identifier(of: codes))")
            }
        }
        lines += result.samples.filter { $0.metric.kind == .deterministic }.map(line)
        for series in details.series where series.kind == .deterministic {
            lines.append("series \(series.name) by \(series.step)")
            lines += series.points.map(line)
        }
        return lines.map(oneLine)
    }

    private static func line(_ sample: Sample) -> String {
        "sample \(sample.metric.name) \(sample.metric.unit) \(sample.statistic) "
            + (sample.label.isEmpty ? "" : "[\(sample.label)] ") + "\(Figure.exact(sample.value)) n=\(sample.count)"
    }

    private static func line(_ point: SizePoint) -> String {
        func text(_ value: Int?) -> String { value.map(String.init) ?? "-" }
        return "point \(point.position) \(point.fileBytes) \(text(point.liveBytes)) \(text(point.freeBytes)) "
            + "\(point.logBytes) \(text(point.oldestPinnedVersion))"
    }

    /// Escapes line ends, so that a message cannot look like several lines.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": line += "\\n"
            case "\r": line += "\\r"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}

extension Reporting {
    /// The facts that equal seed, plan, binary and libraries determine: equal text on every machine, after a merge, and
    /// in whatever order the cases ran.
    package static func deterministic(_ run: Run) -> String {
        DeterministicReport.text(run)
    }
}
