import Harness
import Measuring
import RunRecords
import Testing

@testable import Scenarios

@Suite struct QueryScenarioTests {
    static let slugs = ["query-nulls", "query-aggregates", "query-order", "query-text", "query-links"]
    static let small = ["rows": "300", "queries": "40"]

    @Test("every engine gives the answers of the naive model", arguments: slugs, ["strata", "sqlite"])
    func right(slug: String, engine: String) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario(slug), on: try EnginesUnderTest.engine(engine), parameters: Self.small)
        #expect(report.outcomes[.correct, default: 0] >= 20)
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(report.trials)")
        #expect(report.value("operation_ns") != nil)
    }

    /// SQLite is not asked for patterns with combining marks, since it would match half a character.
    @Test("patterns are compared with SQLite unless a letter has a combining mark", arguments: ["some", "none"])
    func patterns(marks: String) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("query-text"), on: try EnginesUnderTest.engine("sqlite"),
            parameters: ["rows": "300", "queries": "400", "marks": marks])
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(report.trials)")
        #expect((report.value("operation_ns", label: "like") != nil) == (marks == "none"))
    }

    @Test("answers are right at the boundaries of nodes", arguments: ["strata", "sqlite"])
    func boundaries(engine: String) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("query-boundaries"), on: try EnginesUnderTest.engine(engine),
            parameters: ["most": "129", "queries": "3"])
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(report.trials)")
    }

    /// Answers like the model, except for one mistake.
    final class MistakenSession: ProbeSession {
        enum Mistake: String, CaseIterable {
            case nullIsZero, missingRow, wrongOrder, nullIsLost, sumOfOneLess
            case nanIsAll, zerosDiffer, leastIsLost, shortTexts, sumWithoutInserted
        }

        private let mistake: Mistake
        private var model = ProbeModel([])
        /// The rows of the first transaction.
        private var first: Set<Int64>?
        init(_ mistake: Mistake) { self.mistake = mistake }

        func sizes() throws(EngineError) -> SizePoint { SizePoint(fileBytes: 0) }
        func close() throws(EngineError) {}

        func store(_ rows: [ProbeRow], deleting deleted: [Int64]) throws(EngineError) {
            var rows = rows
            if mistake == .nullIsZero { for place in rows.indices { rows[place].number = rows[place].number ?? 0 } }
            model.store(rows, deleting: deleted)
            if first == nil { first = Set(rows.map(\.id)) }
        }

        /// Whether a mistaken comparison matches the row; nil for a correct one.
        private func takes(_ id: Int64, _ condition: ProbeCondition) -> Bool? {
            guard let row = model.rows[id] else { return nil }
            switch (mistake, condition) {
            case (.nanIsAll, .compare(.real, .lessOrEqual, .real(let real))) where real.isNaN: return row.real != nil
            case (.zerosDiffer, .compare(.indexedReal, .equal, .real(0))):
                return row.real.map { $0 == 0 && $0.sign == .plus } ?? false
            case (.leastIsLost, .compare(.number, .lessOrEqual, .integer)) where row.number == .min: return false
            case (.shortTexts, .text(.text, .equal, let text, isFolded: false)) where text.utf8.count == 64:
                return row.text.map { $0.utf8.count == 64 && $0.utf8.dropLast().elementsEqual(text.utf8.dropLast()) }
            default: return nil
            }
        }

        func select(_ query: ProbeQuery) throws(EngineError) -> [Int64] {
            let found = model.select(query)
            switch mistake {
            case .missingRow: return Array(found.dropLast())
            case .wrongOrder: return found.reversed()
            case .nanIsAll, .zerosDiffer, .leastIsLost, .shortTexts:
                let right = Set(found)
                return model.rows.keys.sorted().filter { takes($0, query.condition) ?? right.contains($0) }
            case .nullIsZero, .nullIsLost, .sumOfOneLess, .sumWithoutInserted: return found
            }
        }

        func aggregates(_ column: ProbeColumn, where condition: ProbeCondition) throws(EngineError) -> ProbeAggregates {
            var found = model.aggregates(column, where: condition)
            if mistake == .sumOfOneLess { found.count -= 1 }
            if mistake == .sumWithoutInserted, condition == .and([]) {
                let before = ProbeModel(model.sorted.filter { first?.contains($0.id) == true })
                found.sum = before.aggregates(column, where: condition).sum
            }
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
        "a mistake is found",
        arguments: zip(
            MistakenSession.Mistake.allCases,
            [
                "query-nulls", "query-links", "query-order", "query-text", "query-aggregates", "query-nulls",
                "query-nulls", "query-nulls", "query-text", "query-aggregates",
            ]))
    func mistakes(mistake: MistakenSession.Mistake, slug: String) throws {
        let report = try CaseUnderTest.run(
            try ScenarioRunTests.scenario(slug), on: MistakenEngine(mistake: mistake), parameters: Self.small)
        #expect(report.outcomes[.silentlyWrong, default: 0] > 0)
    }
}
