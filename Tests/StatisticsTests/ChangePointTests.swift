import Platform
import Seeds
import Testing

@testable import Statistics

/// The claims of docs/decisions/0044-change-points.md, checked on simulated series of ratios.
@Suite struct ChangePointTests {
    /// Logarithms of ratios with `noise`, whose levels change at `steps`.
    static func series(
        _ count: Int, noise: Double, memory: Double = 0, steps: [(from: Int, factor: Double)] = [], seed: Int
    ) -> [Double] {
        var machine = NoisyMachine(spread: noise, seed: UInt64(seed))
        machine.memory = memory
        return (0..<count).map { index in
            let level = steps.last { $0.from <= index }?.factor ?? 1
            return log(machine.time(level))
        }
    }

    private static func find(_ values: [Double]) -> [ChangePoint] {
        var search = ChangePointSearch(least: log(1.03), seed: Seed(1))
        return search.find(in: values)
    }

    @Test("of 200 flat series hardly one has a change point")
    func falseAlarms() {
        let alarms = (0..<200).count { seed in
            !Self.find(Self.series(20 + seed % 41, noise: 0.03, seed: seed)).isEmpty
        }
        #expect(alarms <= 2, "\(alarms) of 200")
        // Autocorrelation raises the rate of false alarms, slightly if it is small.
        let lasting = (0..<100).count { seed in
            !Self.find(Self.series(40, noise: 0.03, memory: 0.3, seed: seed)).isEmpty
        }
        #expect(lasting <= 8, "\(lasting) of 100")
    }

    @Test("a step of a tenth in noise of 3 % is found, to one run, in at least 95 of 100 series of 40")
    func steps() {
        var (found, more) = (0, 0)
        for seed in 0..<100 {
            let place = 8 + seed % 25
            let factor = seed.isMultiple(of: 2) ? 1.1 : 1 / 1.1
            let points = Self.find(Self.series(40, noise: 0.03, steps: [(place, factor)], seed: 1_000 + seed))
            if points.contains(where: { abs($0.index - place) <= 1 && ($0.step > 0) == (factor > 1) }) { found += 1 }
            if points.count > 1 { more += 1 }
        }
        #expect(found >= 95, "\(found) of 100")
        #expect(more <= 3, "\(more) of 100 have a second one")
    }

    @Test("temporary levels are each found, with their sizes")
    func severalLevels() throws {
        let values = Self.series(60, noise: 0.01, steps: [(20, 1.2), (40, 1.0)], seed: 4)
        let points = Self.find(values)
        #expect(points.map(\.index) == [20, 40])
        let first = try #require(points.first)
        #expect(abs(first.step - log(1.2)) < 0.02 && abs(first.before) < 0.02)
        #expect(points.last.map { $0.before == first.after } == true)
    }

    @Test("a step below the minimum is ignored, however certain, and so are three values")
    func least() {
        #expect(Self.find(Self.series(60, noise: 0.001, steps: [(30, 1.025)], seed: 5)).isEmpty)
        #expect(Self.find(Self.series(60, noise: 0.001, steps: [(30, 1.035)], seed: 5)).map(\.index) == [30])
        #expect(Self.find(Self.series(40, noise: 0.001, steps: [(37, 1.5)], seed: 6)).allSatisfy { $0.index < 37 })
        #expect(Self.find([]).isEmpty && Self.find([1, 2, 3]).isEmpty && Self.find([0, 0, 0, 0, 9, 9, 9, 9]).isEmpty)
        #expect(Self.find(Array(repeating: 0.5, count: 50)).isEmpty, "equal values")
    }

    @Test("equal values and an equal seed give equal change points; the last values of a long series are searched")
    func deterministic() {
        let values = Self.series(50, noise: 0.05, steps: [(25, 1.3)], seed: 7)
        #expect(Self.find(values) == Self.find(values))
        #expect(Self.find(values).map(\.index) == [25])
        let long = Array(repeating: 9.0, count: 300) + Self.series(380, noise: 0.001, steps: [(360, 1.5)], seed: 8)
        #expect(Self.find(long).map(\.index).contains(660))
    }
}
