import RunRecords

/// Chooses the few figures of a case by which a report compares engines.
extension RunDigest {
    /// A row per chosen figure that at least two engines have, in plan order.
    func countedRows(_ engines: [String]) -> [MeasureRow] {
        let limits = rawScenarios
        return comparisons.filter { !limits.contains($0.subject.scenario) }.flatMap { comparison in
            let samples = engines.compactMap { comparison.results[$0] }.map { result in
                (result, result.samples.filter { Self.counts($0, result) } + Self.shares(result))
            }
            let measures = Self.unique(samples.flatMap { $0.1.map(Measure.init) })
            return measures.compactMap { measure -> MeasureRow? in
                var row = MeasureRow(subject: comparison.subject, measure: measure, values: [:])
                for (result, list) in samples {
                    if let sample = list.first(where: { Measure($0) == measure }) {
                        row.values[result.test.engine] = (sample, result)
                    }
                }
                // A figure of a single engine cannot be compared.
                return row.values.count > 1 ? row : nil
            }
        }
    }

    private static let always: Set<String> = [
        "rows_per_second", "commits_per_second", "updates_per_second", "objects_per_second", "links_per_second",
        "operation_ns", "open_us", "file_bytes_per_row", "written_bytes_per_update",
        "device_bytes_per_update", "growth_ratio", "longest_wait_ms", "recovery_ms",
    ]

    static func counts(_ sample: Sample, _ result: CaseResult) -> Bool {
        let measure = Measure(sample)
        if measure.isLimit || measure.isOfWholeCase || isRangeOfAnother(sample, result) { return false }
        switch sample.metric.name {
        case "duration_ms": return sample.label.isEmpty
        case "written_bytes_per_commit": return true
        // Without syncs the kernel decides when bytes reach the disk.
        case "device_bytes_per_commit": return result.test.durability == .full
        case "file_bytes": return sample.label == "after"
        case "latency_ns":
            let hasRate = result.samples.contains { always.contains($0.metric.name) && Measure($0).isRate }
            let isTimed = result.samples.contains { $0.metric.name == "operation_ns" || $0.metric.name == "open_us" }
            if isTimed { return false }
            return hasRate ? sample.statistic == "p99" : ["p50", "p99", "p99.9"].contains(sample.statistic)
        default: return always.contains(sample.metric.name)
        }
    }

    /// Whether it is the minimum or maximum of values whose median is a figure as well: the same measurement would
    /// count three times.
    private static func isRangeOfAnother(_ sample: Sample, _ result: CaseResult) -> Bool {
        ["min", "max"].contains(sample.statistic)
            && result.samples.contains {
                $0.statistic == "median" && $0.metric == sample.metric && $0.label == sample.label
            }
    }

    private static let silentlyWrong = Metric("silently_wrong_percent", unit: "%", .lowerIsBetter, .measured)
    private static let killed = Metric("killed_by_a_signal_percent", unit: "%", .lowerIsBetter, .measured)

    /// Figures of a sweep: the shares of trials that returned wrong data silently, and of those that ended the process.
    private static func shares(_ result: CaseResult) -> [Sample] {
        let trials = result.trialCount
        guard result.test.family == .corruption, trials > 1 else { return [] }
        func share(_ outcomes: Set<Outcome>) -> Double {
            let count = result.outcomes.filter { outcomes.contains($0.outcome) }.reduce(0) { $0 + $1.count }
            return Double(count) / Double(trials) * 100
        }
        return [
            Sample(silentlyWrong, share([.silentlyWrong, .lostCommit]), count: trials),
            Sample(killed, share([.crashed]), count: trials),
        ]
    }
}
