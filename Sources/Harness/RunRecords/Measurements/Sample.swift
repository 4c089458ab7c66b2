import JSONText

/// A measured quantity: its name is words with the unit last, as in the CSV columns.
package struct Metric: Hashable, Sendable {
    package enum Direction: String, JSONForm, Sendable {
        case higherIsBetter = "higher"
        case lowerIsBetter = "lower"
        /// A figure for the amount of work, such as the number of trials.
        case neutral
    }

    /// Whether equal seed, plan and binary give an equal value again.
    package enum Kind: String, JSONForm, Sendable {
        case deterministic, measured
    }

    package var name: String
    package var unit: String
    package var direction: Direction
    package var kind: Kind

    package init(_ name: String, unit: String, _ direction: Direction, _ kind: Kind) {
        self.name = name
        self.unit = unit
        self.direction = direction
        self.kind = kind
    }

    /// Whether it is a duration or a rate.
    package var isSpeed: Bool { Self.speedUnits.contains(unit) }

    private static let speedUnits: Set<String> = ["1/s", "GB/s", "ns", "us", "ms", "s", "instructions"]

    package static let rowsPerSecond = Metric("rows_per_second", unit: "1/s", .higherIsBetter, .measured)
    package static let commitsPerSecond = Metric("commits_per_second", unit: "1/s", .higherIsBetter, .measured)
    package static let updatesPerSecond = Metric("updates_per_second", unit: "1/s", .higherIsBetter, .measured)
    package static let operationsPerSecond = Metric("operations_per_second", unit: "1/s", .higherIsBetter, .measured)
    package static let linksPerSecond = Metric("links_per_second", unit: "1/s", .higherIsBetter, .measured)
    package static let objectsPerSecond = Metric("objects_per_second", unit: "1/s", .higherIsBetter, .measured)
    /// Time per operation of a batch, in which no clock is read.
    package static let operationNanoseconds = Metric("operation_ns", unit: "ns", .lowerIsBetter, .measured)
    package static let emptyLoopNanoseconds = Metric("empty_loop_ns", unit: "ns", .lowerIsBetter, .measured)
    package static let latencyNanoseconds = Metric("latency_ns", unit: "ns", .lowerIsBetter, .measured)
    package static let durationMilliseconds = Metric("duration_ms", unit: "ms", .lowerIsBetter, .measured)
    package static let fairness = Metric("fairness_ratio", unit: "ratio", .higherIsBetter, .measured)
    package static let fileBytes = Metric("file_bytes", unit: "bytes", .lowerIsBetter, .measured)
    package static let fileBytesPerRow = Metric("file_bytes_per_row", unit: "bytes", .lowerIsBetter, .measured)
    package static let liveBytes = Metric("live_bytes", unit: "bytes", .neutral, .measured)
    /// Bytes that the engine wrote to its files by write calls, per commit.
    package static let writtenBytesPerCommit = Metric(
        "written_bytes_per_commit", unit: "bytes", .lowerIsBetter, .measured)
    package static let syncsPerCommit = Metric("syncs_per_commit", unit: "count", .lowerIsBetter, .measured)
    package static let allocationsPerOperation = Metric(
        "allocations_per_operation", unit: "count", .lowerIsBetter, .measured)
    package static let allocatedBytesPerOperation = Metric(
        "allocated_bytes_per_operation", unit: "bytes", .lowerIsBetter, .measured)
    package static let peakResidentBytes = Metric("peak_rss_bytes", unit: "bytes", .lowerIsBetter, .measured)
    package static let processorMilliseconds = Metric("cpu_ms", unit: "ms", .lowerIsBetter, .measured)
    package static let pageFaults = Metric("page_faults", unit: "count", .lowerIsBetter, .measured)
    package static let readBytes = Metric("read_bytes", unit: "bytes", .lowerIsBetter, .measured)
    package static let writtenBytes = Metric("written_bytes", unit: "bytes", .lowerIsBetter, .measured)
    package static let readSystemCalls = Metric("read_syscalls", unit: "count", .lowerIsBetter, .measured)
    package static let writeSystemCalls = Metric("write_syscalls", unit: "count", .lowerIsBetter, .measured)
    /// The share of the pages of a database's files that the page cache had when a clock started.
    package static let residentShare = Metric("resident_share", unit: "ratio", .neutral, .measured)
    package static let trials = Metric("trials", unit: "count", .neutral, .deterministic)
    package static let operations = Metric("operations", unit: "count", .neutral, .deterministic)
    package static let rows = Metric("rows", unit: "count", .neutral, .deterministic)
}

/// One figure of a case.
package struct Sample: Hashable, Sendable {
    package var metric: Metric
    /// One of `count`, `mean`, `median`, `p50` .. `p99.99`, `max`; `value` for a single figure.
    package var statistic: String
    package var value: Double
    /// The bounds of the confidence interval, if the statistic has one.
    package var low: Double?
    package var high: Double?
    /// The number of measurements behind the value.
    package var count: Int
    /// Distinguishes samples of one metric within a case: `read`, `write`, `thread 3`. Empty for most.
    package var label: String

    package init(
        _ metric: Metric, _ value: Double, statistic: String = "value", count: Int = 1, label: String = "",
        low: Double? = nil, high: Double? = nil
    ) {
        self.metric = metric
        self.statistic = statistic
        self.value = value
        self.low = low
        self.high = high
        self.count = count
        self.label = label
    }
}

extension Sample: JSONRecord {
    package static let blank = Sample(Metric("", unit: "", .neutral, .measured), .nan)

    /// Older builds wrote a value that is not finite as null.
    package static let fields: [JSONField<Sample>] = [
        .member("metric", \.metric.name), .member("unit", \.metric.unit), .member("direction", \.metric.direction),
        .member("kind", \.metric.kind), .member("statistic", \.statistic), .lenient("value", \.value),
        .member("n", \.count), .sparse("label", \.label), .member("ci_low", \.low), .member("ci_high", \.high),
    ]
}
