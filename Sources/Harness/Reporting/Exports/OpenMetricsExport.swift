import Measuring
import RunRecords

/// A run in the text format of OpenMetrics 1.0: a gauge per metric in base units, a histogram of all latencies, and an
/// info metric that describes the run.
struct OpenMetricsExport {
    let exported: ExportedRun

    /// A metric with the name and unit that OpenMetrics requires.
    struct Family: Hashable {
        var name: String
        /// nil if the name does not end with the unit, as in `assay_file_bytes_per_row`.
        var unit: String?
        /// The factor that converts values from the unit of the metric.
        var factor: Double

        private static let seconds = ["ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0]

        init(_ metric: Metric) {
            var words = metric.name.split(separator: "_").map(String.init)
            factor = Self.seconds[metric.unit] ?? 1
            if Self.seconds[metric.unit] != nil {
                if words.last == metric.unit, words.count > 1 { words.removeLast() }
                words.append("seconds")
            }
            name = "assay_" + words.map(Self.plain).joined(separator: "_")
            let unit = Self.seconds[metric.unit] != nil ? "seconds" : metric.unit
            self.unit = ["seconds", "bytes", "ratio"].contains(unit) && name.hasSuffix("_\(unit)") ? unit : nil
        }

        /// A name has letters, digits and underscores.
        private static func plain(_ word: String) -> String {
            String(word.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        }

        func head(_ type: String, _ help: String) -> [String] {
            ["# TYPE \(name) \(type)"] + (unit.map { ["# UNIT \(name) \($0)"] } ?? [])
                + ["# HELP \(name) \(OpenMetricsExport.escaped(help))"]
        }
    }

    var text: String {
        (info + gauges + histograms + ["# EOF"]).map { $0 + "\n" }.joined()
    }

    private var info: [String] {
        let header = exported.run.header
        let labels = Self.labels([
            ("run", header.id), ("plan", header.plan), ("seed", header.seed.description), ("commit", header.commit),
            ("branch", header.branch), ("host", header.machine.host), ("cpu", header.machine.processor),
            ("assay_version", header.assayVersion), ("build", header.buildDigest),
        ])
        return [
            "# TYPE assay_run info", "# HELP assay_run The run that the figures are of.", "assay_run_info\(labels) 1",
        ]
    }

    private var gauges: [String] {
        var order: [Family] = []
        var lines: [Family: [String]] = [:]
        var helps: [Family: String] = [:]
        for (result, sample) in exported.figures {
            let family = Family(sample.metric)
            if lines[family] == nil {
                order.append(family)
                helps[family] = "\(sample.metric.name), \(Self.direction(sample.metric.direction))."
            }
            let labels = Self.labels(
                Self.labels(of: result) + [("statistic", sample.statistic), ("label", sample.label)])
            let value = Figure.exact(sample.value * family.factor)
            lines[family, default: []].append("\(family.name)\(labels) \(value)")
        }
        return order.flatMap { $0.head("gauge", helps[$0] ?? "") + (lines[$0] ?? []) }
    }

    private static func direction(_ direction: Metric.Direction) -> String {
        switch direction {
        case .higherIsBetter: "higher is better"
        case .lowerIsBetter: "lower is better"
        case .neutral: "neither better nor worse"
        }
    }

    private static func labels(of result: CaseResult) -> [(String, String)] {
        let test = result.test
        return [
            ("scenario", test.scenario), ("engine", test.engine), ("engine_version", result.engineVersion),
            ("dataset", test.dataset), ("size", String(test.size)), ("durability", test.durability.rawValue),
            ("params", test.parameterText), ("case", test.id),
        ]
    }

    // MARK: Histograms

    /// The bounds are powers of two, which are bounds of buckets of `Histogram`, too: so each count is exact.
    private var histograms: [String] {
        let name = "assay_latency_distribution_seconds"
        let lines = exported.histograms.flatMap { result, named -> [String] in
            let (histogram, labels) = (named.histogram, Self.labels(of: result) + [("name", named.name)])
            var lines: [String] = []
            var total: UInt64 = 0
            var next = histogram.sparse[...]
            for power in 7...max(7, 64 - histogram.maximum.leadingZeroBitCount) {
                let bound = power < 64 ? (UInt64(1) << UInt64(power)) - 1 : .max
                while let first = next.first, Histogram.bucketBounds(first.index).upperBound <= bound {
                    total += first.count
                    next.removeFirst()
                }
                let all = labels + [("le", Figure.exact(Double(bound) * 1e-9))]
                lines.append("\(name)_bucket\(Self.labels(all)) \(total)")
            }
            return lines + [
                "\(name)_bucket\(Self.labels(labels + [("le", "+Inf")])) \(histogram.count)",
                "\(name)_count\(Self.labels(labels)) \(histogram.count)",
                "\(name)_sum\(Self.labels(labels)) \(Figure.exact(Double(histogram.sum) * 1e-9))",
            ]
        }
        if lines.isEmpty { return [] }
        let head = ["# TYPE \(name) histogram", "# UNIT \(name) seconds", "# HELP \(name) Every latency of a case."]
        return head + lines
    }

    // MARK: Text

    /// Leaves out labels without a value.
    private static func labels(_ labels: [(String, String)]) -> String {
        let shown = labels.filter { !$0.1.isEmpty }.map { "\($0.0)=\"\(escaped($0.1))\"" }
        return shown.isEmpty ? "" : "{\(shown.joined(separator: ","))}"
    }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
