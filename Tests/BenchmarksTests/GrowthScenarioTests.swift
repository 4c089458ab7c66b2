import Harness
import Measuring
import RunRecords
import StrataEngine
import Testing

@testable import ObjectScenarios
@testable import Scenarios

@Suite("Scenarios of growth")
struct GrowthScenarioTests {
    /// A course of sizes as an engine that promises a bound would have them.
    private static func judged(_ sizes: [Int], warmUp: Int, percent: Int) throws -> [Outcome: Int] {
        try EnginesUnderTest.withDirectory { directory in
            let context = try CaseUnderTest.context(
                ScenarioRunTests.scenario("delete-refill"), on: StrataEngine(), in: directory)
            var course = SizeCourse(step: "rounds")
            for (place, size) in sizes.enumerated() {
                course.note(SizePoint(position: place, fileBytes: size, logBytes: 1_000))
            }
            course.judgePlateau(context, warmUp: warmUp, percent: percent)
            #expect(context.report.series.first?.points.count == sizes.count)
            return context.report.outcomes
        }
    }

    @Test("a plateau passes, and a file that grows after its warm-up does not")
    func plateau() throws {
        let megabyte = 1 << 20
        #expect(try Self.judged([1, 10, 10, 10, 11].map { $0 * megabyte }, warmUp: 2, percent: 110) == [.correct: 1])
        #expect(
            try Self.judged([1, 10, 12, 14, 16].map { $0 * megabyte }, warmUp: 2, percent: 110) == [.memoryLimit: 1])
        #expect(try Self.judged([1, 20, 12, 14, 16].map { $0 * megabyte }, warmUp: 2, percent: 110) == [.correct: 1])
    }

    @Test("an engine that promises no bound is shown and not judged")
    func unpromised() throws {
        let scenario = try ScenarioRunTests.scenario("delete-refill")
        let report = try CaseUnderTest.run(
            scenario, on: EnginesUnderTest.engine("sqlite"), parameters: ["rounds": "3", "bound": "0"])
        #expect(report.outcomes == [.correct: 1])
        #expect(report.messages.contains { $0.contains("promises no bound") })
    }

    @Test("a bound of nothing is missed by an engine that promises one")
    func strict() throws {
        let scenario = try ScenarioRunTests.scenario("million-small-commits")
        let report = try CaseUnderTest.run(
            scenario, on: StorageEngine(), parameters: ["commits": "200", "written": "-1"])
        #expect(report.outcomes[.memoryLimit] == 1)
        let memory = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("account-switch"), on: StorageEngine(),
            parameters: ["switches": "4", "transactions": "1", "bound": "-1"])
        #expect(memory.outcomes[.hung] == 1)
    }

    @Test("what holds no version costs nothing, and the same size twice over is seen")
    func idle() throws {
        for scenario in [UnresolvedReference() as any Scenario, ManyListeners()] {
            let report = try CaseUnderTest.run(scenario, on: StrataEngine(), parameters: ["commits": "20"])
            #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(scenario.slug): \(report.trials)")
            #expect(report.series.count >= 2)
        }
        let report = CaseReport()
        let small = Series(name: "a", step: "commits", points: [SizePoint(fileBytes: 4 << 20)])
        let large = Series(name: "b", step: "commits", points: [SizePoint(fileBytes: 8 << 20)])
        IdlePins.judge("pin", large, small, percent: 120, report)
        #expect(report.outcomes == [.memoryLimit: 1])
    }
}
