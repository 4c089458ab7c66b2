import Platform
import Seeds
import Testing

@testable import Statistics

@Suite struct SequentialRatioTests {
    private func pairs(_ ratios: [Double]) -> [(own: Double, other: Double)] {
        ratios.map { (own: 100 * $0, other: 100) }
    }

    @Test("looks come at 6, 12 and 24 rounds, and together err no more often than one interval of 95 %")
    func division() {
        #expect(Looks(most: 24).rounds == [6, 12, 24])
        #expect(Looks(most: 24).looks.map(\.rank) == [1, 2, 6])
        #expect(Looks(most: 7).rounds == [7] && Looks(most: 2).looks[0].rank == nil)
        #expect(Looks(most: 40).rounds == [6, 12, 40])
        for most in 1...200 {
            let looks = Looks(most: most)
            #expect(looks.rounds == looks.rounds.sorted() && looks.rounds.last == most)
            #expect(looks.looks.reduce(0) { $0 + $1.error } <= 0.05 + 1e-12)
        }
    }

    @Test("the first deciding look counts, and later rounds do not revoke it")
    func firstLook() throws {
        let ahead = Array(repeating: 1.5, count: 6)
        let ratio = try #require(
            SequentialRatio(
                pairs(ahead + Array(repeating: 0.5, count: 18)), controls: [], higherIsBetter: true,
                looks: Looks(most: 24)))
        #expect(ratio.decision == .ahead && ratio.rounds == 6 && abs(ratio.ratio - 1.5) < 1e-9)
        let late = try #require(
            SequentialRatio(
                pairs([0.9] + Array(repeating: 1.5, count: 11)), controls: [], higherIsBetter: true,
                looks: Looks(most: 24)))
        #expect(late.decision == .ahead && late.rounds == 12)
        let times = try #require(
            SequentialRatio(pairs(ahead), controls: [], higherIsBetter: false, looks: Looks(most: 24)))
        #expect(times.decision == .behind)
    }

    @Test("rounds between two looks are not examined, and fewer than the first look's decide nothing")
    func between() throws {
        func ratio(_ values: [Double]) throws -> SequentialRatio {
            try #require(
                SequentialRatio(pairs(values), controls: [], higherIsBetter: true, looks: Looks(most: 24)))
        }
        let five = try ratio(Array(repeating: 9, count: 5))
        #expect(five.decision == .open && five.low == nil && five.rounds == 5)
        // Eleven rounds, the first of which disagrees: only the look at six counts.
        let eleven = try ratio([0.9] + Array(repeating: 1.5, count: 10))
        #expect(eleven.decision == .open && eleven.rounds == 6)
    }

    @Test("figures within 5 % are the same, from twelve rounds on; a noisy control widens the dead band")
    func same() throws {
        func decision(_ values: [Double], controls: [Double] = []) throws -> Decision {
            try #require(
                SequentialRatio(
                    pairs(values), controls: pairs(controls), higherIsBetter: true, looks: Looks(most: 24))
            ).decision
        }
        let close = [1.01, 0.99, 1.02, 0.98, 1, 1.01]
        #expect(try decision(close) == .open)
        #expect(try decision(close + close) == .same)
        #expect(try decision(Array(repeating: 1.04, count: 6)) == .ahead)
        #expect(try decision(Array(repeating: 1.08, count: 12), controls: [1.1, 0.9, 1.1, 0.9, 1.1, 0.9]) == .open)
    }

    /// Of 10 000 plans of 20 comparisons with 4 figures each, on machines with noise of five kinds: how many figures,
    /// and how many plans, claim something false.
    @Test("at most 5 % of figures, and at most 5 % of plans, claim what is false")
    func falseClaims() throws {
        var simulation = PlanSimulation(seed: 7)
        var (figures, falseFigures, falsePlans, decided) = (0, 0, 0, 0)
        let plans = 10_000
        for _ in 0..<plans {
            let found = simulation.plan()
            figures += found.figures
            falseFigures += found.wrong
            decided += found.decided
            if found.wrong > 0 { falsePlans += 1 }
        }
        #expect(Double(falseFigures) <= 0.05 * Double(figures))
        #expect(Double(falsePlans) <= 0.05 * Double(plans), "\(falsePlans) of \(plans) plans")
        // A rule that claims nothing would never be wrong, so half of the figures have to be decided.
        #expect(Double(decided) >= 0.5 * Double(figures), "\(decided) of \(figures) figures")
    }
}

/// Draws plans: which engine is how much faster, and what the machine adds to each measurement.
private struct PlanSimulation {
    private enum Noise: CaseIterable { case normal, skewed, bursts, disturbedRounds, drift }

    /// Logarithms of the engines' true ratios.
    private static let truths: [Double] = [1, 1, 1, 1.02, 1.06, 1 / 1.06, 1.12, 1 / 1.12, 1.5, 0.5].map { log($0) }
    private static let rounds = 24
    private let looks = Looks(most: PlanSimulation.rounds)
    private var random: RandomStream

    init(seed: UInt64) { random = RandomStream(Seed(seed).derived("plans")) }

    mutating func plan() -> (figures: Int, wrong: Int, decided: Int) {
        var (figures, wrong, decided) = (0, 0, 0)
        for _ in 0..<20 {
            let noise = Noise.allCases[random.below(Noise.allCases.count)]
            let spread = exp(log(0.01) + uniform() * (log(0.3) - log(0.01)))
            for _ in 0..<4 {
                let truth = Self.truths[random.below(Self.truths.count)]
                guard let ratio = figure(truth, noise, spread) else { continue }
                figures += 1
                if ratio.decision != .open { decided += 1 }
                switch ratio.decision {
                case .ahead: if truth <= 0 { wrong += 1 }
                case .behind: if truth >= 0 { wrong += 1 }
                case .same: if abs(truth) > log(SequentialRatio.sameness) { wrong += 1 }
                case .open: break
                }
            }
        }
        return (figures, wrong, decided)
    }

    /// The engine, its control and a peer, measured consecutively in each round's own order.
    private mutating func figure(_ truth: Double, _ noise: Noise, _ spread: Double) -> SequentialRatio? {
        var (pairs, controls): ([(own: Double, other: Double)], [(own: Double, other: Double)]) = ([], [])
        var level = 0.0
        for _ in 0..<Self.rounds {
            let isDisturbed = noise == .disturbedRounds && uniform() < 0.25
            var times = [0.0, 0.0, 0.0]
            for side in random.permutation(of: 3) {
                switch noise {
                case .normal: times[side] = spread * normal()
                case .skewed: times[side] = -spread * log(uniform())
                case .bursts:
                    times[side] = spread / 3 * normal()
                    if uniform() < 0.15 { times[side] -= 3 * spread * log(uniform()) }
                case .disturbedRounds:
                    times[side] = spread / 3 * normal()
                    if isDisturbed, uniform() < 0.5 { times[side] -= 3 * spread * log(uniform()) }
                case .drift:
                    level += spread / 3 * normal()
                    times[side] = level + spread / 4 * normal()
                }
            }
            pairs.append((own: exp(times[2] - times[0] + truth), other: 1))
            controls.append((own: exp(times[1] - times[0]), other: 1))
        }
        return SequentialRatio(pairs, controls: controls, higherIsBetter: true, looks: looks)
    }

    private mutating func uniform() -> Double { Double(random.below(1 << 40) + 1) / Double(1 << 40) }

    private mutating func normal() -> Double {
        (-2 * log(uniform())).squareRoot() * cos(2 * Double.pi * uniform())
    }
}
