import Platform
import Seeds
import Statistics
import Testing

/// Sessions of `assay ab` on machines with known noise: batches, confirmation and control, as in the command.
struct SimulatedSession {
    var machine: NoisyMachine
    var random = RandomStream(Seed(2))
    var pairs = 40
    var threshold = 0.03
    var confirms = true

    struct Outcome {
        var measured: ComparisonConclusion
        var control: ComparisonConclusion
        var firstBatch: SideComparison
        /// The conclusion about the case.
        var said: ComparisonConclusion { measured.beside(control: control, of: "it") }
    }

    init(spread: Double, outliers: Double = 0, seed: UInt64 = 1, pairs: Int = 40) {
        machine = NoisyMachine(spread: spread, outlierShare: outliers, seed: seed)
        self.pairs = pairs
    }

    mutating func run(slowdown: Double) throws -> Outcome {
        var (measured, control): ([SideComparison?], [SideComparison?]) = ([], [])
        for _ in 0..<2 {
            let rounds = machine.rounds(pairs, slowdown: slowdown)
            measured.append(compare(rounds.map { ($0.a, $0.b) }))
            control.append(compare(rounds.map { ($0.a, $0.control) }))
            if !confirms || ![measured[0], control[0]].contains(where: { $0?.isFlagged == true }) { break }
        }
        return Outcome(
            measured: ComparisonConclusion(measured, confirms: confirms),
            control: ComparisonConclusion(control, confirms: confirms),
            firstBatch: try #require(measured[0]))
    }

    private mutating func compare(_ pairs: [(a: Double, b: Double)]) -> SideComparison? {
        SideComparison(pairs, higherIsBetter: false, threshold: threshold, random: &random)
    }
}

/// The counts of conclusions over sessions.
private struct SessionCounts {
    var tries: Int
    var flagged = 0
    var slower = 0
    var faster = 0
    var same = 0
    var isDoubted = 0
    var visible = 0.0

    init(_ tries: Int, slowdown: Double, _ session: SimulatedSession) throws {
        var session = session
        self.tries = tries
        for _ in 0..<tries {
            let outcome = try session.run(slowdown: slowdown)
            visible += outcome.firstBatch.smallestVisible / Double(tries)
            if outcome.firstBatch.isFlagged { flagged += 1 }
            if outcome.control.isDifference { isDoubted += 1 }
            switch outcome.said.finding {
            case .slower: slower += 1
            case .faster: faster += 1
            case .same: same += 1
            case .inconclusive: break
            }
        }
    }

    func share(_ count: Int) -> Double { Double(count) / Double(tries) }
}

var isRelease: Bool {
    #if DEBUG
        false
    #else
        true
    #endif
}

/// The claims of docs/decisions/0021-ab.md, checked on thousands of simulated sessions.
@Suite(.enabled(if: isRelease, "the rule is the same in debug, where thousands of sessions take minutes"))
struct ComparisonSimulationTests {
    struct Noise: Sendable, CustomTestStringConvertible {
        var spread: Double
        var outliers = 0.0
        var pairs = 40

        var testDescription: String { "noise \(spread), outliers \(outliers), \(pairs) pairs" }

        fileprivate func session(seed: UInt64 = 1) -> SimulatedSession {
            SimulatedSession(spread: spread, outliers: outliers, seed: seed, pairs: pairs)
        }
    }

    static let sessions = 300

    static let machines = [
        Noise(spread: 0.02), Noise(spread: 0.05), Noise(spread: 0.1), Noise(spread: 0.2),
        Noise(spread: 0.1, outliers: 0.1), Noise(spread: 0.1, pairs: 80),
    ]

    @Test("one batch flags an unchanged program in at most 1 of 100 tries, a session never", arguments: machines)
    func alarms(noise: Noise) throws {
        let counts = try SessionCounts(Self.sessions, slowdown: 1, noise.session())
        #expect(counts.share(counts.flagged) <= 0.01, "\(counts)")
        #expect(counts.slower + counts.faster == 0, "\(counts)")
        #expect(counts.isDoubted == 0, "\(counts)")
        // With little noise the threshold, not the interval, prevents flags.
        if noise.spread <= 0.05 { #expect(counts.flagged == 0 && counts.share(counts.same) > 0.8, "\(counts)") }
    }

    @Test("with ten pairs, the minimum, one batch is wrong in at most 1 of 40 tries")
    func fewest() throws {
        let counts = try SessionCounts(Self.sessions, slowdown: 1, Noise(spread: 0.1, pairs: 10).session())
        #expect(counts.share(counts.flagged) <= 0.025, "\(counts)")
        #expect(counts.share(counts.slower + counts.faster) <= 0.002, "\(counts)")
    }

    @Test("these counts detect a slightly laxer rule: an interval of 95 percent, or a single batch")
    func laxer() throws {
        var machine = NoisyMachine(spread: 0.2, seed: 1)
        var random = RandomStream(Seed(2))
        var flagged = 0
        for _ in 0..<1_000 {
            let logarithms = machine.rounds(40, slowdown: 1).map { log($0.a / $0.b) }
            let interval = try #require(BootstrapInterval(logarithms, confidence: 0.95, random: &random))
            if interval.low > 0 || interval.high < 0, abs(interval.median) > log(1.03) { flagged += 1 }
        }
        #expect(flagged > 15, "\(flagged) of 1000: a test with this few would let 95 percent pass")
        var single = Noise(spread: 0.2).session()
        single.confirms = false
        let counts = try SessionCounts(1_000, slowdown: 1, single)
        #expect(counts.slower + counts.faster > 0, "\(counts)")
    }

    @Test(
        "a slowdown is found as often as the table states, and never taken for a gain",
        arguments: [
            (Noise(spread: 0.05), 1.05, 0.95), (Noise(spread: 0.05), 1.1, 0.99), (Noise(spread: 0.1), 1.1, 0.95),
            (Noise(spread: 0.1), 1.25, 0.99), (Noise(spread: 0.1, outliers: 0.1), 1.25, 0.99),
            (Noise(spread: 0.1, pairs: 80), 1.05, 0.85), (Noise(spread: 0.2), 1.25, 0.95),
        ])
    func power(noise: Noise, slowdown: Double, least: Double) throws {
        let counts = try SessionCounts(Self.sessions / 2, slowdown: slowdown, noise.session())
        #expect(counts.share(counts.slower) >= least, "\(counts)")
        #expect(counts.faster == 0 && counts.same == 0, "\(counts)")
        // The gain of the same size is found as often.
        let gains = try SessionCounts(Self.sessions / 2, slowdown: 1 / slowdown, noise.session(seed: 3))
        #expect(gains.share(gains.faster) >= least - 0.02, "\(gains)")
        #expect(gains.slower == 0 && gains.same == 0, "\(gains)")
    }

    @Test("an effect below the threshold is not called a difference", arguments: [1.01, 1.02])
    func below(slowdown: Double) throws {
        let counts = try SessionCounts(Self.sessions / 2, slowdown: slowdown, Noise(spread: 0.05).session())
        #expect(counts.share(counts.slower) <= 0.02 && counts.faster == 0, "\(counts)")
    }

    @Test("a relevant difference is called none in at most 1 of 100 tries", arguments: [0.05, 0.1])
    func missed(spread: Double) throws {
        let counts = try SessionCounts(500, slowdown: 1.03, Noise(spread: spread, pairs: 80).session())
        #expect(counts.share(counts.same) <= 0.01, "\(counts)")
    }

    @Test(
        "the reported smallest visible difference is flagged at least nine times of ten",
        arguments: [0.05, 0.15])
    func smallestVisible(spread: Double) throws {
        let visible = try SessionCounts(Self.sessions / 2, slowdown: 1, Noise(spread: spread).session()).visible
        let counts = try SessionCounts(Self.sessions / 2, slowdown: 1 + visible, Noise(spread: spread).session())
        #expect(counts.share(counts.flagged) > 0.87, "\(visible): \(counts)")
        // Nor is it much larger than necessary.
        let less = 1 + visible * 0.7
        let half = try SessionCounts(Self.sessions / 2, slowdown: less, Noise(spread: spread).session())
        #expect(half.share(half.flagged) < 0.8, "\(visible): \(half)")
    }

    /// Prints the table of docs/decisions/0021-ab.md.
    @Test(
        "the table of the decision",
        .enabled(if: getenv("COMPARISON_TABLE") != nil, "COMPARISON_TABLE=1 prints it"))
    func table() throws {
        for noise in Self.machines + [Noise(spread: 0.1, pairs: 10), Noise(spread: 0.1, pairs: 20)] {
            for slowdown in [1.0, 1.05, 1.1, 1.25] {
                let counts = try SessionCounts(1_000, slowdown: slowdown, noise.session())
                print("\(noise.testDescription), slowdown \(slowdown): \(counts)")
            }
        }
    }
}
