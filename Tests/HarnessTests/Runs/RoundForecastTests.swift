import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite struct RoundForecastTests {
    private func planned(_ scenario: String, _ engine: String, isHeadline: Bool = true) -> PlannedCase {
        var planned = PlannedCase(
            Case(
                scenario: scenario, family: .workload, engine: engine, dataset: "people", size: 1_000, parameters: [],
                seed: Seed(1), durability: .full))
        planned.isHeadline = isHeadline
        return planned
    }

    private var cases: [PlannedCase] {
        var list = ["short", "long"].flatMap { scenario in
            ["one", "two"].map { planned(scenario, $0) }
        }
        list[0].hasControl = true
        list.append(planned("once", "one", isHeadline: false))
        return list
    }

    /// The seconds of a case. A round of the comparison `short` takes 1 + 1 + 1, one of `long` 5 + 5.
    private func seconds(_ test: Case) -> Double? {
        ["short": 1, "long": 5, "once": 20][test.scenario]
    }

    private func forecast(_ budget: Double?) -> [String: [Int]] {
        let forecast = RoundForecast(cases, rounds: 24, budget: budget, known: seconds)
        return Dictionary(uniqueKeysWithValues: forecast.rows.map { ($0.subject.scenario, [$0.least, $0.most]) })
    }

    @Test("without a bound every comparison has all rounds")
    func unbounded() {
        #expect(forecast(nil) == ["short": [24, 24], "long": [24, 24]])
    }

    @Test("a budget below the first look has the rounds that fit, equally many for all rows")
    func short() {
        #expect(forecast(13 * 4 + 1) == ["short": [4, 4], "long": [4, 4]])
        #expect(forecast(1) == ["short": [0, 0], "long": [0, 0]])
    }

    @Test("single measurements come before further rounds, which the cheapest comparison gets first")
    func further() {
        // The first look and the single measurements take 6 * 13 + 20 s.
        #expect(forecast(98) == ["short": [6, 6], "long": [6, 6]])
        // Nine tenths of 21 s may be used: 18 for six rounds of the short one.
        #expect(forecast(98 + 21) == ["short": [12, 12], "long": [6, 6]])
        // The long one alone could continue, but not beside the short one.
        #expect(forecast(98 + 70) == ["short": [24, 24], "long": [6, 12]])
        #expect(forecast(98 + 10_000) == ["short": [24, 24], "long": [24, 24]])
    }

    @Test("a row tells whether it was measured before, and the time of a round")
    func rows() throws {
        let known = RoundForecast(cases, rounds: 24, budget: 60, known: seconds)
        #expect(known.rows.map(\.seconds) == [3, 10] && known.rows.allSatisfy { !$0.isGuessed && $0.engines == 2 })
        let guessed = RoundForecast(cases, rounds: 24, budget: 60) { $0.engine == "one" ? 1 : nil }
        #expect(guessed.rows.allSatisfy { $0.isGuessed && $0.seconds > 1 })
    }

    @Test("a plan without comparisons has no rows")
    func none() {
        let once = RoundForecast([planned("once", "one", isHeadline: false)], rounds: 24, budget: 60, known: seconds)
        #expect(once.rows.isEmpty)
    }
}
