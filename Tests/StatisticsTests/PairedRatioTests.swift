import Statistics
import Testing

@Suite("PairedRatio")
struct PairedRatioTests {
    private func pairs(_ ratios: [Double]) -> [(own: Double, other: Double)] {
        ratios.enumerated().map { (own: 100 * $0.element * Double($0.offset + 1), other: 100 * Double($0.offset + 1)) }
    }

    @Test("a drift that both sides share does not show")
    func driftCancels() throws {
        let ratio = try #require(PairedRatio(pairs([1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]), higherIsBetter: true))
        #expect(abs(ratio.ratio - 1.5) < 1e-9)
        #expect(ratio.decision(.narrowest) == .ahead)
        let times = try #require(PairedRatio(pairs([1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]), higherIsBetter: false))
        #expect(times.decision(.narrowest) == .behind)
    }

    @Test("one pair that disagrees leaves seven undecided")
    func oneDisagrees() throws {
        let ratio = try #require(PairedRatio(pairs([1.4, 1.5, 1.3, 0.99, 1.4, 1.6, 1.5]), higherIsBetter: true))
        #expect(ratio.decision(.narrowest) == .undecided)
    }

    @Test("what the control differs by is not claimed")
    func deadBand() throws {
        let band = DeadBand(pairs([1.1, 0.9, 1.12, 0.88, 1.1, 0.91, 1.1]))
        #expect(band.factor > 1.09)
        let ratio = try #require(PairedRatio(pairs([1.08, 1.07, 1.06, 1.05, 1.08, 1.07, 1.06]), higherIsBetter: true))
        #expect(ratio.decision(band) == .undecided)
        #expect(ratio.decision(.narrowest) == .ahead)
        #expect(DeadBand([]).factor == DeadBand.least)
    }

    @Test("too few pairs decide nothing, and values that are no figures are left out")
    func tooFew() throws {
        let ratio = try #require(PairedRatio([(own: 4, other: 2), (own: 0, other: 2)], higherIsBetter: true))
        #expect(ratio.ratio == 2)
        #expect(ratio.interval == nil)
        #expect(ratio.decision(.narrowest) == .undecided)
        #expect(PairedRatio([(own: 0, other: 0)], higherIsBetter: true) == nil)
    }
}
