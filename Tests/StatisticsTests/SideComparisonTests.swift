import Seeds
import Statistics
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("SideComparison")
struct SideComparisonTests {
    private func comparison(
        _ ratios: [Double], higherIsBetter: Bool = true, threshold: Double = 0.03
    ) throws -> SideComparison {
        var random = RandomStream(Seed(9))
        let pairs = ratios.enumerated().map { index, ratio in
            (a: 100 * Double(index + 1), b: 100 * Double(index + 1) * ratio)
        }
        return try #require(
            SideComparison(pairs, higherIsBetter: higherIsBetter, threshold: threshold, random: &random))
    }

    @Test("each finding by its interval, and a time by the opposite direction")
    func findings() throws {
        let spread = (0..<20).map { 1 + 0.001 * Double($0 - 10) }
        #expect(try comparison(spread.map { $0 * 0.95 }).finding == .slower)
        #expect(try comparison(spread.map { $0 * 1.05 }).finding == .faster)
        #expect(try comparison(spread.map { $0 * 1.05 }, higherIsBetter: false).finding == .slower)
        #expect(try comparison(spread).finding == .same)
        #expect(try comparison(spread.map { $0 * 0.98 }).finding == .same, "two percent are below the threshold")
        #expect(try comparison(spread.map { $0 * 0.98 }, threshold: 0.01).finding == .slower)
        #expect(try comparison((0..<20).map { $0.isMultiple(of: 2) ? 0.8 : 1.25 }).finding == .inconclusive)
    }

    @Test("a median beyond the threshold is not enough where the interval has room for none")
    func wide() throws {
        let ratios = [0.7, 0.75, 0.8, 0.9, 0.9, 0.9, 0.9, 1.1, 1.2, 1.3, 1.4, 1.2]
        let wide = try comparison(ratios)
        #expect(wide.ratio < 1.01 && wide.finding == .inconclusive)
        #expect(wide.smallestVisible > 0.1)
    }

    @Test("too few pairs, and pairs without figures, give none")
    func few() throws {
        var random = RandomStream(Seed(9))
        let pairs = [(a: Double, b: Double)](repeating: (a: 4, b: 2), count: 9)
        #expect(SideComparison(pairs, higherIsBetter: true, threshold: 0.03, random: &random) == nil)
        #expect(SideComparison(pairs + [(a: 0, b: 1)], higherIsBetter: true, threshold: 0.03, random: &random) == nil)
        #expect(SideComparison(pairs + [(a: 2, b: 1)], higherIsBetter: true, threshold: 0.03, random: &random) != nil)
    }
}

/// A machine whose noise lasts: what a run finds is much like what the run before it found.
private struct NoisyMachine {
    /// Of the logarithm of a figure.
    var spread: Double
    /// The part of a run's noise that the next one has, too.
    var memory = 0.8
    /// Some runs are disturbed by themselves.
    var outlierShare = 0.0
    private var state = 0.0
    private var random: RandomStream

    init(spread: Double, outlierShare: Double = 0, seed: UInt64) {
        self.spread = spread
        self.outlierShare = outlierShare
        random = RandomStream(Seed(seed).derived("machine"))
        state = spread * normal()
    }

    /// The time of a run that takes `seconds` on a quiet machine.
    mutating func time(_ seconds: Double) -> Double {
        state = memory * state + (1 - memory * memory).squareRoot() * spread * normal()
        let outlier = uniform() < outlierShare ? 1.5 : 1
        return seconds * exp(state) * outlier
    }

    /// Both sides and A once more, in an order of their own in each round.
    /// Rounds of A, B and A once more, in an order of their own: the pairs of the first two.
    mutating func batch(slowdown: Double, pairs: Int) -> [(a: Double, b: Double)] {
        (0..<pairs).map { _ in
            var times = [0.0, 0.0, 0.0]
            for side in random.permutation(of: 3) { times[side] = time(side == 1 ? slowdown : 1) }
            return (a: times[0], b: times[1])
        }
    }

    private mutating func uniform() -> Double { Double(random.below(1 << 40) + 1) / Double(1 << 40) }

    private mutating func normal() -> Double {
        (-2 * log(uniform())).squareRoot() * cos(2 * Double.pi * uniform())
    }
}

/// How often the rule says what, on machines whose noise is known.
@Suite("The rule of paired comparison, simulated")
struct ComparisonSimulationTests {
    struct Shares {
        var flagged = 0.0
        var confirmed = 0.0
        var same = 0.0
        var visible = 0.0
    }

    static func shares(
        spread: Double, outliers: Double = 0, slowdown: Double, pairs: Int = 40, tries: Int
    ) throws -> Shares {
        var machine = NoisyMachine(spread: spread, outlierShare: outliers, seed: 1)
        var random = RandomStream(Seed(2))
        func compare(_ batch: [(a: Double, b: Double)]) throws -> SideComparison {
            try #require(SideComparison(batch, higherIsBetter: false, threshold: 0.03, random: &random))
        }
        var shares = Shares()
        for _ in 0..<tries {
            let first = try compare(machine.batch(slowdown: slowdown, pairs: pairs))
            shares.visible += first.smallestVisible / Double(tries)
            if first.finding == .same { shares.same += 1 / Double(tries) }
            guard first.isFlagged else { continue }
            shares.flagged += 1 / Double(tries)
            let again = try compare(machine.batch(slowdown: slowdown, pairs: pairs))
            if again.finding == first.finding { shares.confirmed += 1 / Double(tries) }
        }
        return shares
    }

    @Test("a program against itself is hardly ever flagged, and never twice", arguments: [0.05, 0.1, 0.2])
    func alarms(spread: Double) throws {
        let shares = try Self.shares(spread: spread, slowdown: 1, tries: 200)
        #expect(shares.flagged <= 0.03, "\(shares)")
        #expect(shares.confirmed == 0, "\(shares)")
    }

    @Test("a slowdown of 10 percent is found in spite of noise of 10 percent, one of 25 percent always")
    func power() throws {
        #expect(try Self.shares(spread: 0.1, slowdown: 1.1, tries: 100).confirmed > 0.7)
        #expect(try Self.shares(spread: 0.1, slowdown: 1.25, tries: 100).confirmed > 0.99)
        #expect(try Self.shares(spread: 0.1, outliers: 0.1, slowdown: 1.25, tries: 100).confirmed > 0.99)
    }

    @Test(
        "what is said to be the smallest visible difference is flagged at least nine times of ten",
        arguments: [0.05, 0.15])
    func smallestVisible(spread: Double) throws {
        let visible = try Self.shares(spread: spread, slowdown: 1, tries: 100).visible
        let shares = try Self.shares(spread: spread, slowdown: 1 + visible, tries: 200)
        #expect(shares.flagged > 0.87, "\(visible): \(shares)")
        // Nor is it far from what could just be seen.
        let half = try Self.shares(spread: spread, slowdown: 1 + visible * 0.7, tries: 200)
        #expect(half.flagged < 0.8, "\(visible): \(half)")
    }

    /// Prints the table of docs/decisions/0021-ab.md.
    @Test(
        "the table of the decision",
        .enabled(if: getenv("COMPARISON_TABLE") != nil, "COMPARISON_TABLE=1 prints it"))
    func table() throws {
        for (spread, outliers) in [(0.02, 0.0), (0.05, 0), (0.1, 0), (0.2, 0), (0.05, 0.1)] {
            for slowdown in [1.0, 1.05, 1.1, 1.25] {
                let shares = try Self.shares(spread: spread, outliers: outliers, slowdown: slowdown, tries: 1_000)
                print(
                    "noise \(spread) outliers \(outliers) slowdown \(slowdown): flagged \(shares.flagged)",
                    "confirmed \(shares.confirmed) same \(shares.same) visible \(shares.visible)")
            }
        }
    }
}
