import Seeds
import Statistics
import Testing

@Suite struct MedianIntervalTests {
    @Test("seven values have their smallest and largest as bounds, five have none")
    func sevenValues() throws {
        let interval = try #require(MedianInterval([5, 1, 4, 2, 3, 7, 6]))
        #expect(interval.median == 4)
        #expect(interval.low == 1)
        #expect(interval.high == 7)
        #expect(abs(interval.confidence - (1 - 2.0 / 128)) < 1e-9)
        #expect(MedianInterval([1, 2, 3, 4, 5]) == nil)
    }

    @Test("forty values at 99 percent have the 12th and the 29th as bounds, as in tables of the sign test")
    func fortyValues() throws {
        let interval = try #require(MedianInterval((1...40).map(Double.init), confidence: 0.99))
        #expect(interval.low == 12)
        #expect(interval.high == 29)
        #expect(interval.median == 20.5)
    }

    @Test("the interval covers the median of a skewed distribution as often as it states", arguments: [7, 11, 20])
    func coverage(count: Int) {
        var random = RandomStream(Seed(77))
        var inside = 0
        var promised = 0.0
        let tries = 4_000
        for _ in 0..<tries {
            // Squares of uniform numbers: half of them lie below a quarter.
            let values = (0..<count).map { _ -> Double in
                let uniform = Double(random.below(1 << 30)) / Double(1 << 30)
                return uniform * uniform
            }
            guard let interval = MedianInterval(values) else { continue }
            promised = interval.confidence
            if interval.low <= 0.25 && 0.25 <= interval.high { inside += 1 }
        }
        let share = Double(inside) / Double(tries)
        #expect(abs(share - promised) < 0.012, "\(share) of \(promised)")
    }
}
