import Testing

@testable import Harness

@Suite struct NextRoundsTests {
    private static func comparison(_ number: Int, figures: Int, seconds: Double) -> NextRounds.Comparison {
        NextRounds.Comparison(cases: [number, number + 1], openFigures: figures, roundSeconds: seconds)
    }

    @Test("without a budget every open comparison continues") func withoutBudget() {
        let open = [Self.comparison(0, figures: 1, seconds: 1e6), Self.comparison(2, figures: 4, seconds: 1)]
        let next = NextRounds(open, rounds: 12, secondsLeft: nil)
        #expect(Set(next.chosen) == [[0, 1], [2, 3]] && next.withoutTime.isEmpty)
    }

    @Test("time goes to the comparisons with the most open figures per second, and the rest is named")
    func mostFiguresPerSecond() {
        let open = [
            Self.comparison(0, figures: 1, seconds: 4), Self.comparison(2, figures: 8, seconds: 4),
            Self.comparison(4, figures: 1, seconds: 1), Self.comparison(6, figures: 1, seconds: 2),
        ]
        // The four comparisons have 0.25, 2, 1 and 0.5 open figures per second; six rounds take 24, 24, 6 and 12
        // seconds.
        let next = NextRounds(open, rounds: 6, secondsLeft: 46 / NextRounds.usableShare)
        #expect(next.chosen == [[2, 3], [4, 5], [6, 7]] && next.withoutTime == [[0, 1]])
        // With less time the third choice does not fit, and no comparison of lower value does either.
        let fewer = NextRounds(open, rounds: 6, secondsLeft: 41 / NextRounds.usableShare)
        #expect(fewer.chosen == [[2, 3], [4, 5]] && fewer.withoutTime == [[6, 7], [0, 1]])
    }

    @Test("leftover time goes to a comparison of lower value that fits") func smallerOnesFillUp() {
        let open = [Self.comparison(0, figures: 9, seconds: 10), Self.comparison(2, figures: 1, seconds: 2)]
        let next = NextRounds(open, rounds: 6, secondsLeft: 30)
        #expect(next.chosen == [[2, 3]] && next.withoutTime == [[0, 1]])
    }

    @Test("a used-up budget leaves no comparison to continue") func usedUp() {
        let open = [Self.comparison(0, figures: 1, seconds: 0.001)]
        #expect(NextRounds(open, rounds: 6, secondsLeft: -3).chosen.isEmpty)
    }
}
