import Seeds
import Testing

@testable import Measuring

@Suite struct HistogramTests {
    private static func numbers(_ count: Int, seed: UInt64, bits: UInt64) -> [UInt64] {
        var random = RandomStream(Seed(seed))
        return (0..<count).map { _ in
            let x = random.next()
            // Spread over the magnitudes, as latencies are.
            return x >> (64 - bits + x % bits)
        }
    }

    private static let fractions = [0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1]

    @Test("every quantile is within the stated error of the exact one", arguments: [8, 20, 40, 63] as [UInt64])
    func quantilesAreBounded(bits: UInt64) {
        let values = Self.numbers(20_000, seed: bits, bits: bits)
        var histogram = Histogram()
        for value in values { histogram.record(value) }
        let sorted = values.sorted()
        for fraction in Self.fractions {
            let rank = max(1, Int((fraction * Double(sorted.count)).rounded(.up)))
            let exact = sorted[rank - 1]
            let got = histogram.quantile(fraction)
            let error = Double(got > exact ? got - exact : exact - got)
            #expect(
                error <= Double(exact) * Histogram.relativeError,
                "seed \(bits), quantile \(fraction): exact \(exact), got \(got)")
        }
        #expect(histogram.minimum == sorted.first)
        #expect(histogram.maximum == sorted.last)
        #expect(histogram.sum == values.reduce(0, &+))
    }

    @Test("a quantile is shown if ten values lie beyond it")
    func carried() {
        for (fraction, least) in [(0.5, 20), (0.9, 100), (0.99, 1_000), (0.999, 10_000), (0.9999, 100_000)] {
            var histogram = Histogram()
            histogram.record(7, count: UInt64(least - 1))
            #expect(!histogram.carries(fraction), "\(least - 1) values")
            histogram.record(7)
            #expect(histogram.carries(fraction), "\(least) values")
        }
    }

    @Test("values below 128 are counted exactly")
    func smallValuesAreExact() {
        var histogram = Histogram()
        for value in 0..<UInt64(128) { histogram.record(value) }
        for value in 0..<UInt64(128) {
            #expect(histogram.quantile(Double(value + 1) / 128) == value)
        }
    }

    @Test("the buckets tile all numbers without a gap or an overlap")
    func bucketsTile() {
        var next: UInt64 = 0
        let last = Histogram.bucketIndex(.max)
        for index in 0...last {
            let bounds = Histogram.bucketBounds(index)
            #expect(bounds.lowerBound == next)
            #expect(Histogram.bucketIndex(bounds.lowerBound) == index)
            #expect(Histogram.bucketIndex(bounds.upperBound) == index)
            next = bounds.upperBound &+ 1
        }
        #expect(next == 0, "the last bucket ends at 2^64 - 1")
    }

    @Test("merging is associative, commutative, and equals recording everything in one")
    func mergeIsAssociative() {
        let parts = (1...3).map { (seed: UInt64) in
            var histogram = Histogram()
            for value in Self.numbers(1_000 * Int(seed), seed: seed, bits: 12 * seed) { histogram.record(value) }
            return histogram
        }
        var leftFirst = parts[0]
        leftFirst.merge(parts[1])
        leftFirst.merge(parts[2])
        var rightFirst = parts[1]
        rightFirst.merge(parts[2])
        var outer = parts[0]
        outer.merge(rightFirst)
        var reversed = parts[2]
        reversed.merge(parts[1])
        reversed.merge(parts[0])
        var whole = Histogram()
        for seed in 1...3 as ClosedRange<UInt64> {
            for value in Self.numbers(1_000 * Int(seed), seed: seed, bits: 12 * seed) { whole.record(value) }
        }
        #expect(leftFirst == outer)
        #expect(leftFirst == reversed)
        #expect(leftFirst == whole)
    }

    @Test("merging with an empty histogram changes nothing")
    func emptyIsNeutral() {
        var histogram = Histogram()
        histogram.record(77, count: 3)
        let before = histogram
        histogram.merge(Histogram())
        #expect(histogram == before)
        var empty = Histogram()
        empty.merge(before)
        #expect(empty == before)
        #expect(Histogram().quantile(0.5) == 0)
    }

    @Test("a histogram round-trips, and contradictory parts are refused")
    func sparseRoundTrip() throws {
        var histogram = Histogram()
        for value in Self.numbers(500, seed: 9, bits: 50) { histogram.record(value) }
        let copy = Histogram(
            sparse: histogram.sparse, minimum: histogram.minimum, maximum: histogram.maximum, sum: histogram.sum)
        #expect(copy == histogram)
        #expect(Histogram(sparse: [(5, 1)], minimum: 6, maximum: 6, sum: 6) == nil)
        #expect(Histogram(sparse: [(5, 1), (5, 1)], minimum: 5, maximum: 5, sum: 10) == nil)
        #expect(Histogram(sparse: [(1 << 40, 1)], minimum: 5, maximum: 5, sum: 5) == nil)
        #expect(Histogram(sparse: [(5, .max), (6, 1)], minimum: 5, maximum: 6, sum: 0) == nil)
    }
}
