import Seeds
import Statistics
import Testing

@Suite struct BootstrapIntervalTests {
    @Test("equal seeds give equal bounds, which are values or lie halfway between two")
    func seeded() throws {
        let values = (1...41).map { Double($0 * $0) }
        var first = RandomStream(Seed(5))
        var second = RandomStream(Seed(5))
        var other = RandomStream(Seed(6))
        let interval = try #require(BootstrapInterval(values, random: &first))
        #expect(BootstrapInterval(values, random: &second) == interval)
        #expect(interval.median == 441)
        // An odd number of values: every median of a sample is one of them.
        #expect(values.contains(interval.low) && values.contains(interval.high))
        let another = try #require(BootstrapInterval(values, random: &other))
        #expect(abs(another.low.squareRoot() - interval.low.squareRoot()) <= 1)
    }

    @Test("for 41 values the bounds at 99 percent follow the binomial distribution")
    func ranks() throws {
        // The median of a resample is at most the k-th value if at least 21 of its 41 draws are. The probability is
        // 0.0026 for k = 12 and 0.0073 for k = 13. So 13 is the quantile 0.005, the lower bound at 99 percent; 29 is
        // the upper one by symmetry.
        var random = RandomStream(Seed(1))
        let interval = try #require(BootstrapInterval((1...41).map(Double.init), random: &random))
        #expect((13...14).contains(interval.low))
        #expect((28...29).contains(interval.high))
    }

    @Test("nine values have no interval, ten equal ones have one of zero width")
    func few() throws {
        var random = RandomStream(Seed(1))
        #expect(BootstrapInterval([1, 2, 3, 4, 5, 6, 7, 8, 9], random: &random) == nil)
        let interval = try #require(BootstrapInterval([Double](repeating: 7, count: 10), random: &random))
        #expect(interval.low == 7 && interval.high == 7)
    }
}
