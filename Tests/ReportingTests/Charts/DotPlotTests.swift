import Measuring
import RunRecords
import Testing

@testable import Reporting

@Suite struct DotPlotTests {
    private static func draw(_ lines: [DotPlot.Line]) -> String {
        let both = Markup.build { DotPlot(title: "ratios", lines: lines).draw(&$0) }
        return String(both[..<(both.firstRange(of: "<svg class=\"fluid slim\"")?.lowerBound ?? both.endIndex)])
    }

    private static func line(_ value: Double, _ low: Double?, _ high: Double?) -> DotPlot.Line {
        DotPlot.Line(
            name: "figure", shortName: "figure", measure: Measure(Sample(.commitsPerSecond, 1)),
            ratio: FigureRatio(value: value, peer: "sqlite", low: low, high: high, decision: .ahead))
    }

    private static func shares(_ svg: String, _ pattern: Regex<(Substring, Substring)>) -> [Double] {
        svg.matches(of: pattern).compactMap { Double($0.output.1) }
    }

    @Test("equal factors are equal distances: two is as far from one as a half")
    func axis() throws {
        let svg = Self.draw([Self.line(2, nil, nil), Self.line(1, nil, nil), Self.line(0.5, nil, nil)])
        let places = Self.shares(svg, /<svg x="([0-9.]+)%"/)
        #expect(places.count == 3)
        #expect(abs((places[0] - places[1]) - (places[1] - places[2])) < 0.03)
        let one = try #require(Self.shares(svg, /class="one" x1="([0-9.]+)%"/).first)
        #expect(abs(one - places[1]) < 0.02)
    }

    @Test("dot, whisker and band stay inside, however far apart the values are")
    func inside() {
        for line in [Self.line(0.00004, 0.00001, 0.0001), Self.line(1_776, 900, 9_000), Self.line(1, 0.999, 1.001)] {
            let svg = Self.draw([line, Self.line(1.5, 1.2, 1.9)])
            for place in Self.shares(svg, /x[12]?="([0-9.]+)%"/) { #expect((0...100).contains(place)) }
            let dot = Self.shares(svg, /<svg x="([0-9.]+)%"/)[0]
            let whisker = Self.shares(svg, /class="wh w-ahead" x1="([0-9.]+)%"/)
            #expect(whisker[0] <= dot && svg.contains("class=\"band\""))
        }
    }

    @Test("describes the drawing in words, and marks open ratios")
    func words() {
        let html = HTMLTests.section("peers", of: Reporting.html(RunWithRounds.small))
        let drawings = html.matches(of: /<svg class="fluid wide".*?<\/desc>/).map { String($0.output) }
        #expect(drawings.count == 2, "one for each Strata engine")
        for name in ["commit, commits/s", "point-read, one property", "bulk-insert, rows/s", "update-batch, updates/s"]
        {
            #expect(drawings.allSatisfy { $0.contains(name) })
        }
        #expect(drawings[0].contains("open") && drawings[0].contains("behind") && drawings[0].contains("ahead"))
        #expect(html.matches(of: /class="dot w-open"/).count >= 2)
        #expect(html.contains("every ratio as a table"))
    }

    @Test("a run with single measurements has no such drawing, and states that it claims nothing")
    func none() {
        let html = Reporting.html(PlausibleRun.run)
        #expect(!html.contains("<svg class=\"fluid") && html.contains("measured once, so that nothing is claimed"))
    }

    @Test("bars carry the interval of their figure as a whisker")
    func whiskers() throws {
        let html = HTMLTests.section("fast", of: Reporting.html(RunWithRounds.small))
        let charts = html.matches(of: /<figure>.*?<\/figure>/).map { String($0.output) }
        let commit = try #require(charts.first { $0.contains("commit") })
        #expect(commit.matches(of: /class="wb"/).count == 3 * 6)
        let traverse = try #require(charts.first { $0.contains("traverse") })
        #expect(!traverse.contains("class=\"wb\""))
        #expect(html.contains("class=\"spread\">\u{B1}"))
    }
}
