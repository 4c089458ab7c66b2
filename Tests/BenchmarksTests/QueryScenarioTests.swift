import Harness
import Measuring
import RunRecords
import Testing

@testable import Scenarios

@Suite("Scenarios of queries")
struct QueryScenarioTests {
    static let slugs = ["query-nulls", "query-aggregates", "query-order", "query-text", "query-links"]
    static let small = ["rows": "300", "queries": "40"]

    @Test("answers are the naive ones, whoever answers", arguments: slugs, ["strata", "sqlite"])
    func right(slug: String, engine: String) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario(slug), on: try EnginesUnderTest.engine(engine), parameters: Self.small)
        #expect(report.outcomes[.correct, default: 0] >= 20)
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(report.trials)")
        #expect(report.value("operation_ns") != nil)
    }

    /// With such letters in its texts SQLite is asked no pattern: it would call half of a letter a character.
    @Test("patterns are compared with SQLite where no letter has a mark behind it", arguments: ["some", "none"])
    func patterns(marks: String) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("query-text"), on: try EnginesUnderTest.engine("sqlite"),
            parameters: ["rows": "300", "queries": "400", "marks": marks])
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(report.trials)")
        #expect((report.value("operation_ns", label: "like") != nil) == (marks == "none"))
    }

    @Test("the ends of nodes are right", arguments: ["strata", "sqlite"])
    func boundaries(engine: String) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("query-boundaries"), on: try EnginesUnderTest.engine(engine),
            parameters: ["most": "129", "queries": "3"])
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(report.trials)")
    }

    /// Answers as the model does, but for one mistake.
    final class MistakenSession: ProbeSession {
        enum Mistake: String, CaseIterable {
            case nullIsZero, missingRow, wrongOrder, nullIsLost, sumOfOneLess
        }

        private let mistake: Mistake
        private var model = ProbeModel([])
        init(_ mistake: Mistake) { self.mistake = mistake }

        func sizes() throws(EngineError) -> SizePoint { SizePoint(fileBytes: 0) }
        func close() throws(EngineError) {}

        func store(_ rows: [ProbeRow], deleting deleted: [Int64]) throws(EngineError) {
            var rows = rows
            if mistake == .nullIsZero { for place in rows.indices { rows[place].number = rows[place].number ?? 0 } }
            model.store(rows, deleting: deleted)
        }

        func select(_ query: ProbeQuery) throws(EngineError) -> [Int64] {
            let found = model.select(query)
            switch mistake {
            case .missingRow: return Array(found.dropLast())
            case .wrongOrder: return found.reversed()
            case .nullIsZero, .nullIsLost, .sumOfOneLess: return found
            }
        }

        func aggregates(_ column: ProbeColumn, where condition: ProbeCondition) throws(EngineError) -> ProbeAggregates {
            var found = model.aggregates(column, where: condition)
            if mistake == .sumOfOneLess { found.count -= 1 }
            return found
        }

        func readProbes() throws(EngineError) -> [ProbeRow] {
            var rows = model.sorted
            if mistake == .nullIsLost { for place in rows.indices { rows[place].text = rows[place].text ?? "" } }
            return rows
        }
    }

    struct MistakenEngine: Engine {
        let mistake: MistakenSession.Mistake
        let name = "mistaken"
        let version = "1"
        let promises: [Promise] = []
        let capabilities: Set<Capability> = [.probes]

        func settings(for durability: DurabilityClass) -> EngineSettings {
            EngineSettings(durability: durability, list: [])
        }
        func files(at location: DatabaseLocation) -> [DatabaseFile] { [] }
        func open(_ location: DatabaseLocation, settings: EngineSettings) throws(EngineError) -> any Session {
            MistakenSession(mistake)
        }
    }

    @Test(
        "a mistake is seen",
        arguments: zip(
            MistakenSession.Mistake.allCases,
            ["query-nulls", "query-links", "query-order", "query-text", "query-aggregates"]))
    func mistakes(mistake: MistakenSession.Mistake, slug: String) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario(slug), on: MistakenEngine(mistake: mistake), parameters: Self.small)
        #expect(report.outcomes[.silentlyWrong, default: 0] > 0)
    }
}
