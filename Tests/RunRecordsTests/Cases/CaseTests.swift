import Seeds
import Testing

@testable import RunRecords

@Suite struct CaseTests {
    static let example = Case(
        scenario: "bulk-insert", family: .workload, engine: "strata", dataset: "people", size: 1_000,
        parameters: [CaseParameter(name: "b", value: "2"), CaseParameter(name: "a", value: "1")], seed: Seed(7),
        durability: .full)

    @Test("the id is the same in every run and on every machine")
    func idIsStable() {
        // Fixed values: a change would orphan every stored result.
        #expect(Self.example.id == "bcd5f3fa8d73")
    }

    @Test("the id does not depend on the order in which parameters are given")
    func parametersAreSorted() {
        var other = Case(
            scenario: "bulk-insert", family: .workload, engine: "strata", dataset: "people", size: 1_000,
            parameters: [CaseParameter(name: "a", value: "1"), CaseParameter(name: "b", value: "2")], seed: Seed(7),
            durability: .full)
        #expect(other.id == Self.example.id)
        #expect(other.parameterText == "a=1 b=2")
        other.seed = Seed(8)
        #expect(other.id != Self.example.id)
    }

    @Test("every field changes the id")
    func fieldsMatter() {
        var ids: Set<String> = [Self.example.id]
        func insert(_ change: (inout Case) -> Void) {
            var test = Self.example
            change(&test)
            ids.insert(test.id)
        }
        insert { $0.scenario = "commit" }
        insert { $0.engine = "sqlite" }
        insert { $0.dataset = "dpkg" }
        insert { $0.size = 1_001 }
        insert { $0.durability = .none }
        insert { $0.seed = Seed(9) }
        #expect(ids.count == 7)
        #expect(ids.allSatisfy { $0.utf8.count == 12 })
    }

    @Test("random choices stay below their bound, and a permutation contains every index once")
    func randomChoices() {
        var random = RandomStream(Seed(3))
        for _ in 0..<1_000 { #expect((0..<7).contains(random.below(7))) }
        #expect(random.permutation(of: 100).sorted() == Array(0..<100))
        var again = RandomStream(Seed(3))
        var other = RandomStream(Seed(3))
        #expect((0..<5).map { _ in again.next() } == (0..<5).map { _ in other.next() })
    }

    @Test("the random stream is splitmix64 as published")
    func splitMixVector() {
        // First outputs for the state 1234567, from the algorithm's description.
        var random = RandomStream(Seed(1_234_567))
        #expect(random.next() == 6_457_827_717_110_365_317)
        #expect(random.next() == 3_203_168_211_198_807_973)
    }

    @Test("codes of outcomes are part of the format")
    func outcomeCodes() {
        let expected: [Outcome: UInt8] = [
            .correct: 1, .detectedAtOpen: 2, .detectedAtRead: 3, .repaired: 4, .fellBack: 5, .lostCommit: 6,
            .silentlyWrong: 7, .refused: 8, .crashed: 9, .hung: 10, .memoryLimit: 11, .overSize: 12,
        ]
        for outcome in Outcome.allCases {
            #expect(outcome.code == expected[outcome])
            #expect(Outcome(code: outcome.code) == outcome)
        }
        #expect(Outcome(code: 0) == nil)
    }
}
