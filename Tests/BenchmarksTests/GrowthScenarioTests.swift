import Files
import Harness
import Measuring
import RunRecords
import StrataEngine
import Testing

@testable import ObjectScenarios
@testable import Scenarios

@Suite struct GrowthScenarioTests {
    /// The outcomes of judging these sizes, one per round, of an engine with a promised bound.
    private static func judged(_ sizes: [Int], warmUp: Int, percent: Int) throws -> [Outcome: Int] {
        try EnginesUnderTest.withDirectory { directory in
            let context = try CaseUnderTest.context(
                ScenarioRunTests.scenario("delete-refill"), on: StrataEngine(), in: directory)
            var course = SizeCourse(step: "rounds")
            for (place, size) in sizes.enumerated() {
                course.note(SizePoint(position: place, fileBytes: size, logBytes: 1_000))
            }
            course.judgePlateau(context, warmUp: warmUp, percent: percent)
            #expect(context.report.details.series.first?.points.count == sizes.count)
            return context.report.outcomes
        }
    }

    @Test("a plateau passes, and a file that grows after its warm-up does not")
    func plateau() throws {
        let megabyte = 1 << 20
        #expect(try Self.judged([1, 10, 10, 10, 11].map { $0 * megabyte }, warmUp: 2, percent: 110) == [.correct: 1])
        #expect(
            try Self.judged([1, 10, 12, 14, 16].map { $0 * megabyte }, warmUp: 2, percent: 110) == [.overSize: 1])
        #expect(try Self.judged([1, 20, 12, 14, 16].map { $0 * megabyte }, warmUp: 2, percent: 110) == [.correct: 1])
        // A small file may double in a step, but no more: the tolerance is not a fixed mebibyte.
        #expect(try Self.judged([45, 45, 90].map { $0 << 10 }, warmUp: 2, percent: 110) == [.correct: 1])
        #expect(try Self.judged([45, 45, 180].map { $0 << 10 }, warmUp: 2, percent: 110) == [.overSize: 1])
    }

    @Test("without a size after the warm-up a plateau is not decided")
    func tooShort() throws {
        #expect(try Self.judged([1, 2], warmUp: 2, percent: 110) == [:])
    }

    @Test("written bytes are judged by their counts only")
    func written() throws {
        try EnginesUnderTest.withDirectory { (directory) throws in
            func judged(_ average: Double?, on engine: any Engine) throws -> CaseReport {
                let place = directory + "/\(engine.name)-\(average ?? -1)"
                try FileTree.createDirectory(place)
                let context = try CaseUnderTest.context(MillionSmallCommits(), on: engine, in: place)
                MillionSmallCommits.judgeWritten(average, limit: 1_000, context, 10)
                return context.report
            }
            #expect(try judged(999, on: StorageEngine()).outcomes == [.correct: 1])
            #expect(try judged(1_001, on: StorageEngine()).outcomes == [.overSize: 1])
            #expect(try judged(0, on: StorageEngine()).isInconclusive)
            #expect(try judged(nil, on: StorageEngine()).outcomes == [:])
            #expect(try judged(5_000, on: EnginesUnderTest.engine("sqlite")).outcomes == [:])
        }
    }

    @Test("an engine without a promised bound is shown and not judged")
    func unpromised() throws {
        let scenario = try ScenarioRunTests.scenario("delete-refill")
        let report = try CaseUnderTest.run(
            scenario, on: EnginesUnderTest.engine("sqlite"), parameters: ["rounds": "3", "bound": "0"])
        #expect(report.outcomes == [.correct: 1])
        #expect(report.messages.contains { $0.contains("promises no bound") })
    }

    @Test("a bound of zero is missed")
    func strict() throws {
        let memory = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("account-switch"), on: StorageEngine(),
            parameters: ["switches": "4", "transactions": "1", "bound": "-1"])
        #expect(memory.outcomes[.hung] == 1)
    }

    @Test("references and observers that pin no version cost no space")
    func idle() throws {
        for scenario in [UnresolvedReference() as any Scenario, ManyListeners()] {
            // On a busy machine some commits may complete before any observer runs.
            var report = CaseReport()
            for commits in [60, 240, 960] {
                report = try CaseUnderTest.run(scenario, on: StrataEngine(), parameters: ["commits": "\(commits)"])
                #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(scenario.slug): \(report.trials)")
                if !report.isInconclusive { break }
            }
            #expect(!report.isInconclusive, "\(report.messages)")
            #expect(report.details.series.count >= 3)
        }
    }

    @Test("a subject is judged between two controls, and is inconclusive if those do not differ")
    func controls() {
        func series(_ mebibytes: Int) -> Series {
            Series(name: "a", step: "commits", points: [SizePoint(fileBytes: mebibytes << 20)])
        }
        func judged(_ size: Int, held: Int) -> CaseReport {
            let report = CaseReport()
            let controls = IdlePins.Controls(alone: series(4), held: series(held))
            IdlePins.judge("pin", series(size), controls: controls, percent: 120, report: report)
            return report
        }
        #expect(judged(8, held: 16).outcomes == [.overSize: 1])
        #expect(judged(5, held: 16).outcomes == [.correct: 1])
        #expect(!judged(5, held: 16).isInconclusive)
        #expect(judged(4, held: 4).isInconclusive)
        let report = CaseReport()
        IdlePins.judgeAlone(series(8), data: 1 << 20, percent: 400, report)
        IdlePins.judgeAlone(series(4), data: 1 << 20, percent: 400, report)
        #expect(report.outcomes == [.overSize: 1, .correct: 1])
    }
}
