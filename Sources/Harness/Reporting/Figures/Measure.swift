import RunRecords

/// The kind of a metric, which decides its place in a report.
enum MeasureClass {
    /// Work per time, or time per work.
    case speed
    /// A quantile of a distribution.
    case latency
    /// Bytes in files.
    case size
    /// Memory, processor time, system calls, bytes written, syncs.
    case resource
    /// Counts of work: trials, operations.
    case amount

    /// Whether its figures measure speed; bytes, memory and shares do not.
    var isTime: Bool { self == .speed || self == .latency }
}

/// One figure that a case can have.
struct Measure: Hashable {
    var metric: Metric
    var statistic: String
    var label: String

    init(_ sample: Sample) {
        metric = sample.metric
        statistic = sample.statistic
        label = sample.label
    }

    init(_ name: FigureName) {
        self.init(Sample(name.metric, 0, statistic: name.statistic, label: name.label))
    }

    private static let resources: Set<String> = [
        "peak_rss_bytes", "allocations_per_operation", "allocated_bytes_per_operation", "cpu_ms", "page_faults",
        "read_bytes", "written_bytes", "read_syscalls", "write_syscalls",
    ]
    /// Beginnings of the names of metrics that are costs of an operation other than time: bytes and syncs.
    private static let costs = ["written_bytes_", "device_bytes_", "write_amplification", "sync"]

    var kind: MeasureClass {
        if metric.direction == .neutral, metric.unit == "count" || metric.name == Metric.gridFigure.name {
            return .amount
        }
        if isOfWholeCase || Self.resources.contains(metric.name) { return .resource }
        if Self.costs.contains(where: metric.name.hasPrefix) { return .resource }
        if metric.name.hasPrefix("latency") || isQuantile { return .latency }
        if metric.name.hasPrefix("growth") { return .size }
        switch metric.unit {
        case "1/s", "GB/s", "ns", "us", "ms", "s", "ratio": return .speed
        case "bytes": return .size
        default: return .resource
        }
    }

    /// A limit of the machine, measured beside the engine.
    var isLimit: Bool { label.hasPrefix("raw ") }

    /// Whether it is a cost of the whole worker process, its preparation and checks included.
    var isOfWholeCase: Bool { label == "whole case" }

    /// Whether engines can be ranked by the figure.
    var isCompared: Bool {
        metric.direction != .neutral && !isLimit && metric.name != Metric.emptyLoopNanoseconds.name
    }

    /// Whether charts show the figure: work per time, or the time of one operation.
    var isRate: Bool { metric.direction == .higherIsBetter && metric.unit.hasSuffix("/s") && !isLimit }
    var isOperationTime: Bool { metric.name == Metric.operationNanoseconds.name && !isLimit }

    /// Whether the statistic needs no name: it is a single value or a median.
    private var isPlain: Bool { ["value", "median", "count"].contains(statistic) }

    private var isQuantile: Bool {
        guard statistic.hasPrefix("p"), let digit = statistic.dropFirst().first else { return false }
        return digit.isNumber
    }

    /// `commits/s`, `file bytes per row, read`. Leaves out a unit that stands with the value.
    var words: String {
        if metric.name == Metric.operationNanoseconds.name, isPlain {
            return label.isEmpty ? "per operation" : label
        }
        if metric.unit == "1/s", metric.name.hasSuffix("_per_second"), isPlain {
            return rate + (label.isEmpty ? "" : ", \(label)")
        }
        var words = metric.name.split(separator: "_").map(String.init)
        if ["ns", "us", "ms", "ratio", "percent"].contains(words.last), words.count > 1 { words.removeLast() }
        var text = words.joined(separator: " ")
        if !isPlain { text += " \(statistic)" }
        return label.isEmpty ? text : "\(text), \(label)"
    }
}

extension Measure {
    /// `commits/s`, from `commits_per_second`.
    private var rate: String {
        metric.name.dropLast("_per_second".count).split(separator: "_").joined(separator: " ") + "/s"
    }

    /// The value as text beside `words`, which name the unit of a rate, so that it is left out.
    func text(_ value: Double, gap: String = Figure.gap) -> String {
        metric.unit == "1/s" ? Figure.rounded(value, gap: gap) : Figure.text(value, unit: metric.unit, gap: gap)
    }

    /// The value for a drawing, with prefixes for large numbers: `1.24 G`.
    func shortText(_ value: Double) -> String {
        metric.unit == "1/s" && value >= 99_950 ? Figure.si(value) : text(value)
    }

    /// The larger distance of a bound from the figure: `±4 %`; empty if there is no interval.
    static func spread(_ sample: Sample, gap: String = Figure.gap) -> String {
        guard let low = sample.low, let high = sample.high, sample.value > 0 else { return "" }
        let widest = max(sample.value - low, high - sample.value, 0) / sample.value
        return "\u{B1}" + (widest == 0 ? "0\(gap)%" : Figure.percent(widest, gap: gap))
    }

    /// The value with its unit: `1 180 commits/s`.
    func textAlone(_ value: Double, gap: String = Figure.gap) -> String {
        metric.unit == "1/s" && metric.name.hasSuffix("_per_second")
            ? text(value, gap: gap) + gap + rate : text(value, gap: gap)
    }
}

/// One figure of every engine that has it.
struct MeasureRow {
    var subject: Subject
    var measure: Measure
    /// The samples by engine, each with the case that it comes from.
    var values: [String: (sample: Sample, result: CaseResult)]
}

extension RunDigest {
    /// The figures of a kind and durability class, a row per subject and measure, in plan order. Limits of the machine
    /// are left out.
    func rows(of kind: MeasureClass, _ durability: DurabilityClass) -> [MeasureRow] {
        let limits = rawScenarios
        return comparisons.filter {
            $0.subject.durability == durability && !limits.contains($0.subject.scenario)
        }.flatMap { comparison -> [MeasureRow] in
            let ordered = engines.compactMap { comparison.results[$0] }
            let samples = ordered.flatMap { result in result.samples.filter { !result.repeats($0) } }
            let measures = Self.unique(samples.map(Measure.init)).filter { $0.kind == kind && !$0.isLimit }
            return measures.map { measure in
                var row = MeasureRow(subject: comparison.subject, measure: measure, values: [:])
                for result in ordered {
                    if let sample = result.samples.first(where: { Measure($0) == measure }) {
                        row.values[result.test.engine] = (sample, result)
                    }
                }
                return row
            }
        }
    }

    /// The figures of speed that charts and the terminal show. A rate that only repeats a time per operation is left
    /// out.
    func chartRows(_ durability: DurabilityClass) -> [MeasureRow] {
        struct Timed: Hashable {
            var subject: Subject
            var label: String
        }
        let rows = rows(of: .speed, durability).filter { $0.measure.isRate || $0.measure.isOperationTime }
        let timed = Set(
            rows.filter(\.measure.isOperationTime).map { Timed(subject: $0.subject, label: $0.measure.label) })
        return rows.filter { row in
            row.measure.metric.name != Metric.operationsPerSecond.name
                || !timed.contains(Timed(subject: row.subject, label: row.measure.label))
        }
    }

    /// The main figure of a case: work per second, or else the time per operation, the median latency, or the size.
    func headline(_ result: CaseResult) -> Sample? {
        let samples = result.samples
        func first(_ kind: MeasureClass, _ direction: Metric.Direction) -> Sample? {
            samples.first { Measure($0).kind == kind && $0.metric.direction == direction }
        }
        return samples.first { Measure($0).isRate }
            ?? samples.first { $0.metric.name == Metric.operationNanoseconds.name }
            ?? samples.first { Measure($0).kind == .latency && $0.statistic == "p50" }
            ?? first(.size, .lowerIsBetter) ?? first(.speed, .lowerIsBetter)
    }
}

extension CaseResult {
    /// Whether the sample is a minimum or maximum that equals the value beside it, so that it adds nothing.
    func repeats(_ sample: Sample) -> Bool {
        guard ["min", "max"].contains(sample.statistic) else { return false }
        return self.samples.contains { (other: Sample) in
            guard other.statistic != sample.statistic, other.value == sample.value else { return false }
            guard other.metric == sample.metric, other.label == sample.label else { return false }
            return ["value", "median"].contains(other.statistic)
                || sample.statistic == "max" && other.statistic == "min"
        }
    }
}
