import Measuring
import RunRecords
import Testing

@testable import Reporting

@Suite struct RatioTests {
    private func ratio(_ run: Run, _ scenario: String, _ engine: String = "strata-storage") throws -> FigureRatio {
        let digest = RunDigest(run)
        let table = try #require(PeerTable(digest))
        let row = try #require(table.rows.first { $0.figures.subject.scenario == scenario })
        return try #require(table.ratio(row, of: engine))
    }

    @Test("is claimed only if the rounds decide, in either direction of the figure")
    func decisions() throws {
        let commit = try ratio(RunWithRounds.small, "commit")
        #expect(commit.decision == .ahead && commit.peer == "sqlite-tuned" && commit.pairCount == 7)
        #expect(abs(commit.value - 2) < 0.1)
        let low = try #require(commit.low)
        let high = try #require(commit.high)
        #expect(low <= commit.value && commit.value <= high && low > 1.8 && high < 2.2)
        let read = try ratio(RunWithRounds.small, "point-read")
        #expect(read.decision == .behind && read.peer == "lmdb" && abs(read.value - 0.5) < 0.03)
    }

    @Test("is open if rounds scatter more than engines differ")
    func scatter() throws {
        let insert = try ratio(RunWithRounds.small, "bulk-insert")
        #expect(insert.decision == .open)
    }

    @Test("is open within the difference of the control's sides, however steady the rounds are")
    func deadBand() throws {
        let update = try ratio(RunWithRounds.small, "update-batch")
        let low = try #require(update.low)
        #expect(low > 1.05 && update.decision == .open)
        #expect(abs(update.band.factor - 1.15) < 0.02)
        // Without the control it would have been claimed.
        var run = RunWithRounds.small
        for (id, rounds) in run.rounds { run.rounds[id] = rounds.filter { $0.turn.side == .measured } }
        #expect(try ratio(run, "update-batch").decision == .ahead)
    }

    @Test("of single measurements claims nothing, whatever its value")
    func once() throws {
        let traverse = try ratio(RunWithRounds.small, "traverse")
        #expect(traverse.decision == nil && traverse.low == nil && traverse.value > 4)
        for headline in RunDigest(RunWithRounds.small).headlines {
            #expect(headline.lines.count == 4 && !headline.lines.contains { $0.name.hasPrefix("traverse") })
        }
    }

    @Test("claims nothing with too few uncut rounds, and for a failed case")
    func unsound() throws {
        for change in [{ $0.isCut = true }, { $0.verdict = .violation }] as [(inout CaseResult) -> Void] {
            var run = RunWithRounds.small
            for (id, rounds) in run.rounds where rounds[0].test.scenario == "commit" {
                run.rounds[id] = rounds.enumerated().map { index, result in
                    var result = result
                    if index == 1 { change(&result) }
                    return result
                }
            }
            #expect(try ratio(run, "commit").decision == .open)
        }
    }

    /// LMDB's column sum once appeared as 559 times slower, mostly due to the harness.
    @Test("claims nothing of a row with a figure that differs from its control program, and marks it")
    func doubtful() throws {
        var run = RunWithRounds.small
        let doubted = try #require(run.results.first { $0.test.scenario == "commit" && $0.test.engine == "lmdb" })
        #expect(try ratio(run, "commit").decision == .ahead)
        run.header.doubtfulFigures = [DoubtfulFigure(test: doubted.test.id, label: "", ratio: 0.6)]
        let commit = try ratio(run, "commit")
        #expect(commit.isDoubtful && commit.decision == .open && commit.decisionWord == "doubtful")
        #expect(try ratio(run, "point-read").decision == .behind)
        let headline = try #require(RunDigest(run).headlines.first)
        #expect(headline.lines.count == 3 && headline.doubtfulCount == 1 && headline.count(.ahead) == 0)
        #expect(!headline.lines.contains { $0.name.hasPrefix("commit") })
        #expect(headline.standing().hasSuffix("of 3 figures; 1 figure is doubtful"))
        // No further rounds are measured for it.
        let ids = Set(run.results.filter { $0.test.scenario == "commit" }.map(\.test.id))
        #expect(Reporting.openFigures(run, of: ids) == 0)
        #expect(Reporting.terminal(run, width: 140, colour: false).contains("\u{2021} another value without"))
        #expect(HTMLTests.section("peers", of: Reporting.html(run)).contains("; another value without the harness"))
        let rows = CSVTests.parse(Reporting.peersCSV(run))
        let records = rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(rows[0], $0)) }
        #expect(records.first { $0["scenario"] == "commit" }?["strata-storage_decision"] == "doubtful")
    }

    @Test("the headline names the best and the worst, and counts every figure once")
    func headline() throws {
        let headline = try #require(RunDigest(RunWithRounds.small).headlines.first)
        #expect(headline.engine == "strata-storage")
        #expect(headline.count(.ahead) == 1 && headline.count(.behind) == 1 && headline.count(.open) == 2)
        #expect(headline.lines.first?.name == "commit, commits/s")
        #expect(headline.lines.last?.name == "point-read, one property")
        let range = headline.range()
        #expect(range.hasPrefix("best ") && range.contains(" times as fast as ") && !range.contains(" 0."), "\(range)")
        #expect(range.contains(/worst (1\.9|2\.[01]) times as slow as LMDB \(point-read, one property\)/), "\(range)")
        for width in [80, 140] {
            let words = Reporting.terminal(RunWithRounds.small, width: width, colour: false)
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("ahead in 1, behind in 1, same in 0, open in 2 of 4 figures"))
            #expect(words.contains(/worst (1\.9|2\.[01]) times as slow as LMDB \(point-read, one property\)/))
        }
        let glance = HTMLTests.section("verdict", of: Reporting.html(RunWithRounds.small))
        #expect(glance.contains("times as slow as LMDB (point-read, one property)"))
    }

    @Test("a table colours only decided ratios")
    func colours() throws {
        let html = HTMLTests.section("peers", of: Reporting.html(RunWithRounds.small))
        func styles(_ scenario: String) -> [String] {
            let row = html.split(separator: "\n").first { $0.contains(">\(scenario)<") } ?? ""
            return row.matches(of: /<small class="(up|down)">/).map { String($0.output.1) }
        }
        #expect(styles("commit") == ["up", "up"])
        #expect(styles("point-read") == ["down", "down"])
        #expect(styles("traverse") == [] && styles("bulk-insert").allSatisfy { $0 == "down" })
        let once = Reporting.html(PeerTableTests.run)
        #expect(!once.contains("class=\"up\"") && !once.contains("class=\"down\"") && !once.contains(" behind"))
    }

    @Test("the file of peers has the ratio with its bounds, the decision and the dead band")
    func file() throws {
        let rows = CSVTests.parse(Reporting.peersCSV(RunWithRounds.small))
        let records = rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(rows[0], $0)) }
        let commit = try #require(records.first { $0["scenario"] == "commit" })
        #expect(commit["strata-storage_decision"] == "ahead" && commit["n"] == "7")
        let bounds = ["_ratio_low", "_ratio", "_ratio_high"].compactMap { Double(commit["strata-storage" + $0] ?? "") }
        #expect(bounds.count == 3 && bounds == bounds.sorted())
        #expect((Double(commit["dead_band"] ?? "") ?? 0) >= 1.03)
        let traverse = try #require(records.first { $0["scenario"] == "traverse" })
        #expect(traverse["strata-storage_decision"] == "" && traverse["dead_band"] == "" && traverse["n"] == "1")
    }

    /// Debian's RocksDB has assertions compiled in, and figures beside it were once claimed.
    @Test("over a library with assertions no form of the report claims a lead, and each names the reason")
    func assertions() throws {
        var run = RunWithRounds.small
        let index = try #require(run.header.engines.firstIndex { $0.name == "lmdb" })
        run.header.engines[index].assertions = ["liblmdb.so.0"]
        run.header.warnings = [try #require(run.header.assertionWarning)]
        // Its best peer is another engine, so that claim stands.
        #expect(try ratio(run, "commit").decision == .ahead)
        let read = try ratio(run, "point-read")
        // Assertions make that library slower, so what is behind it all the same is behind it.
        #expect(read.peer == "lmdb" && read.decision == .behind && !read.isWithheld && abs(read.value - 0.5) < 0.03)
        let once = try ratio(run, "traverse")
        #expect(once.peer == "lmdb" && once.claim == FigureRatio.withheld, "a single measurement claims nothing either")
        let lines = RunDigest(run).headlines.map { ($0.lines.count, $0.withheldCount) }
        #expect(lines.allSatisfy { $0 == (4, 1) }, "\(lines)")
        let terminal = Reporting.terminal(run, width: 160, colour: false)
        #expect(terminal.contains("ASSERTIONS COMPILED IN: liblmdb.so.0") && terminal.contains("no claim: assertions"))
        #expect(Reporting.html(run).contains("No claim in 1 figure beside"))
        let row = try #require(Reporting.peersCSV(run).split(separator: "\r\n").first { $0.hasPrefix("point-read") })
        #expect(row.contains("behind") && !row.contains("ahead") && row.contains("lmdb"))
        let single = try #require(Reporting.peersCSV(run).split(separator: "\r\n").first { $0.hasPrefix("traverse") })
        #expect(single.hasSuffix(",,1"), "no dead band, and one measurement: \(single)")
        // Of the engine with the assertions itself a lead is claimed, and nothing else.
        let own = try #require(run.header.engines.firstIndex { $0.name == "strata-storage" })
        run.header.engines[index].assertions = []
        run.header.engines[own].assertions = ["libstrata.so"]
        #expect(try ratio(run, "commit").decision == .ahead)
        #expect(try ratio(run, "point-read").isWithheld)
        run.header.measures = false
        #expect(run.header.assertionWarning == nil, "a plan that takes no times claims no speed")
    }
}
