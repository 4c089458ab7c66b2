import CaseFiles
import Harness
import RunRecords
import Seeds
import StrataEngine
import Testing

@testable import ObjectScenarios

@Suite struct ObjectHistoryScenarioTests {
    private static let scenario = ObjectHistory()

    private static func test(_ parameters: [String: String], seed: UInt64 = 1) -> Case {
        Case(
            scenario: scenario.slug, family: scenario.family, engine: "strata", dataset: "", size: 0,
            parameters: scenario.parameters.map {
                CaseParameter(name: $0.name, value: parameters[$0.name] ?? $0.defaultValue)
            }, seed: Seed(seed), durability: .none)
    }

    private static func run(_ test: Case) throws -> CaseReport {
        try EnginesUnderTest.withDirectory { directory in
            let context = CaseContext(
                test: test, engine: StrataEngine(), source: nil, directory: directory, fixture: nil, deadline: .max)
            try scenario.run(context)
            return context.report
        }
    }

    @Test("any subset of a script is a script, and Strata passes it", arguments: 1...4 as ClosedRange<UInt64>)
    func parts(seed: UInt64) throws {
        var random = RandomStream(Seed(seed))
        let drawn = Self.test(["operations": "150"], seed: seed)
        let whole = try #require(ScriptOperation.list(try Self.scenario.script(of: drawn)))
        #expect(whole.count == 150)
        for round in 0..<5 {
            let part = round == 0 ? whole : whole.filter { _ in random.chance(2, in: 3) }
            let report = try Self.run(drawn.setting("history", to: ScriptOperation.text(of: part)))
            #expect(report.outcomes == [.correct: part.count], "\(part): \(report.causes.gravestFirst)")
        }
    }

    @Test("scripts cover every operation")
    func coverage() throws {
        var actions: Set<String> = []
        for seed in 1...3 as ClosedRange<UInt64> {
            let test = Self.test(["operations": "600"], seed: seed)
            let operations = try #require(ScriptOperation.list(try Self.scenario.script(of: test)))
            actions.formUnion(operations.map(\.action))
            #expect(operations.allSatisfy { Self.scenario.words(of: "\($0)") != nil })
            let end = try Self.played(operations)
            #expect(end.trials.count == 600 && end.trials.allSatisfy { $0.outcome == .correct })
            let tally = end.tally
            #expect(tally.changes > 100 && tally.changeSets > 50 && tally.readsOfDeleted > 50, "\(tally)")
        }
        #expect(actions.count == CardOperation.Kind.allCases.count)
    }

    private static func played(_ operations: [ScriptOperation]) throws -> CardHistory.End {
        try EnginesUnderTest.withDirectory { directory in
            let file = CardFile(path: directory + "/cards.strata", durability: .none, reports: CardReports())
            return try OtherThread.run { CardHistory(file).run(operations, deadline: .max) }
        }
    }

    @Test("a script without an applicable operation is inconclusive")
    func nothing() throws {
        let report = try Self.run(Self.test(["history": "a:delete:3/b:commit/c:watch-card:1:2/d:remove:1:1"]))
        #expect(report.isInconclusive && report.outcomes == [.correct: 4])
    }

    @Test("an observer must report exactly the change")
    func observers() {
        var before = CardModel()
        for id in 1...4 { before.apply(.create(id: id, number: id)) }
        before.apply(.insert(id: 1, other: 2, at: 0))
        before.apply(.insert(id: 1, other: 2, at: 1))
        before.endWrite()
        var after = before
        after.apply(.delete(id: 2))
        after.apply(.rank(id: 4, number: 9))
        let lines = after.rows(.all).map(\.line)
        func objection(_ watch: CardWatch, _ events: [CardEvent]) -> String? {
            watch.objection(to: events, from: before, to: after, titleName: "title")
        }
        func places(_ deletions: [Int], _ modifications: [Int], _ lines: [String]) -> CardEvent {
            .places(PlaceChange(lines, deletions: deletions, insertions: [], modifications: modifications))
        }
        let all = CardWatch.shelf(.all)
        let right = places([1], [0, 3], lines)
        #expect(objection(all, [right]) == nil)
        for wrong in [
            [], [right, right], [places([2], [0, 3], lines)], [places([1], [3], lines)],
            [places([1], [0, 3], lines.reversed())], [.failed("x")],
        ] { #expect(objection(all, wrong) != nil, "\(wrong)") }
        let birth = before.cards[1]?.birth ?? 0
        let list = CardWatch.shelf(.list(owner: 1, birth: birth))
        #expect(objection(list, [places([0, 1], [], [])]) == nil)
        #expect(objection(list, [places([0], [], [])]) != nil)
        #expect(objection(.card(id: 2, birth: before.cards[2]?.birth ?? 0), [.deleted]) == nil)
        #expect(objection(.card(id: 2, birth: before.cards[2]?.birth ?? 0), []) != nil)
        #expect(objection(.card(id: 3, birth: before.cards[3]?.birth ?? 0), []) == nil)
        let four = CardWatch.card(id: 4, birth: before.cards[4]?.birth ?? 0)
        #expect(objection(four, [.properties(["rank from '4' to '9'"])]) == nil)
        #expect(objection(four, [.properties(["rank from '4' to '8'"])]) != nil)
    }

    @Test("unknown operations are refused by name")
    func refused() {
        for (text, message) in [
            ("op-1:renaem:1:2", "did you mean rename?"), ("op-1:rename:1", "rename takes card, number"),
            ("op-1:commit:1", "commit takes no numbers"), ("nonsense", "parted by slashes"),
            ("a:delete:\(1 << 40)", "below 2^40"),
        ] {
            let objection = Self.scenario.objection(to: Self.test(["history": text]))
            #expect(objection?.contains(message) == true, "\(objection ?? "")")
        }
        #expect(Self.scenario.objection(to: Self.test([:])) == nil)
    }
}
