import Harness
import RunRecords
import Testing
import Zoo

@testable import Scenarios

/// Scenarios of changed columns, of deletions and of look-ups.
@Suite struct ColumnChangeTests {
    static let engines = EnginesUnderTest.all.filter { $0.capabilities.contains(.columnChanges) }.map(\.name)
    static let asking = EnginesUnderTest.all.filter { $0.capabilities.contains(.probes) }.map(\.name)

    @Test("columns are added, removed, renamed and filled", arguments: engines, ColumnChange.allCases)
    func changes(name: String, change: ColumnChange) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("change-columns"), on: try EnginesUnderTest.engine(name),
            parameters: ["rows": "60", "change": change.rawValue])
        #expect(report.outcomes == [.correct: 2], "\(report.trials)")
        #expect(report.value("duration_ms") ?? 0 > 0)
    }

    @Test("a change that was not made is found", arguments: engines, ColumnChange.allCases)
    func undone(name: String, change: ColumnChange) throws {
        let engine = PlantedEngine.wrap(try EnginesUnderTest.engine(name), .commitMissing)
        #expect(throws: EngineError.self) {
            try CaseUnderTest.run(
                try ScenarioRunTests.scenario("change-columns"), on: engine,
                parameters: ["rows": "60", "change": change.rawValue])
        }
    }

    @Test(
        "a row without its value, and a lost row, are found", arguments: engines,
        [EngineMistake.columnsHalf, .columnsRowLost])
    func mistaken(name: String, mistake: EngineMistake) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("change-columns"),
            on: PlantedEngine.wrap(try EnginesUnderTest.engine(name), mistake),
            parameters: ["rows": "60", "change": "rewrite"])
        #expect(report.outcomes[.silentlyWrong, default: 0] > 0)
    }

    @Test("rows of a query are deleted, with the links to them", arguments: asking, ["linked", "half", "all", "every"])
    func deletions(name: String, what: String) throws {
        let scenario = try ScenarioRunTests.scenario("delete-matching")
        let engine = try EnginesUnderTest.engine(name)
        let parameters = ["rows": "80", "what": what]
        let report = try CaseUnderTest.run(scenario, on: engine, parameters: parameters)
        #expect(report.outcomes == [.correct: 2], "\(report.trials)")
        #expect(report.value("rows") == ["linked": 8, "half": 40][what, default: 80])
        let mistaken = try CaseUnderTest.run(
            scenario, on: PlantedEngine.wrap(engine, .deletionNothing), parameters: parameters)
        #expect(mistaken.outcomes[.silentlyWrong, default: 0] > 0)
    }

    @Test("an index finds its row, or no row", arguments: asking)
    func first(name: String) throws {
        let scenario = try ScenarioRunTests.scenario("indexed-first")
        let engine = try EnginesUnderTest.engine(name)
        let report = try CaseUnderTest.run(scenario, on: engine, parameters: ["rows": "100"])
        #expect(report.outcomes == [.correct: 2], "\(report.trials)")
        let mistaken = try CaseUnderTest.run(
            scenario, on: PlantedEngine.wrap(engine, .wrongRead), parameters: ["rows": "100"])
        #expect(mistaken.outcomes == [.silentlyWrong: 2])
    }

    @Test("a screen has its first rows", arguments: asking)
    func screen(name: String) throws {
        let scenario = try ScenarioRunTests.scenario("first-screen")
        let engine = try EnginesUnderTest.engine(name)
        let report = try CaseUnderTest.run(scenario, on: engine, parameters: ["rows": "100"])
        #expect(report.outcomes == [.correct: 8], "\(report.trials)")
        let mistaken = try CaseUnderTest.run(
            scenario, on: PlantedEngine.wrap(engine, .rowDropped), parameters: ["rows": "100"])
        #expect(mistaken.outcomes[.silentlyWrong, default: 0] >= 6)
    }
}
