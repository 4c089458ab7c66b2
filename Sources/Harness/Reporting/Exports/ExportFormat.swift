import RunRecords

/// The export formats for other tools.
package enum ExportFormat: String, Sendable, CaseIterable {
    case junit
    case githubActionBenchmark = "github-action-benchmark"
    case bencher
    case openMetrics = "openmetrics"
    case perfetto
    case hdr
}

/// Which figures of a run are exported: a chart of github-action-benchmark has one direction.
package enum BetterDirection: String, Sendable, CaseIterable {
    case bigger, smaller
}

extension Reporting {
    /// The run in a format that other tools read. Equal runs give equal text.
    ///
    /// - Parameter better: the direction of the exported figures; only for `githubActionBenchmark`.
    package static func export(_ run: Run, as format: ExportFormat, better: BetterDirection = .smaller) -> String {
        let exported = ExportedRun(run)
        switch format {
        case .junit: return RunJUnit(exported: exported).text
        case .githubActionBenchmark: return exported.githubActionBenchmark(better).text + "\n"
        case .bencher: return exported.bencher.text + "\n"
        case .openMetrics: return OpenMetricsExport(exported: exported).text
        case .perfetto: return TraceExport(exported: exported).json.text + "\n"
        case .hdr: return HistogramLog(exported: exported).text
        }
    }
}
