import RunRecords
import Testing

@testable import Reporting

@Suite struct FaultTableTests {
    /// Flips of two shapes, kills in two durability classes, and a case without trials.
    private static let run: Run = {
        var results: [CaseResult] = []
        func add(
            _ scenario: String, _ family: Family, _ engine: String, _ verdict: Verdict, _ counts: [(Outcome, Int)],
            _ promises: [JudgedPromise], shape: String = "", durability: DurabilityClass = .full
        ) {
            let test = PlausibleRun.test(
                scenario, family, engine, dataset: "damage",
                parameters: shape.isEmpty ? [] : [CaseParameter(name: "shape", value: shape)], durability: durability)
            var (result, _) = PlausibleRun.sweep(test, verdict, counts)
            result.promises = promises
            results.append(result)
        }
        func promise(_ kind: String, _ state: JudgedPromise.State) -> JudgedPromise {
            JudgedPromise(kind: kind, concern: .safety, state: state)
        }
        for shape in ["clean", "log"] {
            add(
                "bit-flip", .corruption, "strata", .pass,
                [(.detectedAtOpen, 400), (.detectedAtRead, 500), (.correct, 100)],
                [promise("detects-damage", .kept)], shape: shape)
        }
        add(
            "bit-flip", .corruption, "sqlite", .unpromised, [(.correct, 600), (.silentlyWrong, 380), (.crashed, 20)],
            [promise("detects-damage", .notMade)], shape: "clean")
        add(
            "bit-flip", .corruption, "sqlite", .pass, [(.correct, 1_000)], [promise("detects-damage", .notMade)],
            shape: "log")
        for durability in [DurabilityClass.full, .none] {
            add(
                "odd-kill", .crash, "sqlite", durability == .full ? .violation : .pass,
                durability == .full ? [(.correct, 30), (.lostCommit, 10)] : [(.correct, 40)],
                [promise("durability", durability == .full ? .broken : .kept), promise("atomicity", .kept)],
                durability: durability)
        }
        var empty = CaseResult(test: PlausibleRun.test("odd-kill", .crash, "strata"), verdict: .inconclusive)
        empty.message = "no kill hit"
        results.append(empty)
        results.append(
            CaseResult(test: PlausibleRun.test("odd-kill", .crash, "model"), verdict: .notApplicable))
        results.append(PlausibleRun.passed(PlausibleRun.test("commit", .workload, "sqlite")))
        return HTMLTests.run(results)
    }()

    private static func row(_ engine: String, _ fault: String, _ durability: DurabilityClass = .full) throws -> FaultRow
    {
        try #require(
            RunDigest(run).faultRows.first { row in
                row.engine == engine && row.fault == fault && row.durability == durability
            })
    }

    @Test("cases of one fault are summed, with the gravest verdict")
    func rows() throws {
        let rows = RunDigest(Self.run).faultRows
        #expect(
            rows.map { "\($0.fault) \($0.durability) \($0.engine)" } == [
                "bit-flip full strata", "bit-flip full sqlite", "odd-kill full strata", "odd-kill full sqlite",
                "odd-kill none sqlite",
            ])
        let strata = try Self.row("strata", "bit-flip")
        #expect(strata.trialCount == 2_000 && strata.count(.detected) == 1_800)
        #expect(strata.share(.detected) == 0.9 && strata.standing == .judged(.pass))
        let sqlite = try Self.row("sqlite", "bit-flip")
        #expect(sqlite.count(.silentlyWrong) == 380 && sqlite.share(.silentlyWrong) == 0.19)
        #expect(sqlite.standing == .judged(.unpromised), "a passed case hides no failed one")
        #expect(sqlite.promise == "detects-damage none made")
        let killed = try Self.row("sqlite", "odd-kill")
        #expect(killed.standing == .judged(.violation))
        #expect(killed.promise == "durability broken, atomicity kept")
        let idle = try Self.row("strata", "odd-kill")
        #expect(idle.trialCount == 0 && idle.share(.correct) == nil && idle.standing == .judged(.inconclusive))
    }

    @Test("the CSV has a row for each, whose outcomes sum to its trials")
    func csv() throws {
        let rows = CSVTests.parse(Reporting.faultsCSV(Self.run))
        let records = rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(rows[0], $0)) }
        #expect(records.count == 5 && rows.allSatisfy { $0.count == rows[0].count })
        for record in records {
            let counts = FaultCSV.columns.filter { record["\($0)_percent"] != nil }.compactMap { Int(record[$0] ?? "") }
            #expect(counts.count == OutcomeRow.Group.allCases.count)
            #expect(counts.reduce(0, +) == Int(record["trials"] ?? ""))
        }
        let sqlite = try #require(records.first { $0["engine"] == "sqlite" && $0["fault"] == "bit-flip" })
        #expect(sqlite["silently_wrong"] == "380" && sqlite["silently_wrong_percent"] == "19")
        #expect(sqlite["verdict"] == "unpromised" && sqlite["cases"] == "2" && sqlite["durability"] == "full")
        let idle = try #require(records.first { $0["engine"] == "strata" && $0["fault"] == "odd-kill" })
        #expect(idle["trials"] == "0" && idle["correct_percent"] == "" && idle["verdict"] == "inconclusive")
    }

    @Test("the page has counts, shares and promises; a run without faults has neither table nor link")
    func page() {
        let html = Reporting.html(Self.run)
        let section = HTMLTests.section("faults", of: html)
        #expect(html.contains("href=\"#faults\""))
        #expect(section.matches(of: /<tr><th scope="row">/).count == 5)
        #expect(section.contains("380<small> 19\(Figure.gap)%</small>"))
        #expect(section.contains("durability broken, atomicity kept"))
        #expect(section.contains("v-broken") && section.contains("v-unanswered"))
        let plain = HTMLTests.run([PlausibleRun.passed(PlausibleRun.test("commit", .workload, "sqlite"))])
        #expect(!Reporting.html(plain).contains("#faults") && !Reporting.html(plain).contains("id=\"faults\""))
        #expect(Reporting.faultsCSV(plain).isEmpty)
    }
}
