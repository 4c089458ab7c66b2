import Platform
import Seeds
import Statistics
import Testing

@Suite struct SideComparisonTests {
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

    @Test("a median beyond the threshold decides nothing if the interval includes 1")
    func wide() throws {
        let ratios = [0.7, 0.75, 0.8, 0.9, 0.9, 0.9, 0.9, 1.1, 1.2, 1.3, 1.4, 1.2]
        let wide = try comparison(ratios)
        #expect(wide.ratio < 1.01 && wide.finding == .inconclusive)
        #expect(wide.smallestVisible > 0.1)
    }

    @Test("too few pairs, and pairs without figures, give no result")
    func few() throws {
        var random = RandomStream(Seed(9))
        let pairs = [(a: Double, b: Double)](repeating: (a: 4, b: 2), count: 9)
        #expect(SideComparison(pairs, higherIsBetter: true, threshold: 0.03, random: &random) == nil)
        #expect(SideComparison(pairs + [(a: 0, b: 1)], higherIsBetter: true, threshold: 0.03, random: &random) == nil)
        #expect(SideComparison(pairs + [(a: 2, b: 1)], higherIsBetter: true, threshold: 0.03, random: &random) != nil)
    }
}
