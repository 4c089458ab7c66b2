import Measuring
import RunRecords
import Seeds
import Testing

/// Every report began with the warning of a busy machine: the load of the build before the run was taken for its own.
@Suite("Disturbance")
struct DisturbanceTests {
    private func result(others: Double?, steal: Double = 0, seconds: Double = 2, _ scenario: String = "a") -> CaseResult
    {
        var result = CaseResult(
            test: Case(
                scenario: scenario, family: .workload, engine: "memory", dataset: "", size: 0, parameters: [],
                seed: Seed(1), durability: .full), verdict: .pass)
        result.durationNanoseconds = UInt64(seconds * 1e9)
        func add(_ name: String, _ value: Double) {
            result.samples.append(
                Sample(Metric(name, unit: "ms", .neutral, .measured), value, label: "whole case"))
        }
        if let others {
            add("others_cpu_ms", others)
            add("steal_ms", steal)
        }
        return result
    }

    @Test("what others had of the processors is told by the time of a measurement, with what the hypervisor took")
    func processors() throws {
        #expect(try #require(Disturbance(result(others: 1_000))).processors == 0.5)
        #expect(try #require(Disturbance(result(others: 1_000, steal: 1_000))).processors == 1)
        #expect(Disturbance(result(others: nil)) == nil)
    }

    @Test("a measurement that had clearly more beside it than the others is one to repeat, a constant load is not")
    func beyond() throws {
        let quiet = [0, 20, 40, 60, 80].map { result(others: $0) }
        let usual = Disturbance.usual(quiet)
        #expect(try quiet.allSatisfy { try !#require(Disturbance($0)).isBeyond(usual: usual) })
        #expect(try #require(Disturbance(result(others: 500))).isBeyond(usual: usual))
        let busy = Disturbance.usual((0..<5).map { _ in result(others: 2_000) })
        #expect(try !#require(Disturbance(result(others: 2_600))).isBeyond(usual: busy))
    }

    @Test("a run names a load that was there all the time, and none that was there before it or once")
    func warning() {
        var header = RunHeader(
            id: "", plan: "", seed: Seed(1),
            machine: Machine(
                host: "", system: "", processor: "", coreCount: 2, memoryBytes: 0, fileSystem: "", fsync: .yes,
                fsyncNanoseconds: 1))
        func warning(_ others: [Double]) -> String? {
            let results = others.enumerated().map { result(others: $0.element, "s\($0.offset)") }
            header.cases = results.map(\.test.id)
            return Run(header: header, results: results, directory: "").loadWarning
        }
        #expect(warning([20, 40, 30]) == nil)
        #expect(warning([20, 40, 3_000]) == nil)
        #expect(warning([2_000, 2_100, 1_900])?.contains("1.0 of its 2 processors") == true)
        header.measures = false
        #expect(warning([2_000, 2_100, 1_900]) == nil)
    }
}
