import Statistics

/// Processor time that other programs, and other virtual machines of the host, took during a measurement.
///
/// Only the time of the measurement counts, not that before it, such as a build.
package struct Disturbance: Sendable, Hashable {
    /// Processors used by others, on average over the measurement.
    package let processors: Double

    /// nil where the kernel gives no figure, and for a measurement without a duration.
    package init?(_ result: CaseResult) {
        let seconds = Double(result.durationNanoseconds) / 1e9
        func milliseconds(_ metric: String) -> Double? {
            result.samples.first { $0.metric.name == metric && $0.label == "whole case" }?.value
        }
        guard seconds > 0.01, let others = milliseconds("others_cpu_ms") else { return nil }
        processors = (others + (milliseconds("steal_ms") ?? 0)) / 1_000 / seconds
    }

    /// The median over the measurements of a run: a constant load. 0 for none.
    package static func usual(_ results: [CaseResult]) -> Double {
        MedianInterval.median(results.compactMap { Disturbance($0)?.processors })
    }

    /// Whether a measurement had clearly more disturbance than the run's others: it is repeated.
    package func isBeyond(usual: Double) -> Bool { processors > 1.5 * usual + 0.1 }
}

extension Run {
    /// Every measurement with figures; of comparisons each round.
    private var measurements: [CaseResult] {
        results.flatMap { rounds[$0.test.id] ?? [$0] }
    }

    /// A warning about a constant load during this run; nil for less than a tenth of a processor.
    package var loadWarning: String? {
        guard header.measures else { return nil }
        let usual = Disturbance.usual(measurements)
        if usual < 0.1 { return nil }
        let tenths = (usual * 10).rounded() / 10
        return "busy machine: while the cases ran, other programs had \(tenths) of its \(header.machine.coreCount) "
            + "processors; every round had them beside it, so the ratios stand, and absolute figures are lower"
    }
}
