import Measuring
import RunRecords
import Testing

@testable import Reporting

@Suite struct ReplayedFiguresTests {
    private static func result(_ samples: [Sample]) -> CaseResult {
        var result = PlausibleRun.passed(PlausibleRun.test("commit", .workload, "strata"))
        result.samples = samples
        return result
    }

    @Test("a repeated case has its recorded times and rates beside the new ones, without bytes and repetitions")
    func figures() {
        let duration = Metric("duration_ms", unit: "ms", .lowerIsBetter, .measured)
        let recorded = Self.result([
            Sample(.commitsPerSecond, 1_180), Sample(.fileBytes, 4_096), Sample(duration, 3, statistic: "median"),
            Sample(duration, 3, statistic: "min"),
        ])
        let now = Self.result([
            Sample(.fileBytes, 8_192), Sample(duration, 4, statistic: "median"), Sample(duration, 2, statistic: "min"),
            Sample(.commitsPerSecond, 950),
        ])
        #expect(
            Reporting.figures(recorded: recorded, now: now) == [
                "commits/s: recorded 1 180, now 950", "duration: recorded 3.00 ms, now 4.00 ms",
            ])
        #expect(Reporting.figures(recorded: recorded, now: Self.result([])) == [])
        #expect(Reporting.figures(recorded: recorded, now: now, most: 1).count == 1)
    }
}
