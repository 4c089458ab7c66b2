import JSONText
import Measuring
import RunRecords
import Testing

@testable import Reporting

/// Every format for a run small enough to give the whole text here.
@Suite struct ExportTests {
    private static func histogram(_ values: [UInt64]) -> Histogram {
        var histogram = Histogram()
        for value in values { histogram.record(value) }
        return histogram
    }

    private static let run: Run = {
        let test = PlausibleRun.test("commit", .workload, "sqlite", dataset: "a\"b\\<&", size: 10)
        var result = CaseResult(test: test, verdict: .pass)
        result.engineVersion = "3.40.1"
        result.durationNanoseconds = 1_500_000
        result.samples = [
            Sample(.commitsPerSecond, 1_250, count: 7, low: 1_000, high: 1_500),
            Sample(.latencyNanoseconds, 1_500, statistic: "p50", count: 3),
            Sample(.rows, 10), Sample(.fileBytes, .nan),
        ]
        var failed = CaseResult(
            test: PlausibleRun.test("commit", .workload, "strata", dataset: "", size: 0), verdict: .violation)
        failed.message = "lost 1 commit\n\u{1}"
        failed.durationNanoseconds = 500_000
        failed.samples = [Sample(.commitsPerSecond, 9)]
        var run = HTMLTests.run([result, failed])
        run.header.id = "r-1"
        run.header.commit = ""
        run.details = [
            test.id: CaseDetails(
                histograms: [NamedHistogram(name: "commit, a b", histogram: Self.histogram([3, 200, 200, 1_000]))]),
            failed.test.id: CaseDetails(
                histograms: [NamedHistogram(name: "commit", histogram: Self.histogram([1]))]),
        ]
        return run
    }()

    private static var sqlite: String { run.results[0].test.id }
    private static var strata: String { run.results[1].test.id }

    @Test("JUnit: a suite per scenario, a verdict as its kind, and an empty fact is still XML")
    func junit() {
        let time = Figure.time(Self.run.header.startTime)
        let text = Reporting.export(Self.run, as: .junit)
        let head = "tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"0.002\" timestamp=\"\(time)\">"
        #expect(text.contains("<testsuites name=\"assay \(Self.run.header.plan)\" \(head)\n"))
        #expect(text.contains("<testsuite name=\"commit\" \(head)"))
        #expect(text.contains("<property name=\"commit\" value=\"\"></property>"))
        let tests = text.split(separator: "\n").filter { $0.hasPrefix("<testcase") }
        #expect(
            tests == [
                "<testcase classname=\"commit.sqlite\" name=\"commit sqlite a&quot;b\\&lt;&amp; 10\" "
                    + "time=\"0.002\"></testcase>",
                "<testcase classname=\"commit.strata\" name=\"commit strata\" time=\"0.001\">"
                    + "<failure message=\"lost 1 commit",
            ])
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        var others = Self.run
        for (verdict, kind) in [
            (Verdict.harnessError, "<error "), (.suspectedHarness, "<error "), (.inconclusive, "<skipped "),
            (.notApplicable, "<skipped "), (.notBuilt, "<skipped "), (.known, "<system-out>"),
            (.unpromised, "<system-out>"),
        ] {
            others.results[1].verdict = verdict
            #expect(Reporting.export(others, as: .junit).contains(kind), "\(verdict)")
        }
    }

    @Test("github-action-benchmark: one direction a file, with the interval as the range")
    func githubActionBenchmark() {
        let name = #"commit sqlite a\"b\\<& 10: "#
        #expect(
            Reporting.export(Self.run, as: .githubActionBenchmark, better: .bigger)
                == #"[{"name":"\#(name)commits_per_second","unit":"1/s","value":1250.0,"range":"±20 %","#
                + #""extra":"7 measurements, 3.40.1, case \#(Self.sqlite)"}]"# + "\n")
        #expect(
            Reporting.export(Self.run, as: .githubActionBenchmark, better: .smaller)
                == #"[{"name":"\#(name)latency_ns p50","unit":"ns","value":1500.0,"#
                + #""extra":"3 measurements, 3.40.1, case \#(Self.sqlite)"}]"# + "\n")
    }

    @Test("Bencher: measures by case; names that become one slug stay two, long ones are cut")
    func bencher() {
        #expect(
            Reporting.export(Self.run, as: .bencher)
                == #"{"commit sqlite a\"b\\<& 10":{"commits-per-second":"#
                + #"{"value":1250.0,"lower_value":1000.0,"upper_value":1500.0},"latency-ns-p50":{"value":1500.0}}}"#
                + "\n")
        var run = Self.run
        run.results[0].samples = ["a b", "a-b"].map { Sample(.latencyNanoseconds, 1, label: $0) }
        let slugs = Reporting.export(run, as: .bencher).matches(of: /"(latency[^"]*)"/).map(\.output.1)
        #expect(slugs.count == 2 && slugs.first == "latency-ns-a-b" && Set(slugs).count == 2)
        let long = ExportedRun.slug(String(repeating: "long name ", count: 20))
        #expect(long.utf8.count == 64 && long != ExportedRun.slug(String(repeating: "long name ", count: 21)))
    }

    @Test("OpenMetrics: base units, cumulative buckets, and an end")
    func openMetrics() {
        let labels =
            #"scenario="commit",engine="sqlite",engine_version="3.40.1",dataset="a\"b\\<&",size="10","#
            + #"durability="full",case="\#(Self.sqlite)""#
        let name = "assay_latency_distribution_seconds"
        let info = #"run="r-1",plan="quick",seed="1",host="bench-1",cpu="AMD EPYC 7543""#
        let expected = """
            # TYPE assay_run info
            # HELP assay_run The run that the figures are of.
            assay_run_info{\(info)} 1
            # TYPE assay_commits_per_second gauge
            # HELP assay_commits_per_second commits_per_second, higher is better.
            assay_commits_per_second{\(labels),statistic="value"} 1250
            # TYPE assay_latency_seconds gauge
            # UNIT assay_latency_seconds seconds
            # HELP assay_latency_seconds latency_ns, lower is better.
            assay_latency_seconds{\(labels),statistic="p50"} \(1_500 * 1e-9)
            # TYPE assay_rows gauge
            # HELP assay_rows rows, neither better nor worse.
            assay_rows{\(labels),statistic="value"} 10
            # TYPE \(name) histogram
            # UNIT \(name) seconds
            # HELP \(name) Every latency of a case.
            \(name)_bucket{\(labels),name="commit, a b",le="\(127 * 1e-9)"} 1
            \(name)_bucket{\(labels),name="commit, a b",le="\(255 * 1e-9)"} 3
            \(name)_bucket{\(labels),name="commit, a b",le="\(511 * 1e-9)"} 3
            \(name)_bucket{\(labels),name="commit, a b",le="\(1_023 * 1e-9)"} 4
            \(name)_bucket{\(labels),name="commit, a b",le="+Inf"} 4
            \(name)_count{\(labels),name="commit, a b"} 4
            \(name)_sum{\(labels),name="commit, a b"} \(1_403 * 1e-9)
            # EOF

            """
        let text = Reporting.export(Self.run, as: .openMetrics)
        for (line, wanted) in zip(text.split(separator: "\n"), expected.split(separator: "\n")) {
            #expect(line == wanted)
        }
        #expect(text == expected)
    }

    @Test("a trace: a track per engine, slices that do not overlap")
    func trace() throws {
        let text = Reporting.export(Self.run, as: .perfetto)
        #expect(
            text.contains(
                #"{"name":"commit strata","ph":"X","cat":"workload","ts":0.0,"dur":500.0,"pid":1,"tid":2,"#
                    + #""args":{"case":"\#(Self.strata)","verdict":"violation","round":0}}"#))
        var run = Self.run
        var second = run.results[0]
        second.turn = Turn(round: 1)
        run.rounds[Self.sqlite] = [second, run.results[0]]
        let again = Reporting.export(run, as: .perfetto)
        #expect(
            again.contains(
                #""ts":0.0,"dur":1500.0,"pid":1,"tid":1,"args":{"case":"\#(Self.sqlite)","verdict":"pass","round":0}"#))
        #expect(again.contains(#""ts":1500.0,"dur":1500.0"#) && again.contains(#""round":1}"#))
        let document = try JSONReader.read(Array(again.utf8))
        #expect(document["displayTimeUnit"] == .string("ms"))
    }

    @Test("HdrHistogram's log: a line per distribution of the exported cases, in its own encoding")
    func hdr() throws {
        let lines = Reporting.export(Self.run, as: .hdr).split(separator: "\n")
        #expect(lines.first == "#[Histogram log format version 1.3]")
        let line = try #require(lines.last)
        #expect(lines.count == 5)
        #expect(
            line.hasPrefix("Tag=commit_sqlite_a\"b\\<&_10/\(Self.sqlite)/commit__a_b,0.000,0.002,0.001,HISTFAAAA"))
        let encoded = HighDynamicRange(Self.histogram([3, 200, 200, 1_000])).encoded
        #expect(Array(encoded.prefix(4)) == [0x1C, 0x84, 0x93, 0x13])
        // 3 zeros, a count of 1, 196 zeros, a count of 2, 305 zeros, a count of 1: ZigZag, seven bits a byte.
        #expect(Array(encoded.dropFirst(40)) == [5, 2, 0x87, 0x03, 4, 0xE1, 0x04, 2])
        #expect(HighDynamicRange.index(255) == 255 && HighDynamicRange.index(256) == 256)
        #expect(HighDynamicRange.index(511) == 383 && HighDynamicRange.index(.max) == 56 * 128 + 255)
        #expect(ZlibStream.stored([1, 2, 3]) == [0x78, 1, 1, 3, 0, 0xFC, 0xFF, 1, 2, 3, 0, 13, 0, 7])
        #expect(ZlibStream.stored(Array(repeating: 0, count: 70_000)).count == 70_000 + 2 + 2 * 5 + 4)
        #expect(["", "f", "fo", "foo"].map { Base64.text(Array($0.utf8)) } == ["", "Zg==", "Zm8=", "Zm9v"])
    }

    @Test("a plan without measurements exports only counts, and no distribution")
    func measuresNothing() {
        var run = Self.run
        run.header.measures = false
        run.results[0].samples.append(Sample(Metric("file_syncs", unit: "count", .lowerIsBetter, .measured), 31))
        #expect(Reporting.export(run, as: .bencher).contains(#"{"file-syncs":{"value":31.0}}"#))
        #expect(!Reporting.export(run, as: .openMetrics).contains("_bucket"))
        #expect(!Reporting.export(run, as: .hdr).contains("Tag="))
    }
}
