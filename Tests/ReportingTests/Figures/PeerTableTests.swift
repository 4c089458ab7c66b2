import Measuring
import RunRecords
import Testing

@testable import Reporting

@Suite struct PeerTableTests {
    /// Commits of four engines, a scan, a sweep, and the machine.
    static let run: Run = {
        var results: [CaseResult] = []
        func add(_ scenario: String, _ family: Family, _ engine: String, _ samples: [Sample]) {
            var result = PlausibleRun.passed(PlausibleRun.test(scenario, family, engine))
            result.samples = samples
            results.append(result)
        }
        add(
            "raw-disk", .workload, "model",
            [
                Sample(.operationsPerSecond, 5_000, label: "overwrite and sync")
            ])
        let commits: [(String, Double)] = [
            ("strata-storage", 4_750), ("strata", 3_000), ("sqlite", 3_100), ("lmdb", 2_400),
        ]
        for (engine, rate) in commits {
            add("commit", .workload, engine, [Sample(.commitsPerSecond, rate)])
            add(
                "column-sum", .workload, engine,
                [
                    Sample(.rowsPerSecond, rate * 1_000, statistic: "median"),
                    Sample(.rowsPerSecond, 2.8e9, statistic: "max", label: "raw memory read"),
                ])
            add(
                "compact", .growth, engine,
                [Sample(.durationMilliseconds, rate / 10), Sample(.fileBytes, 9, label: "after")])
        }
        for engine in ["strata-storage", "sqlite"] {
            var result = PlausibleRun.passed(PlausibleRun.test("bit-flip", .corruption, engine))
            let wrong = engine == "sqlite" ? 38 : 0
            result.outcomes = [
                OutcomeCount(outcome: .correct, count: 100 - wrong),
                OutcomeCount(outcome: .silentlyWrong, count: wrong),
            ]
            result.samples = [Sample(.trials, 100, statistic: "count")]
            results.append(result)
        }
        return HTMLTests.run(results)
    }()

    private func row(_ table: PeerTable, _ scenario: String, _ metric: String) throws -> PeerTable.Row {
        try #require(
            table.rows.first { $0.figures.subject.scenario == scenario && $0.figures.measure.metric.name == metric })
    }

    @Test("a Strata engine is compared with the best peer, never with another Strata engine")
    func ratios() throws {
        let table = try #require(PeerTable(RunDigest(Self.run)))
        #expect(table.own == ["strata-storage", "strata"])
        #expect(table.peers == ["sqlite", "lmdb"])
        let commit = try row(table, "commit", "commits_per_second")
        #expect(table.ratio(commit, of: "strata-storage")?.peer == "sqlite")
        #expect(abs((table.ratio(commit, of: "strata")?.value ?? 0) - 3_000.0 / 3_100) < 1e-9)
        #expect(table.shareOfLimit(commit, of: "strata-storage") == 0.95)
        let compact = try row(table, "compact", "duration_ms")
        #expect(table.ratio(compact, of: "strata-storage")?.peer == "lmdb", "less is better")
        #expect(table.ratio(try row(table, "compact", "file_bytes"), of: "strata")?.value == 1)
    }

    @Test("with peers in the run, no figure compares two Strata engines")
    func glance() throws {
        let digest = RunDigest(Self.run)
        let table = try #require(PeerTable(digest))
        for row in table.rows {
            for engine in table.own {
                let peer = digest.ratio(row.figures, of: engine)?.peer
                #expect(peer.map { table.peers.contains($0) } ?? true, "\(row.figures.measure): \(peer ?? "")")
            }
        }
        let verdict = HTMLTests.section("verdict", of: Reporting.html(Self.run))
        #expect(verdict.contains("measured once") && !verdict.contains("\u{D7} strata"), "\(verdict)")
    }

    @Test("a scan is compared with the memory's limit for as many bytes")
    func memory() throws {
        let table = try #require(PeerTable(RunDigest(Self.run)))
        #expect(try row(table, "column-sum", "rows_per_second").limit == 2.8e9)
    }

    @Test("a sweep is compared by its harmful shares, and zero cannot be beaten")
    func shares() throws {
        let table = try #require(PeerTable(RunDigest(Self.run)))
        let wrong = try row(table, "bit-flip", "silently_wrong_percent")
        #expect(wrong.figures.values["sqlite"]?.sample.value == 38)
        #expect(table.ratio(wrong, of: "strata-storage") == nil)
        #expect(table.ratio(try row(table, "bit-flip", "killed_by_a_signal_percent"), of: "strata-storage")?.value == 1)
    }

    @Test("a row per scenario stands above its figures, and columns of tuned engines can be left out")
    func groups() throws {
        let html = HTMLTests.section("peers", of: Reporting.html(RunWithRounds.small))
        let table = try #require(html.firstMatch(of: /(?s)<table class="grid sort" id="t-peers">.*?<\/table>/)).output
        let groups = table.matches(of: /<tr class="group"><th scope="rowgroup" colspan="([0-9]+)"><span>([a-z-]+)/)
        #expect(
            groups.map { String($0.output.2) } == ["commit", "point-read", "bulk-insert", "update-batch", "traverse"])
        let columns = table.matches(of: /<th scope="col"/).count
        #expect(groups.allSatisfy { Int($0.output.1) == columns })
        // In a table that the reader has sorted, each figure names its scenario.
        #expect(table.matches(of: /<th scope="row"><span class="of">/).count == 5)
        #expect(ReportScript.text.contains("classList.add('sorted')"))
        #expect(table.matches(of: /class="n tuned"/).count == 6)
    }

    @Test("a column of figures in several units sorts by how near each comes to the best of its row, or by its ratio")
    func order() throws {
        let html = Reporting.html(Self.run)
        for id in ["t-peers", "t-speed-full"] {
            let start = try #require(html.firstRange(of: "id=\"\(id)\">")).upperBound
            let end = try #require(html[start...].firstRange(of: "</table>")).lowerBound
            let table = html[start..<end]
            let rows = table.matches(of: /(?s)<tr><th scope="row">.*?<\/tr>/).map(\.output)
            for unit in ["rows/s", "commits/s"] { #expect(rows.contains { $0.contains(unit) }, "\(id)") }
            let keys = rows.map { row in
                row.matches(of: /<td class="n" data-v="([0-9.e+-]+)"><a href/).compactMap { Double($0.output.1) }
            }
            #expect(keys.allSatisfy { $0.allSatisfy { $0 >= 0 } }, "\(id): \(keys)")
            if id == "t-peers" {
                // Those of Strata, which come first, are ratios, so that a larger lead sorts higher.
                #expect(keys.contains { ($0.first ?? 0) > 1 }, "\(keys)")
            } else {
                #expect(keys.allSatisfy { $0.max() == 1 }, "\(keys)")
            }
        }
    }

    @Test("a run whose figures were measured once shows ratios and claims nothing, in every form of the report")
    func once() throws {
        let table = try #require(PeerTable(RunDigest(Self.run)))
        let terminal = Reporting.terminal(Self.run, width: 140, colour: false)
        #expect(terminal.contains("to best peer") && terminal.contains("1.5\u{D7} as fast as sqlite"))
        let html = Reporting.html(Self.run)
        #expect(HTMLTests.section("peers", of: html).contains("1.03\u{D7} as slow"))
        for word in ["ahead", "behind", "open"] {
            #expect(!terminal.contains(word) && !HTMLTests.section("peers", of: html).contains(">\(word)"))
        }
        let csv = Reporting.peersCSV(Self.run)
        #expect(csv.contains("strata-storage,strata,sqlite,lmdb,raw_limit,strata-storage_ratio"))
        #expect(csv.split(separator: "\r\n").count == table.rows.count + 1)
    }

    @Test("a measurement counts once: its minimum and maximum are no separate figures")
    func extremes() throws {
        let results = ["strata-storage", "sqlite", "lmdb"].flatMap { engine in
            [1_000, 1_000_000].map { size in
                var result = PlausibleRun.passed(PlausibleRun.test("walk", .workload, engine, size: size))
                result.samples = [
                    Sample(.operationNanoseconds, 50, statistic: "median", label: "walk"),
                    Sample(.operationNanoseconds, 40, statistic: "min", label: "walk"),
                    Sample(.operationNanoseconds, 90, statistic: "max", label: "walk"),
                    // Without a median it is the only figure of its kind.
                    Sample(.operationNanoseconds, 70, statistic: "max", label: "longest"),
                ]
                return result
            }
        }
        let run = HTMLTests.run(results)
        let rows = try #require(PeerTable(RunDigest(run))).rows.map(\.figures)
        #expect(rows.map(\.measure.words) == ["walk", "operation max, longest", "walk", "operation max, longest"])
        // Sizes are distinguished, also in narrow places.
        let lines = Reporting.terminal(run, width: 70, colour: false).split(separator: "\n")
        for size in ["1 000", "1 000 000"] {
            #expect(lines.count { $0.hasSuffix("walk people \(size)") } == 1, "\(size): \(lines)")
        }
    }

    @Test("a run with one peer has no such table")
    func onePeer() {
        #expect(PeerTable(RunDigest(PlausibleRun.run)) == nil)
        #expect(Reporting.peersCSV(PlausibleRun.run).isEmpty)
        #expect(!Reporting.html(PlausibleRun.run).contains("id=\"peers\""))
    }
}
