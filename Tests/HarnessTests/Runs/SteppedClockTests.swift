import Measuring
import RunRecords
import Seeds
import Testing

@testable import Harness

/// A clock that went back for one reading once gave a latency of 584 years, with status 0.
@Suite struct SteppedClockTests {
    private func failure(_ metric: String, unit: String, _ value: Double, statistic: String = "max") -> String? {
        var result = CaseResult(
            test: Case(
                scenario: "point-read", family: .workload, engine: "memory", dataset: "", size: 0, parameters: [],
                seed: Seed(1), durability: .full), verdict: .pass)
        var sample = Sample(Metric(metric, unit: unit, .lowerIsBetter, .measured), value)
        sample.statistic = statistic
        result.samples = [sample]
        let end = WorkerEnd(
            report: nil, unreadable: nil, end: .exited(0), stopped: nil, standardError: "",
            durationNanoseconds: 2_000_000_000)
        return CaseJudge.clockFailure(end, result)
    }

    @Test("a time longer than its case is a harness error, named with its figure")
    func steps() {
        #expect(failure("latency_ns", unit: "ns", 1.8446744e19)?.contains("latency_ns max") == true)
        #expect(failure("latency_ns", unit: "ns", 3e9)?.contains("the whole case took 2") == true)
        #expect(failure("duration_ms", unit: "ms", 3_000, statistic: "value") != nil)
    }

    @Test("times within the case, and figures other than times, are accepted")
    func sound() {
        #expect(failure("latency_ns", unit: "ns", 1.99e9) == nil)
        #expect(failure("duration_ms", unit: "ms", 2_005) == nil, "two processes do not look at the same moment")
        #expect(failure("file_bytes", unit: "bytes", 1e18) == nil)
        #expect(failure("cpu_ns_per_row", unit: "ns", 1e18) == nil)
    }
}
