import Statistics

/// The processor time that other programs, and other virtual machines of the host, took during a measurement.
///
/// The time before the measurement does not count: a build that just ended is no disturbance.
package struct Disturbance: Sendable, Hashable {
    /// The number of processors that others used, on average over the measurement.
    package let processors: Double

    /// nil if the kernel gives no figure, and for a measurement without a duration.
    package init?(_ result: CaseResult) {
        let seconds = Double(result.durationNanoseconds) / 1e9
        func milliseconds(_ metric: String) -> Double? {
            result.samples.first { $0.metric.name == metric && $0.label == "whole case" }?.value
        }
        guard seconds > 0.01, let others = milliseconds("others_cpu_ms") else { return nil }
        processors = (others + (milliseconds("steal_ms") ?? 0)) / 1_000 / seconds
    }

    /// The median over the measurements of a run, which is that of a constant load. 0 if there are none.
    package static func usual(_ results: [CaseResult]) -> Double {
        MedianInterval.median(results.compactMap { Disturbance($0)?.processors })
    }

    /// Whether a measurement was clearly more disturbed than is usual in its run: the runner then repeats its round.
    package func isBeyond(usual: Double) -> Bool { processors > 1.5 * usual + 0.1 }
}

extension Run {
    /// Every measurement that has figures; for a comparison, each round.
    private var measurements: [CaseResult] {
        results.flatMap { rounds[$0.test.id] ?? [$0] }
    }

    /// A warning about a constant load during this run; nil if that was below a tenth of a processor.
    package var loadWarning: String? {
        guard header.measures else { return nil }
        let usual = Disturbance.usual(measurements)
        if usual < 0.1 { return nil }
        let tenths = (usual * 10).rounded() / 10
        return "busy machine: while the cases ran, other programs had \(tenths) of its \(header.machine.coreCount) "
            + "processors; every round had them beside it, so the ratios stand, and absolute figures are lower"
    }
}
