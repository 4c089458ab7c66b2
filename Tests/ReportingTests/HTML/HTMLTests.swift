import Measuring
import RunRecords
import Seeds
import Testing

@testable import Reporting

@Suite struct HTMLTests {
    /// The content of the element with that id, up to the next section.
    static func section(_ id: String, of html: String) -> Substring {
        guard let start = html.firstRange(of: "<section id=\"\(id)\"") else { return "" }
        let rest = html[start.lowerBound...]
        return rest[..<(rest.firstRange(of: "</section>")?.upperBound ?? rest.endIndex)]
    }

    static func emptyRun() -> Run {
        var header = RunHeader(id: "r", plan: "quick", seed: Seed(1), machine: PlausibleRun.machine)
        header.isReleaseBuild = true
        return Run(header: header, results: [], directory: "Reports/r")
    }

    static func run(_ results: [CaseResult]) -> Run {
        var run = emptyRun()
        run.results = results
        run.header.cases = results.map(\.test.id)
        return run
    }

    @Test("the report loads nothing, and its policy makes the browser enforce that")
    func selfContained() {
        let html = Reporting.html(PlausibleRun.run)
        for reference in ["http:", "https:", "src=", "@import", "url(", "//cdn"] {
            #expect(!html.contains(reference), "\(reference) in the report")
        }
        #expect(html.contains("default-src &#39;none&#39;"))
        #expect(html.matches(of: /href="([^"#][^"]*)"/).map { String($0.output.1) } == ["data:,"])
    }

    @Test("elements are properly nested")
    func nesting() {
        for run in [PlausibleRun.run, Self.emptyRun()] {
            let html = Reporting.html(run)
            guard let script = html.firstRange(of: "<script>"), let style = html.firstRange(of: "<style>"),
                let styleEnd = html.firstRange(of: "</style>"), let scriptEnd = html.firstRange(of: "</script>")
            else {
                Issue.record("no script or style")
                return
            }
            let markup =
                html[..<style.lowerBound] + html[styleEnd.upperBound..<script.lowerBound]
                + html[scriptEnd.upperBound...]
            var open: [Substring] = []
            for tag in markup.matches(of: /<(\/?)([a-z0-9]+)[^>]*>/) {
                let name = tag.output.2
                if ["meta", "link", "input"].contains(name) { continue }
                if tag.output.1.isEmpty {
                    open.append(name)
                } else {
                    #expect(open.popLast() == name)
                }
            }
            #expect(open.isEmpty)
        }
    }

    @Test("every internal link resolves, and ids are unique")
    func links() {
        for run in [PlausibleRun.run, Self.emptyRun(), Self.largeRun(cases: 1_300)] {
            let html = Reporting.html(run)
            let ids = html.matches(of: /\sid="([^"]+)"/).map { $0.output.1 }
            #expect(Set(ids).count == ids.count)
            let targets = Set(html.matches(of: /href="#([^"]+)"/).map { $0.output.1 })
            #expect(targets.subtracting(ids) == [])
        }
    }

    @Test("every verdict is one of five words with a legend, and its exact name is shown with its case")
    func verdicts() {
        let results = Verdict.allCases.enumerated().map { index, verdict in
            CaseResult(test: PlausibleRun.test("s\(index)", .corruption, "strata"), verdict: verdict)
        }
        var run = Self.run(results)
        run.header.cases.append("missing00000")
        let html = Reporting.html(run)
        let legend = html.firstMatch(of: /<dl class="legend">.*?<\/dl>/)?.output ?? ""
        for shown in ShownVerdict.allCases {
            #expect(html.contains("v-\(shown.rawValue)\"") && legend.contains(Markup.escaped(shown.explanation)))
            #expect(!shown.rawValue.contains(" "))
        }
        #expect(ShownVerdict.allCases.count == 5)
        let cases = Self.section("cases", of: html)
        for verdict in Verdict.allCases {
            #expect(cases.contains("<i>verdict</i> \(Standing.judged(verdict).words)<"))
        }
    }

    @Test(
        "the verdict is green only without violations, errors and missing cases",
        arguments: [
            (Verdict.pass, "good"), (.unpromised, "good"), (.known, "bad"), (.violation, "bad"),
            (.harnessError, "doubt"), (.inconclusive, "doubt"),
        ])
    func tone(verdict: Verdict, tone: String) {
        let run = Self.run([CaseResult(test: PlausibleRun.test("bit-flip", .corruption, "strata"), verdict: verdict)])
        #expect(Reporting.html(run).contains("headline \(tone)\""))
        var stopped = run
        stopped.header.cases.append("missing00000")
        #expect(!Reporting.html(stopped).contains("headline good\""))
    }

    @Test("text from data and errors is escaped")
    func escaping() {
        let evil = "<script>alert(1)</script>&\"'\u{0}"
        var result = PlausibleRun.passed(
            PlausibleRun.test(
                "bit-flip", .corruption, "strata", dataset: evil,
                parameters: [CaseParameter(name: evil, value: evil)]))
        result.verdict = .violation
        result.message = evil
        result.settings = [EngineSetting(evil, evil)]
        result.trials = [Trial(address: FaultAddress(text: evil), outcome: .silentlyWrong, detail: evil)]
        result.crash = CrashReport(signal: 11, standardError: evil)
        result.samples = [Sample(Metric(evil, unit: evil, .lowerIsBetter, .measured), 1, label: evil)]
        var run = Self.run([result])
        run.directory = evil
        run.header.warnings = [evil]
        run.header.notBuilt = [NotBuilt(name: evil, remedy: evil)]
        let series = Series(name: evil, step: evil, points: [SizePoint(fileBytes: 1), SizePoint(fileBytes: 2)])
        run.details = [result.test.id: CaseDetails(series: [series])]
        let html = Reporting.html(run)
        #expect(!html.contains("<script>alert"))
        #expect(!html.contains("\u{0}"))
        #expect(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;\u{FFFD}"))
        #expect(html.matches(of: /<script>/).count == 1)
    }

    @Test("each case has its command, and each kept trial one of its own")
    func commands() {
        let run = PlausibleRun.run
        let html = Reporting.html(run)
        for result in run.results {
            #expect(html.contains("assay replay Reports/2026-11-21-quick-7 \(result.test.id)<"))
            for trial in result.trials {
                #expect(html.contains("assay replay Reports/2026-11-21-quick-7 \(result.test.id) \(trial.address)"))
            }
        }
    }

    @Test("results of different durability classes share neither a table row nor a chart")
    func durability() {
        var full = PlausibleRun.passed(PlausibleRun.test("commit", .workload, "strata"))
        full.samples = [Sample(.commitsPerSecond, 1_111)]
        var none = PlausibleRun.passed(PlausibleRun.test("commit", .workload, "sqlite", durability: .none))
        none.samples = [Sample(.commitsPerSecond, 98_765)]
        let html = Reporting.html(Self.run([full, none]))
        let speed = Self.section("fast", of: html)
        #expect(speed.contains("1\u{A0}110") && speed.contains("98\u{A0}800"))
        for row in speed.matches(of: /<tr>.*?<\/tr>|<svg.*?<\/svg>/) {
            #expect(!(row.output.contains("1\u{A0}110") && row.output.contains("98\u{A0}800")))
        }
        #expect(!speed.contains("\u{D7}<"), "a ratio between classes")
    }

    @Test("an unfinished run names each missing case, and the command that finishes it")
    func unfinished() {
        var run = PlausibleRun.run
        let gone = run.results.removeLast()
        let html = Reporting.html(run)
        #expect(html.contains("not run \(gone.test.id)"))
        #expect(html.contains("--resume Reports/2026-11-21-quick-7"))
        let empty = Reporting.html(Self.emptyRun())
        #expect(empty.contains("No case was run"))
    }

    @Test("a worker that crashed, hung or gave no report is shown with its output")
    func crashes() {
        func broken(_ name: String, _ outcome: Outcome?, _ verdict: Verdict, _ crash: CrashReport?) -> CaseResult {
            var result = CaseResult(test: PlausibleRun.test(name, .crash, "strata"), verdict: verdict)
            result.outcome = outcome
            result.crash = crash
            return result
        }
        let html = Reporting.html(
            Self.run([
                broken("traps", .crashed, .violation, CrashReport(signal: 4, standardError: "Fatal error: trap\n")),
                broken("hangs", .hung, .violation, nil),
                broken("silent", nil, .harnessError, CrashReport(exitStatus: 0)),
            ]))
        #expect(html.contains("Ended by signal 4") && html.contains("Fatal error: trap"))
        #expect(html.contains("Ended by exit status 0"))
        let safety = Self.section("safe", of: html)
        #expect(safety.contains("2 stopped") && safety.contains("(a promise broken)"))
    }

    @Test("the entry of a case shows a measurement once, not again as its equal minimum and maximum")
    func figures() throws {
        var result = PlausibleRun.passed(PlausibleRun.test("walk", .workload, "strata"))
        result.samples = ["median", "min", "max"].map {
            Sample(.operationNanoseconds, 50, statistic: $0, label: "walk")
        }
        func figureCount() throws -> Int {
            let html = Reporting.html(Self.run([result]))
            let list = try #require(html.firstMatch(of: /<dl class="figures">.*?<\/dl>/)).output
            return list.matches(of: /<dt>/).count
        }
        #expect(try figureCount() == 1)
        result.samples[2].value = 60
        #expect(try figureCount() == 2)
    }

    @Test("capitals warn of a debug build and of a file system that does not sync")
    func warnings() {
        var run = Self.emptyRun()
        run.header.isReleaseBuild = false
        run.header.machine.fsync = .no
        let html = Reporting.html(run)
        #expect(html.contains("DEBUG BUILD") && html.contains("FSYNC NOT HONEST"))
        #expect(!Reporting.html(Self.emptyRun()).contains("class=\"warnings\""))
    }

    static func largeRun(cases: Int) -> Run {
        var results: [CaseResult] = []
        var details: [String: CaseDetails] = [:]
        let plausible = PlausibleRun.run
        for index in 0..<cases {
            let source = plausible.results[index % plausible.results.count]
            var result = source
            var test = source.test
            test = Case(
                scenario: test.scenario, family: test.family, engine: test.engine, dataset: test.dataset,
                size: test.size,
                parameters: test.parameters + [CaseParameter(name: "variant", value: String(index))],
                seed: test.seed, durability: test.durability)
            result.test = test
            results.append(result)
            details[test.id] = plausible.details[source.test.id]
        }
        var run = Self.run(results)
        run.details = details
        return run
    }

    @Test("stays under two megabytes, and loses no violation", arguments: [1_000, 1_700])
    func size(cases: Int) {
        let run = Self.largeRun(cases: cases)
        let html = Reporting.html(run)
        #expect(html.utf8.count < 2_000_000)
        let violations = run.results.filter(\.verdict.isViolation)
        #expect(!violations.isEmpty)
        #expect(html.contains("\(Figure.grouped(violations.count)) violations"))
        if cases == 1_000 {
            for violation in violations { #expect(html.contains("id=\"c-\(violation.test.id)\"")) }
        }
    }
}
