import RunRecords

/// Figures that these scenarios alone have.
extension Metric {
    /// How fast bytes come from memory or from the page cache.
    static let gigabytesPerSecond = Metric("gigabytes_per_second", unit: "GB/s", .higherIsBetter, .measured)
    /// A rate over that of the overwrite-and-sync loop, measured before and after in the same process.
    static let rawShare = Metric("raw_share_ratio", unit: "ratio", .higherIsBetter, .measured)
    /// Disks after a crash that were opened, read and judged.
    static let statesPerSecond = Metric("states_per_second", unit: "1/s", .higherIsBetter, .measured)
    /// From the call that opens to the first value read.
    /// Disks after a loss of power on which something acknowledged is missing, whether that was promised or not.
    static let acknowledgedLacking = Metric("disks_lacking_acknowledged", unit: "count", .lowerIsBetter, .measured)
    static let openMicroseconds = Metric("open_us", unit: "us", .lowerIsBetter, .measured)
    /// The longest of all commits of a case.
    static let longestWait = Metric("longest_wait_ms", unit: "ms", .lowerIsBetter, .measured)
    /// From the call that opens to the first value read, after a kill.
    static let recoveryMilliseconds = Metric("recovery_ms", unit: "ms", .lowerIsBetter, .measured)
    /// A size over the size before.
    static let growth = Metric("growth_ratio", unit: "ratio", .lowerIsBetter, .measured)
    static let links = Metric("links", unit: "count", .neutral, .deterministic)
    /// Digest of what was read; equal on every engine.
    static let usedBytes = Metric("used_bytes", unit: "bytes", .neutral, .measured)
}
