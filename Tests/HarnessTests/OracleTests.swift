import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite("DamageOracle")
struct DamageOracleTests {
    private func judge(_ fault: MemoryEngine.Fault) -> Outcome {
        let engine = MemoryEngine(fault: fault, data: SmallData.tables)
        return DamageOracle.judge(
            engine: engine, settings: engine.settings(for: .full), location: DatabaseLocation(directory: "/none"),
            expected: SmallData.tables
        ).outcome
    }

    @Test("what an engine does is classed by when it spoke, and by whether what it gave before was right")
    func classes() {
        #expect(judge(.none) == .correct)
        #expect(judge(.damagedAtOpen) == .detectedAtOpen)
        #expect(judge(.refusedAtOpen) == .refused)
        #expect(judge(.damagedAfter(rows: 2)) == .detectedAtRead)
        #expect(judge(.wrongValue(row: 1)) == .silentlyWrong)
        #expect(judge(.missingLast) == .silentlyWrong)
        #expect(judge(.wrongThenDamaged(row: 0)) == .silentlyWrong, "a wrong value before the error is not excused")
    }

    @Test("an empty answer to a full table is wrong")
    func empty() {
        let engine = MemoryEngine()
        let result = DamageOracle.judge(
            engine: engine, settings: engine.settings(for: .full), location: DatabaseLocation(directory: "/none"),
            expected: SmallData.tables)
        #expect(result.outcome == .silentlyWrong)
        #expect(result.detail == "Person: row 0 and those after it are missing")
    }

    @Test("a flipped sign of zero is seen")
    func signOfZero() {
        #expect(!FullReadComparison.isSame(.real(0), .real(-0.0)))
        #expect(FullReadComparison.isSame(.real(.nan), .real(.nan)))
    }
}

@Suite("ExactOracle")
struct ExactOracleTests {
    @Test("digests of point reads, queries and walks are those of the data")
    func digests() {
        let oracle = ExactOracle(SmallData.tables)
        var expected = ReadDigest()
        expected.add(text: "bob")
        expected.add(real: -0.0)
        #expect(oracle.digest(PointReads(table: "Person", keys: [1, 99], columns: ["name", "score"])) == expected)
        #expect(oracle.countEqual(table: "Person", column: "name", text: "ann") == 2)
        let forward = Traversal(
            table: "Person", column: "dogs", direction: .forward, rows: [0, 1, 2], property: "age")
        #expect(oracle.digest(forward).sum == 7 + 9 + 8 + 8)
        #expect(oracle.digest(forward).count == 4)
        let backward = Traversal(table: "Person", column: "dogs", direction: .backward, rows: [1], property: "id")
        #expect(oracle.digest(backward).sum == 2 + 2)
        #expect(oracle.digest(backward).count == 2)
    }

    @Test("updates and deletions are seen by the reads after them")
    func changes() {
        var oracle = ExactOracle(SmallData.tables)
        oracle.update(table: "Person", column: "id", keys: [2], values: [40])
        oracle.delete(table: "Person", keys: [0])
        #expect(oracle.digest(PointReads(table: "Person", keys: [0, 2], columns: ["id"])).sum == 40)
        #expect(oracle.countEqual(table: "Person", column: "name", text: "ann") == 1)
        #expect(oracle.tables["Person"]?.liveCount == 2)
    }
}

@Suite("CounterHistory")
struct CounterHistoryTests {
    @Test("a final value below the acknowledged increments is a lost update, above the attempted an invention")
    func finalValue() {
        var history = CounterHistory(initial: 100)
        history.add([
            .init(.increment(acknowledged: true), start: 1, end: 2),
            .init(.increment(acknowledged: true), start: 1, end: 3),
            .init(.increment(acknowledged: false), start: 4, end: 5),
        ])
        let outcomes = (101...104).map { history.judge(final: $0).outcome }
        #expect(outcomes == [.lostCommit, .correct, .correct, .silentlyWrong])
    }

    @Test("a read sees what was acknowledged before it began, and nothing that was not attempted before it ended")
    func reads() {
        func judge(_ value: Int64) -> Outcome {
            var history = CounterHistory()
            history.add([
                .init(.increment(acknowledged: true), start: 1, end: 2),
                .init(.read(value: value), start: 5, end: 8),
                .init(.increment(acknowledged: true), start: 6, end: 9),
                .init(.increment(acknowledged: true), start: 10, end: 11),
            ])
            return history.judge(final: 3).outcome
        }
        #expect((0...3).map { judge($0) } == [.silentlyWrong, .correct, .correct, .silentlyWrong])
    }
}

@Suite("VerdictRule")
struct VerdictRuleTests {
    private struct Probe: Scenario {
        let slug = "probe"
        let family = Family.corruption
        let question = "?"
        let requires: Set<Capability> = []
        var accepts: Set<Outcome> = Outcome.honest
        var expects: Promise.Kind? = .detectsDamage
        func run(_ context: CaseContext) throws {}
    }

    private static let test = Case(
        scenario: "probe", family: .corruption, engine: "memory", dataset: "", size: 0, parameters: [], seed: Seed(1),
        durability: .full)

    private func judge(
        _ outcome: Outcome, promises: [Promise.Kind], expects: Promise.Kind? = .detectsDamage,
        known: [KnownViolation] = []
    ) -> Verdict {
        let engine = MemoryEngine(promises: promises.map { Promise($0, sentence: "it says so", source: "manual") })
        let counts = [OutcomeCount(outcome: .correct, count: 5), OutcomeCount(outcome: outcome, count: 1)]
        return VerdictRule(known: known).judge(
            counts, test: Self.test, scenario: Probe(expects: expects), engine: engine
        ).verdict
    }

    @Test("a wrong outcome is a violation only of what was promised")
    func promises() {
        #expect(judge(.detectedAtRead, promises: []) == .pass)
        #expect(judge(.silentlyWrong, promises: []) == .unpromised)
        #expect(judge(.silentlyWrong, promises: [.detectsDamage]) == .violation)
        #expect(judge(.silentlyWrong, promises: [], expects: nil) == .violation)
        #expect(judge(.silentlyWrong, promises: [.survivesDamage]) == .unpromised)
        #expect(judge(.crashed, promises: [.survivesDamage]) == .violation)
        #expect(judge(.hung, promises: [.survivesDamage]) == .violation)
        #expect(judge(.crashed, promises: []) == .unpromised)
    }

    @Test("a violation that is listed is known; one that is not listed beside it stays a violation")
    func known() {
        let entry = KnownViolation(scenario: "probe", engine: "memory", outcome: .silentlyWrong, reason: "because")
        #expect(judge(.silentlyWrong, promises: [.detectsDamage], known: [entry]) == .known)
        #expect(judge(.crashed, promises: [.detectsDamage], known: [entry]) == .violation)
        let other = KnownViolation(
            scenario: "probe", engine: "memory", outcome: .silentlyWrong, dataset: "people", reason: "because")
        #expect(judge(.silentlyWrong, promises: [.detectsDamage], known: [other]) == .violation)
    }
}
