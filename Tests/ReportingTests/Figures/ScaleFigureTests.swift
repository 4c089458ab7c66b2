import Foundation
import RunRecords
import Seeds
import Testing

@testable import Reporting

/// Figures over the size of a database.
@Suite struct ScaleFigureTests {
    /// `strata-storage` has constant cost, the steep engine ten times the cost for ten times the rows.
    static func run(
        sizes: [Int] = [10_000, 100_000, 1_000_000], rounds: Int = 7, steep: String = "sqlite"
    ) -> Run {
        var results: [CaseResult] = []
        var byCase: [String: [CaseResult]] = [:]
        func add(_ engine: String, _ dataset: String, _ size: Int, _ value: Double, rounds: Int) {
            let test = Case(
                scenario: "recovery-time", family: .workload, engine: engine, dataset: dataset, size: size,
                parameters: [], seed: Seed(1), durability: .full)
            let all = (0..<rounds).map { round -> CaseResult in
                var result = PlausibleRun.passed(test)
                result.turn = Turn(round: round)
                let metric = Metric("recovery_ms", unit: "ms", .lowerIsBetter, .measured)
                result.samples = [
                    Sample(metric, value * (1 + Double(round) / 100)),
                    Sample(.fileBytes, Double(size) * 60),
                ]
                return result
            }
            if rounds > 1 { byCase[test.id] = all }
            if let merged = CaseResult.merged(all) { results.append(merged) }
        }
        for size in sizes {
            add("strata-storage", "people", size, 2, rounds: rounds)
            add(steep, "people", size, Double(size) / 10_000, rounds: rounds)
        }
        add(steep, "people-wide", 10_000_000, 4_000, rounds: 1)
        var run = HTMLTests.run(results)
        run.header.engines = ["strata-storage", steep].map { EngineVersion(name: $0, version: "1.0") }
        run.rounds = byCase
        return run
    }

    @Test("growth is that from the smallest size to the largest, pair by pair, with its interval")
    func growth() throws {
        let figures = RunDigest(Self.run()).scaleFigures
        let figure = try #require(figures.first)
        #expect(figures.count == 1 && figure.sizes == [10_000, 100_000, 1_000_000])
        let flat = try #require(figure.lines.first { $0.engine == "strata-storage" }?.growth)
        let steep = try #require(figure.lines.first { $0.engine == "sqlite" }?.growth)
        #expect(abs(flat.factor - 1) < 1e-9 && flat.pairCount == 7)
        #expect(abs(steep.factor - 100) < 1e-6 && steep.smallest == 10_000 && steep.largest == 1_000_000)
        #expect(steep.low != nil && steep.high != nil)
        #expect(figure.lines.map { $0.aside?.size } == [nil, 10_000_000])
    }

    @Test("a growth measured once has no interval, and two sizes are no line")
    func claims() throws {
        let once = try #require(RunDigest(Self.run(rounds: 1)).scaleFigures.first)
        #expect(once.lines.allSatisfy { $0.growth?.low == nil && $0.growth?.pairCount == 1 })
        #expect(RunDigest(Self.run(sizes: [10, 100])).scaleFigures.isEmpty)
        var unmeasured = Self.run()
        unmeasured.header.measures = false
        #expect(RunDigest(unmeasured).scaleFigures.isEmpty)
    }

    @Test("the exponent is fitted over the rounds, and stated beside the chart")
    func exponents() throws {
        let figure = try #require(RunDigest(Self.run()).scaleFigures.first)
        let laws = figure.lines.map { $0.law?.words }
        #expect(
            laws == ["does not grow: n^0.00 [0.00, 0.00]", "grows like n^1.00 [1.00, 1.00], as n does"])
        let html = Reporting.html(Self.run())
        #expect(html.contains("sqlite grows like n<sup>1.00</sup> [1.00, 1.00], as n does"))
        let sentence = "grows in 0 of 1 figure, no growth shown in 1, falls in 0"
        #expect(HTMLTests.section("verdict", of: html).contains(": \(sentence)."))
        #expect(HTMLTests.section("scale", of: html).contains(": \(sentence)"))
        #expect(!HTMLTests.section("verdict", of: html).contains("Steepest"))
        // Each engine that the run is about has its own sentence, and its steepest figure.
        let both = HTMLTests.section("verdict", of: Reporting.html(Self.run(steep: "strata")))
        #expect(both.contains("<strong>Strata storage</strong>: \(sentence)."))
        #expect(both.contains("<strong>Strata</strong>: grows in 1 of 1 figure"))
        #expect(both.contains("<b>Steepest</b> <a ") && both.contains(">recovery-time, "))
        #expect(both.contains("</a>: grows like n<sup>1.00</sup>"))
        let rows = CSVTests.parse(Reporting.scaleCSV(Self.run()))
        let columns = try #require(rows.first)
        let places = try ["engine", "rows", "exponent", "exponent_n", "form", "shape", "local_exponent"].map {
            try #require(columns.firstIndex(of: $0))
        }
        let sqlite = rows.dropFirst().map { row in places.map { row[$0] } }.filter { $0[0] == "sqlite" }
        #expect(sqlite.map { $0[2].isEmpty } == [true, true, false, true], "only in the row of the largest size")
        #expect(sqlite.map { $0[6].isEmpty } == [true, false, false, true])
        #expect(Array(sqlite[2][3...5]) == ["7", "power", "n"])
        #expect(abs((Double(sqlite[2][2]) ?? 0) - 1) < 1e-6)
    }

    @Test("a cost that rises only between two sizes is no power law, and a cut case has no exponent")
    func steps() throws {
        var run = Self.run()
        for (id, rounds) in run.rounds where rounds.first?.test.size == 1_000_000 {
            run.rounds[id] = rounds.map { result in
                var result = result
                result.samples[0].value *= 4
                return result
            }
        }
        let words = try #require(RunDigest(run).scaleFigures.first?.lines.first?.law?.words)
        #expect(words == "no power law: n^0.00 to 10\u{2075}, n^0.60 to 10\u{2076}")
        for index in run.results.indices where run.results[index].test.size == 100_000 {
            run.results[index].isCut = true
        }
        #expect(RunDigest(run).scaleFigures.first?.lines.allSatisfy { $0.law == nil } == true)
    }

    @Test("a scenario that generates its data has the size as a parameter")
    func sizeInAParameter() throws {
        let results = [1_000, 10_000, 100_000].map { elements -> CaseResult in
            var result = PlausibleRun.passed(
                Case(
                    scenario: "list-operations", family: .workload, engine: "strata-storage", dataset: "", size: 0,
                    parameters: [
                        CaseParameter(name: "elements", value: "\(elements)"),
                        CaseParameter(name: "rounds", value: "2"),
                    ], seed: Seed(1), durability: .full))
            result.samples = [Sample(.operationNanoseconds, Double(elements) / 10)]
            return result
        }
        var run = HTMLTests.run(results)
        run.header.engines = [EngineVersion(name: "strata-storage", version: "1.0")]
        let figure = try #require(RunDigest(run).scaleFigures.first)
        #expect(figure.sizes == [1_000, 10_000, 100_000] && figure.sizeWords(1_000) == "1\u{A0}000 elements")
        #expect(abs((figure.lines.first?.law?.exponent ?? 0) - 1) < 1e-9)
    }

    @Test("a condition of only some cases of a scenario distinguishes them")
    func conditions() {
        let results = [[], [CaseParameter(name: "sync_delay_us", value: "5000")]].map { parameters in
            PlausibleRun.passed(
                Case(
                    scenario: "commit", family: .workload, engine: "sqlite", dataset: "people", size: 10,
                    parameters: parameters, seed: Seed(1), durability: .full))
        }
        let digest = RunDigest(HTMLTests.run(results))
        #expect(results.map { digest.variant(Subject($0.test)) } == ["", "sync_delay_us 5000"])
    }

    @Test("measured once, a line has an exponent without a claim")
    func onceMeasured() throws {
        let figure = try #require(RunDigest(Self.run(rounds: 1)).scaleFigures.first)
        #expect(figure.lines.last?.law?.words == "like n^1.00, measured too seldom to claim anything")
    }

    @Test("a rate that falls to a tenth is ten times the cost")
    func rates() throws {
        var run = Self.run(rounds: 1)
        for index in run.results.indices {
            let value = run.results[index].samples[0].value
            run.results[index].samples[0] = Sample(.commitsPerSecond, 1e6 / value)
        }
        let figure = try #require(RunDigest(run).scaleFigures.first)
        let line = try #require(figure.lines.first { $0.engine == "sqlite" })
        #expect(abs((line.growth?.factor ?? 0) - 100) < 1e-6 && abs((line.law?.exponent ?? 0) - 1) < 1e-6)
        // The chart shows rates as rates: the line for linear cost falls, and the axis has its unit.
        let html = Reporting.html(run)
        #expect(html.contains(">\u{221D} 1/n<") && html.contains(">100\u{A0}k/s<"))
    }

    @Test("the report draws a line and a whisker per engine and size, and has the numbers in a table")
    func report() {
        let html = Reporting.html(Self.run())
        #expect(html.contains("How does it grow with the size?"))
        let charts = html.components(separatedBy: "over size\"")
        #expect(charts.count == 2)
        let drawing = charts.last?.components(separatedBy: "</svg>").first ?? ""
        #expect(drawing.components(separatedBy: "class=\"bar f").count - 1 == 6, "a mark per point")
        #expect(drawing.components(separatedBy: "<circle").count - 1 == 1, "the ring")
        #expect(drawing.components(separatedBy: "class=\"ln ").count - 1 == 2)
        #expect(drawing.components(separatedBy: "class=\"wh ").count - 1 == 18, "three strokes for each of six points")
        #expect(drawing.contains(">10\u{2074}<") && drawing.contains(">572\u{A0}MiB<"))
        #expect(drawing.contains(">\u{221D} n<") && !drawing.contains("/s<"))
        #expect(html.contains("t-scale-0"))
        #expect(!Reporting.html(PlausibleRun.run).contains("t-scale-0"))
    }

    @Test("the answer keeps its drawings on a page that is too large for others")
    func largePage() throws {
        let least = try #require(ReportPage.Detail.steps.last)
        #expect(least.charts == 0)
        let answer = Markup.build { column in
            GrowthAnswer(page: ReportPage(digest: RunDigest(Self.run()), detail: least)).write(&column)
        }
        #expect(answer.contains("<svg"))
    }

    @Test("the spreadsheet has a row per engine and size, and growth in the row of the largest")
    func spreadsheet() throws {
        let rows = CSVTests.parse(Reporting.scaleCSV(Self.run()))
        let columns = try #require(rows.first)
        #expect(rows.count == 1 + 6 + 1 && rows.allSatisfy { $0.count == columns.count })
        let growth = try #require(columns.firstIndex(of: "growth"))
        let size = try #require(columns.firstIndex(of: "rows"))
        #expect(rows.dropFirst().filter { !$0[growth].isEmpty }.map { $0[size] } == ["1000000", "1000000"])
        #expect(Reporting.scaleCSV(PlausibleRun.run).isEmpty)
    }

    @Test("the terminal shows the growth of each engine")
    func terminal() {
        let text = Reporting.terminal(Self.run(), width: 100, colour: false)
        #expect(text.contains("How does it grow with the size?"))
        #expect(text.contains("10 000 to 1 000 000") && text.contains("100\u{D7}"))
    }
}
