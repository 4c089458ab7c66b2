import Measuring
import RunRecords
import Seeds
import Testing

/// Every report once began with the warning of a busy machine: the load of the preceding build was attributed to the
/// run.
@Suite struct DisturbanceTests {
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

    @Test("the processor share of others is computed over a measurement, with stolen time")
    func processors() throws {
        #expect(try #require(Disturbance(result(others: 1_000))).processors == 0.5)
        #expect(try #require(Disturbance(result(others: 1_000, steal: 1_000))).processors == 1)
        #expect(Disturbance(result(others: nil)) == nil)
    }

    @Test("a measurement with clearly more foreign load than the others is repeated, a constant load is not")
    func beyond() throws {
        let quiet = [0, 20, 40, 60, 80].map { result(others: $0) }
        let usual = Disturbance.usual(quiet)
        #expect(try quiet.allSatisfy { try !#require(Disturbance($0)).isBeyond(usual: usual) })
        #expect(try #require(Disturbance(result(others: 500))).isBeyond(usual: usual))
        let busy = Disturbance.usual((0..<5).map { _ in result(others: 2_000) })
        #expect(try !#require(Disturbance(result(others: 2_600))).isBeyond(usual: busy))
    }

    @Test("a run reports a permanent load, but not one before it or a single one")
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
