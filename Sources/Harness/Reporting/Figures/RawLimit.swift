import RunRecords

/// The limit of the machine, which it reaches without an engine.
extension RunDigest {
    /// The label of the rate at which 4 KiB are overwritten and synced, in its own scenario and beside the commits of
    /// an engine.
    static let rawOverwrite = "overwrite and sync"

    /// The upper bound for a single writer that syncs once per commit: synced overwrites of 4 KiB per second. It was
    /// measured beside the commits of this subject, or else by its own scenario, or else before the first case. nil if
    /// it does not apply.
    func rawLimit(_ row: MeasureRow) -> Double? {
        guard row.measure.metric.name == Metric.commitsPerSecond.name, row.subject.durability == .full else {
            return nil
        }
        let beside = row.values.values.compactMap { entry in
            entry.result.samples.first { $0.label == "raw \(Self.rawOverwrite)" }?.value
        }
        if !beside.isEmpty { return beside.reduce(0, +) / Double(beside.count) }
        return row.values.values.lazy.compactMap { self.rawOverwritesPerSecond(beside: $0.result) }.first
    }

    /// Synced overwrites of 4 KiB per second, on the machine on which the case ran.
    func rawOverwritesPerSecond(beside result: CaseResult) -> Double? {
        let measured = rawResults.lazy.filter { self.isMeasuredTogether($0, result) }.flatMap(\.samples).first {
            $0.label == Self.rawOverwrite && $0.metric.unit == "1/s"
        }
        if let measured, measured.value > 0 { return measured.value }
        let nanoseconds = machine(of: result.test.id).fsyncNanoseconds
        return nanoseconds > 0 ? 1e9 / Double(nanoseconds) : nil
    }

    /// Scenarios that measure the machine itself, recognized by their metrics.
    static func rawScenarios(_ results: [CaseResult]) -> Set<String> {
        Set(results.filter { $0.samples.contains { $0.label == rawOverwrite } }.map(\.test.scenario))
    }
}
