import RunRecords

/// Metrics of these scenarios only.
extension Metric {
    /// Read throughput of memory or of the page cache.
    static let gigabytesPerSecond = Metric("gigabytes_per_second", unit: "GB/s", .higherIsBetter, .measured)
    /// A rate divided by that of the overwrite-and-sync loop, measured before and after in the same process.
    static let rawShare = Metric("raw_share_ratio", unit: "ratio", .higherIsBetter, .measured)
    /// Disks after a crash that were opened, read and judged.
    static let statesPerSecond = Metric("states_per_second", unit: "1/s", .higherIsBetter, .measured)
    /// Disks after a power failure that lack something acknowledged, whether promised or not.
    static let acknowledgedLacking = Metric("disks_lacking_acknowledged", unit: "count", .lowerIsBetter, .measured)
    /// From the call of open to the first value read.
    static let openMicroseconds = Metric("open_us", unit: "us", .lowerIsBetter, .measured)
    /// The longest commit of a case.
    static let longestWait = Metric("longest_wait_ms", unit: "ms", .lowerIsBetter, .measured)
    /// From the call of open to the first value read, after a kill.
    static let recoveryMilliseconds = Metric("recovery_ms", unit: "ms", .lowerIsBetter, .measured)
    /// A size divided by the size before.
    static let growth = Metric("growth_ratio", unit: "ratio", .lowerIsBetter, .measured)
    static let links = Metric("links", unit: "count", .neutral, .deterministic)
    /// Bytes of the file that are in use.
    static let usedBytes = Metric("used_bytes", unit: "bytes", .neutral, .measured)
}
