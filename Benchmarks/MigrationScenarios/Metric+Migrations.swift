import RunRecords

/// Metrics of these scenarios only.
extension Metric {
    static let combinations = Metric("combinations", unit: "count", .neutral, .measured)
    static let divergences = Metric("divergences", unit: "count", .neutral, .measured)
    /// The duration of a comparison.
    static let reconcileMilliseconds = Metric("reconcile_ms", unit: "ms", .lowerIsBetter, .measured)
    /// Sums and hashes that a comparison examined.
    static let comparedSteps = Metric("compared_steps", unit: "count", .lowerIsBetter, .measured)
    /// The time of a batch that goes to both stores, divided by that of a batch that goes to one.
    static let twiceOverOnce = Metric("twice_over_once", unit: "ratio", .lowerIsBetter, .measured)
    static let batchMicroseconds = Metric("batch_us", unit: "us", .lowerIsBetter, .measured)
    /// The time of an import, divided by that of `sqlite3 .dump | sqlite3`.
    static let importOverDump = Metric("import_over_dump", unit: "ratio", .lowerIsBetter, .measured)
}
