import Statistics

/// What other programs, and other machines of the same hypervisor, took from a measurement.
///
/// Looked at while the measurement ran: what the machine did before it, as its own build, says nothing.
package struct Disturbance: Sendable, Hashable {
    /// Processors that others had, on average over the measurement.
    package let processors: Double

    /// nil where the kernel does not tell, and for what took no time.
    package init?(_ result: CaseResult) {
        let seconds = Double(result.durationNanoseconds) / 1e9
        func milliseconds(_ metric: String) -> Double? {
            result.samples.first { $0.metric.name == metric && $0.label == "whole case" }?.value
        }
        guard seconds > 0.01, let others = milliseconds("others_cpu_ms") else { return nil }
        processors = (others + (milliseconds("steal_ms") ?? 0)) / 1_000 / seconds
    }

    /// The middle of what the measurements of a run had beside them: a load that is always there. 0 for none.
    package static func usual(_ results: [CaseResult]) -> Double {
        MedianInterval.median(results.compactMap { Disturbance($0)?.processors })
    }

    /// Whether a measurement had clearly more beside it than the run's others: it is made once more.
    package func isBeyond(usual: Double) -> Bool { processors > 1.5 * usual + 0.1 }
}

extension Run {
    /// Every measurement with figures, those of comparisons round by round.
    private var measurements: [CaseResult] {
        results.flatMap { rounds[$0.test.id] ?? [$0] }
    }

    /// A constant load that figures of this run stood beside, in words; nil for less than a tenth of a processor.
    package var loadWarning: String? {
        guard header.measures else { return nil }
        let usual = Disturbance.usual(measurements)
        if usual < 0.1 { return nil }
        let tenths = (usual * 10).rounded() / 10
        return "busy machine: while the cases ran, other programs had \(tenths) of its \(header.machine.coreCount) "
            + "processors; every round had them beside it, so the ratios stand, and absolute figures are lower"
    }
}
