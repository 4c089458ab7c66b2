import Seeds
import Testing

@testable import RunRecords

/// Fictional runs, and the results of gates on them.
struct CountedRun {
    var header = RunDirectoryTests.header([])
    /// Values by case and metric, one per round.
    private var cases: [(test: Case, values: [String: [Double]], verdict: Verdict)] = []

    init() {
        header.isReleaseBuild = true
        header.buildDigest = "digest"
        header.notBuilt = []
        header.engines = [EngineVersion(name: "strata", version: "0.1")]
    }

    static func test(_ scenario: String, engine: String = "strata") -> Case {
        Case(
            scenario: scenario, family: .workload, engine: engine, dataset: "people", size: 10, parameters: [],
            seed: Seed(1), durability: .full)
    }

    mutating func add(
        _ scenario: String, engine: String = "strata", _ values: [String: [Double]], verdict: Verdict = .pass
    ) {
        cases.append((Self.test(scenario, engine: engine), values, verdict))
    }

    /// Two cases of three rounds, without scatter.
    static func sound() -> CountedRun {
        var run = CountedRun()
        run.add(
            "commit",
            [
                "syncs_per_commit": [1.25, 1.25, 1.25], "file_syncs": [31, 31, 31],
                "instructions": [76_433_787, 76_504_497, 76_437_949], "commits_per_second": [400, 20, 9_000],
            ])
        run.add(
            "point-read",
            [
                "allocations_per_operation": [1.0019, 1.0019, 1.0019], "file_syncs": [0, 0, 0],
                "file_bytes": [8, 8, 8],
            ])
        return run
    }

    var run: Run {
        var run = Run(header: header, results: [], directory: "Reports/r")
        run.header.cases = cases.map(\.test.id)
        for (test, values, verdict) in cases {
            let count = values.values.map(\.count).max() ?? 1
            let rounds = (0..<count).map { round in
                var result = CaseResult(test: test, verdict: verdict, turn: Turn(round: round))
                result.samples = values.sorted { $0.key < $1.key }.map { name, values in
                    Sample(Metric(name, unit: "count", .lowerIsBetter, .measured), values[round])
                }
                return result
            }
            run.rounds[test.id] = rounds
            run.header.rounds[test.id] = count
            if let merged = CaseResult.merged(rounds) { run.results.append(merged) }
        }
        return run
    }

    /// The baseline after a round trip, as a gate reads it.
    func baseline(_ name: String = "b") throws -> Baseline {
        let made = try Baseline.make(name: name, of: [run]).0
        return try Baseline(Array(made.text.utf8), path: "b.json")
    }

    /// Budgets by keys such as `commit.syncs`.
    static func budgets(_ lines: [String: String]) throws -> [Budget] {
        try lines.sorted { $0.key < $1.key }.map { key, limit in
            let parts = key.split(separator: ".").map(String.init)
            let engine = parts.dropLast().first { $0 == "strata" || $0 == "sqlite" }
            let scenario = parts.dropLast().first { $0 != engine }
            return try #require(
                Budget(BudgetKey(scenario: scenario, engine: engine, metric: parts[parts.count - 1]), limit), "\(limit)"
            )
        }
    }
}

@Suite struct GateTests {
    private static let everything = [
        "syncs": "==", "allocations": "==", "file_bytes": "==", "instructions": "+0.5%",
    ]

    private func report(
        _ run: CountedRun, beside sound: CountedRun = .sound(), _ lines: [String: String] = everything
    ) throws -> GateReport {
        Gate.report(run.run, baseline: try sound.baseline(), budgets: try CountedRun.budgets(lines))
    }

    private func only(_ decision: GateFinding.Decision, of report: GateReport) throws -> GateFinding {
        let found = report.findings.filter { $0.decision == decision }
        try #require(found.count == 1, "\(found)")
        return found[0]
    }

    @Test("a run passes against itself, and rates and times are ignored")
    func itself() throws {
        let report = try report(.sound())
        #expect(report.exitStatus == 0)
        #expect(report.findings.count == 6 && report.count(.kept) == 6, "\(report.findings)")
        #expect(!report.findings.contains { $0.figure?.metric == "commits_per_second" })
    }

    @Test("one sync more per commit is named with metric and scenario")
    func oneSyncMore() throws {
        var worse = CountedRun()
        worse.add("commit", ["syncs_per_commit": [2.25, 2.25, 2.25], "file_syncs": [31, 31, 31]])
        let report = try report(worse, ["syncs_per_commit": "==", "commit.file_syncs": "=="])
        #expect(report.exitStatus == 2)
        let finding = try only(.exceeded, of: report)
        #expect(finding.test?.scenario == "commit" && finding.figure?.metric == "syncs_per_commit")
        #expect(finding.reason == "2.25 here, 1.25 in the baseline")
    }

    @Test("one more allocation per read is named, a tenth is not, with a budget of a half")
    func oneAllocationMore() throws {
        func status(_ allocations: Double, _ budget: String) throws -> Int32 {
            var run = CountedRun()
            run.add("point-read", ["allocations_per_operation": [allocations, allocations, allocations]])
            let lines = ["point-read.allocations": budget]
            let report = try report(run, lines)
            let found = report.findings.filter { $0.decision == .exceeded }
            #expect(found.allSatisfy { $0.subject == "point-read  strata  people 10: allocations_per_operation" })
            return report.exitStatus
        }
        #expect(try status(2.0019, "==") == 2)
        #expect(try status(2.0019, "+0.5") == 2)
        #expect(try status(1.1019, "+0.5") == 0)
        #expect(try status(1.1019, "==") == 2)
    }

    @Test("1 % more instructions exceed a budget of 0.5 %, their scatter does not")
    func instructions() throws {
        func status(_ factor: Double) throws -> Int32 {
            var run = CountedRun()
            run.add("commit", ["instructions": [76_433_787 * factor, 76_437_949 * factor]])
            return try report(run, ["instructions": "+0.5%"]).exitStatus
        }
        #expect(try status(1) == 0)
        #expect(try status(1.001) == 0)
        #expect(try status(1.01) == 2)
        #expect(try status(0.5) == 0)
    }

    @Test("on another processor instructions are skipped by name, and the others decided")
    func otherProcessor() throws {
        var run = CountedRun.sound()
        run.header.machine.processor = "another"
        let report = try report(run)
        #expect(report.exitStatus == 0)
        let skipped = try only(.skipped, of: report)
        #expect(skipped.figure?.counter == .instructions && skipped.reason.contains("another processor (p)"))
        #expect(report.count(.kept) == 5)
    }

    @Test("allocations and instructions are not compared between release and debug builds")
    func otherBuild() throws {
        var run = CountedRun.sound()
        run.header.isReleaseBuild = false
        let report = try report(run)
        #expect(report.count(.skipped) == 2 && report.count(.kept) == 4)
    }

    @Test("another version of an engine is noted, and decided all the same")
    func otherVersion() throws {
        var run = CountedRun.sound()
        run.header.engines[0].version = "0.2"
        let report = try report(run)
        #expect(report.remarks == ["strata is 0.2 here and was 0.1 when the baseline was saved"])
        #expect(report.exitStatus == 0)
    }

    @Test("a budget == refuses a count that did not repeat in the baseline; a budget by a share accepts it")
    func notExact() throws {
        var sound = CountedRun()
        sound.add("commit", ["file_written_bytes": [100, 104, 102]])
        let undecided = try report(sound, beside: sound, ["written_bytes": "=="])
        #expect(undecided.exitStatus == 3)
        #expect(try only(.undecided, of: undecided).reason.contains("3 measurements of the baseline gave 100 to 104"))
        #expect(try report(sound, beside: sound, ["written_bytes": "+1%"]).exitStatus == 0)
        var worse = CountedRun()
        worse.add("commit", ["file_written_bytes": [99, 106, 107]])
        #expect(try report(worse, beside: sound, ["written_bytes": "+1%"]).exitStatus == 2)
    }

    @Test("a budget == refuses a count that was measured once")
    func once() throws {
        var sound = CountedRun()
        sound.add("commit", ["file_syncs": [3]])
        let report = try report(sound, beside: sound, ["syncs": "=="])
        #expect(report.exitStatus == 3)
        #expect(try only(.undecided, of: report).reason.contains("--also RUN"))
        #expect(try self.report(sound, beside: sound, ["syncs": "==3"]).exitStatus == 0)
    }

    @Test("a count that scatters in the run but not in the baseline exceeds its budget")
    func varies() throws {
        var run = CountedRun()
        run.add("commit", ["file_syncs": [31, 32, 31]])
        let finding = try only(.exceeded, of: try report(run, ["file_syncs": "==", "point-read.syncs": "any"]))
        #expect(finding.reason.contains("31 to 32 here in 3 measurements"))
    }

    @Test("a fixed limit holds for every measurement, with and without a baseline")
    func numbers() throws {
        let lines = ["commit.file_syncs": "==31", "commit.syncs_per_commit": "<=1.25"]
        #expect(try report(.sound(), lines).exitStatus == 0)
        #expect(try report(.sound(), ["commit.file_syncs": "==30"]).exitStatus == 2)
        #expect(try report(.sound(), ["commit.file_syncs": "<=30"]).exitStatus == 2)
        var fresh = CountedRun.sound()
        fresh.add("new", ["file_syncs": [5, 5]])
        #expect(try report(fresh, ["new.syncs": "==5"]).exitStatus == 0)
    }

    @Test("a count below an == budget is not equal, and the reason names the remedy")
    func fewer() throws {
        var better = CountedRun()
        better.add("commit", ["file_syncs": [30, 30, 30]])
        let finding = try only(.exceeded, of: try report(better, ["commit.file_syncs": "=="]))
        #expect(finding.reason.hasSuffix("if fewer are meant, save the baseline anew"))
    }

    @Test("of several budgets the narrowest applies")
    func narrowest() throws {
        let lines = [
            "syncs": "==0", "strata.syncs": "==0", "commit.syncs": "==0", "commit.strata.syncs": "==31",
            "commit.strata.syncs_per_commit": "==1.25", "point-read.strata.syncs": "any",
        ]
        let report = try report(.sound(), lines)
        #expect(report.exitStatus == 0 && report.count(.kept) == 2, "\(report.findings)")
    }

    @Test("a gate without figures fails: no covered figure, a missing case, a failed one, a lost figure")
    func nothing() throws {
        let idle = try report(.sound(), ["commit.read_calls": "=="])
        #expect(idle.exitStatus == 3)
        #expect(try only(.undecided, of: idle).subject == "budget commit.read_calls")

        var part = CountedRun()
        part.add("commit", ["file_syncs": [31, 31, 31]])
        let gone = try report(part, ["file_syncs": "=="])
        #expect(gone.exitStatus == 3)
        #expect(try only(.undecided, of: gone).test?.scenario == "point-read")

        var failed = CountedRun.sound()
        failed.add("other", ["file_syncs": [1, 1]], verdict: .violation)
        #expect(try report(failed, ["file_syncs": "=="]).exitStatus == 3)

        var lost = CountedRun()
        lost.add("commit", ["file_syncs": [31, 31, 31]])
        let report = try report(lost, ["commit.syncs": "=="])
        #expect(try only(.undecided, of: report).figure?.metric == "syncs_per_commit")
        #expect(try self.report(.sound(), beside: .sound(), [:]).exitStatus == 3)
    }

    @Test("instructions that were not counted are skipped by name, and decide nothing by themselves")
    func uncounted() throws {
        var run = CountedRun()
        run.add("commit", ["file_syncs": [31, 31, 31]])
        let both = try report(run, beside: run, ["syncs": "==", "instructions": "+0.5%"])
        #expect(both.exitStatus == 0)
        #expect(try only(.skipped, of: both).subject == "budget instructions")
        #expect(try report(run, beside: run, ["instructions": "+0.5%"]).exitStatus == 3)
    }

    @Test("counts that this machine lacks are skipped by name, and decide nothing by themselves")
    func notCounted() throws {
        var run = CountedRun()
        run.add("commit", ["commits_per_second": [1, 1, 1]])
        run.add("point-read", ["file_bytes": [8, 8, 8]])
        run.header.notBuilt = [NotBuilt(name: "allocation counts", remedy: "")]
        let report = try report(run)
        #expect(report.exitStatus == 0)
        #expect(
            Set(report.findings.filter { $0.decision == .skipped }.compactMap(\.figure?.counter))
                == [.syncs, .allocations, .instructions])
        #expect(try self.report(run, ["syncs": "=="]).exitStatus == 3, "only skipped")
    }

    @Test("an engine that is not built is skipped by name")
    func notBuilt() throws {
        var sound = CountedRun.sound()
        sound.add("commit", engine: "sqlite", ["file_syncs": [3, 3]])
        var run = CountedRun.sound()
        run.add("commit", engine: "sqlite", [:], verdict: .notBuilt)
        let report = try report(run, beside: sound)
        #expect(report.exitStatus == 0)
        #expect(try only(.skipped, of: report).test?.engine == "sqlite")
    }

    @Test(
        "invalid budgets are refused",
        arguments: [
            "", "=", "1", "==x", "+", "+%", "+x%", "-1", "<4", "<=", ">=3", "+1e3%", "==-1", "+nan", "== 1 2 x",
        ])
    func wrongExpressions(text: String) {
        #expect(BudgetLimit(text) == nil)
    }

    @Test("the forms of a budget")
    func expressions() {
        #expect(BudgetLimit("==") == .same)
        #expect(BudgetLimit("== 1") == .exactly(1))
        #expect(BudgetLimit("<=4.5") == .atMost(4.5))
        #expect(BudgetLimit("+2") == .moreBy(2))
        #expect(BudgetLimit("+0.5%") == .moreByShare(0.005))
        #expect(BudgetLimit("any") == .any)
    }
}
