import Statistics
import Testing

@Suite struct PairedRatioTests {
    private func pairs(_ ratios: [Double]) -> [(own: Double, other: Double)] {
        ratios.enumerated().map { (own: 100 * $0.element * Double($0.offset + 1), other: 100 * Double($0.offset + 1)) }
    }

    @Test("a drift shared by both sides cancels out")
    func driftCancels() throws {
        let ratio = try #require(PairedRatio(pairs([1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]), higherIsBetter: true))
        #expect(abs(ratio.ratio - 1.5) < 1e-9)
        #expect((ratio.low ?? 0) > 1.03)
        let times = try #require(PairedRatio(pairs([1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5]), higherIsBetter: false))
        #expect((times.high ?? 2) < 1)
    }

    @Test("the control's difference widens the dead band")
    func deadBand() throws {
        #expect(DeadBand(pairs([1.1, 0.9, 1.12, 0.88, 1.1, 0.91, 1.1])).factor > 1.09)
        #expect(DeadBand([]).factor == DeadBand.least)
    }

    @Test("too few pairs have no interval, and invalid values are left out")
    func tooFew() throws {
        let ratio = try #require(PairedRatio([(own: 4, other: 2), (own: 0, other: 2)], higherIsBetter: true))
        #expect(ratio.ratio == 2)
        #expect(ratio.interval == nil)
        #expect(PairedRatio([(own: 0, other: 0)], higherIsBetter: true) == nil)
    }
}
