import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite struct RunOrderTests {
    private func planned(_ scenario: String, _ engine: String, headline: Bool = true) -> PlannedCase {
        PlannedCase(
            test: Case(
                scenario: scenario, family: .workload, engine: engine, dataset: "", size: 0, parameters: [],
                seed: Seed(1), durability: .full),
            weight: 1, verdict: nil, reason: "", isHeadline: headline)
    }

    private func cases(seed: UInt64) -> [PlannedCase] {
        var cases = [
            planned("commit", "a"), planned("commit", "b"), planned("commit", "c"), planned("read", "a"),
            planned("read", "b"), planned("once", "a", headline: false),
        ]
        RunOrder.chooseControls(&cases, seed: Seed(seed))
        return cases
    }

    private func turns(_ cases: [PlannedCase], seed: UInt64 = 5) -> [PlannedTurn] {
        RunOrder.turns(cases, RunOrder.comparisons(cases), rounds: 0..<7, seed: Seed(seed))
    }

    @Test("each round measures every headline case once, and one engine of each comparison twice")
    func roundsAreWhole() {
        let cases = cases(seed: 5)
        #expect(cases[0..<3].count { $0.hasControl } == 1)
        #expect(cases[3..<5].count { $0.hasControl } == 1)
        #expect(!cases[5].hasControl)
        let turns = turns(cases)
        #expect(turns.count == 7 * (3 + 1 + 2 + 1))
        #expect(Set(turns).count == turns.count)
        for round in 0..<7 {
            let own = turns.filter { $0.turn.round == round && cases[$0.index].isHeadline }
            #expect(own.count == 7)
        }
        #expect(RunOrder.once(cases) == [PlannedTurn(index: 5)])
    }

    @Test("within a round the engines of a comparison follow one another directly")
    func comparisonsStayTogether() {
        let cases = cases(seed: 5)
        let turns = turns(cases)
        var changes = 0
        for (before, after) in zip(turns, turns.dropFirst()) {
            let first = cases[before.index].test.scenario
            if first != cases[after.index].test.scenario || before.turn.round != after.turn.round { changes += 1 }
        }
        #expect(changes == 7 * 2 - 1)
    }

    @Test("the seed determines the order: equal seeds give the same, others another, and no engine is always first")
    func orderFollowsTheSeed() {
        let cases = cases(seed: 5)
        let turns = turns(cases)
        #expect(turns == self.turns(cases) && turns != self.turns(cases, seed: 6))
        // A round's order does not depend on earlier measurements, or on other cases in it.
        let later = RunOrder.turns(cases, RunOrder.comparisons(cases), rounds: 3..<7, seed: Seed(5))
        #expect(later == turns.filter { $0.turn.round >= 3 })
        let first = (0..<7).compactMap { round in
            turns.first { $0.turn.round == round && cases[$0.index].test.scenario == "commit" }?.index
        }
        #expect(Set(first).count > 1)
    }

    @Test("the status of a run: harness before violation before undecided, which only required cases cause")
    func exitStatus() {
        func status(_ verdicts: [Verdict], required: [Bool]? = nil, finished: Bool = true) -> Int32 {
            let cases = verdicts.indices.map { planned("s\($0)", "a", headline: false) }.enumerated().map {
                var planned = $0.element
                planned.isRequired = required?[$0.offset] ?? true
                return planned
            }
            var header = RunHeader(
                id: "", plan: "", seed: Seed(1),
                machine: Machine(
                    host: "", system: "", processor: "", coreCount: 1, memoryBytes: 0, fileSystem: "", fsync: .yes,
                    fsyncNanoseconds: 1))
            header.cases = cases.map(\.test.id) + (finished ? [] : ["another"])
            let results = zip(cases, verdicts).map { CaseResult(test: $0.test, verdict: $1) }
            let configuration = RunConfiguration(
                plan: Plan(name: "", file: ""), cases: cases, registries: Registries(),
                directory: RunDirectory(path: ""), executable: "")
            return configuration.exitStatus(Run(header: header, results: results, directory: ""))
        }
        #expect(status([.pass, .known, .unpromised, .notApplicable, .notBuilt]) == 0)
        #expect(status([.inconclusive, .pass]) == 3)
        #expect(status([.inconclusive, .pass], required: [false, true]) == 0)
        #expect(status([.inconclusive], required: [false]) == 3, "nothing was decided")
        #expect(status([.pass], finished: false) == 3)
        #expect(status([.inconclusive, .violation]) == 2)
        #expect(status([.violation, .harnessError, .inconclusive]) == 1)
    }
}
