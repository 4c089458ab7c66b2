import RunRecords
import Testing

@testable import Reporting

@Suite struct FigureTests {
    @Test(
        "a number has three significant digits, and all before the point",
        arguments: [
            (0.0, "0"), (1, "1.00"), (1.2345, "1.23"), (9.999, "10.0"), (99.95, "100"), (123.4, "123"),
            (999.6, "1 000"),
            (1_234, "1 230"), (12_345.6, "12 300"), (1_250_000, "1 250 000"), (0.05, "0.0500"), (0.001234, "0.00123"),
            (-4.5, "\u{2212}4.50"), (.infinity, "\u{2013}"), (.nan, "\u{2013}"),
        ])
    func rounded(value: Double, text: String) {
        #expect(Figure.rounded(value, gap: " ") == text)
    }

    @Test(
        "a duration has the unit in which it is shortest",
        arguments: [
            (0.31, "0.310 ns"), (812, "812 ns"), (999.7, "1.00 \u{B5}s"), (1_234_567, "1.23 ms"),
            (84_000_000_000, "84.0 s"),
        ])
    func durations(nanoseconds: Double, text: String) {
        #expect(Figure.duration(nanoseconds: nanoseconds, gap: " ") == text)
    }

    @Test(
        "bytes count by 1 024",
        arguments: [(0.0, "0 B"), (1_000, "1 000 B"), (4_096, "4.00 KiB"), (1_048_576, "1.00 MiB"), (5e9, "4.66 GiB")])
    func bytes(value: Double, text: String) {
        #expect(Figure.bytes(value, gap: " ") == text)
    }

    @Test(
        "time is that of UTC, leap years counted",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (1_795_248_900, "2026-11-21T08:15:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ])
    func time(seconds: Int, text: String) {
        #expect(Figure.time(seconds) == text)
    }

    @Test(
        "a ratio has two decimals up to ten",
        arguments: [
            (1.0, "1.00"), (0.996, "1.00"), (0.476, "0.48"), (0.014, "0.01"), (0.0012, "0.001"), (1.875, "1.88"),
            (9.996, "10.0"), (12.34, "12.3"), (1_234, "1\u{A0}230"),
        ])
    func ratio(value: Double, text: String) {
        #expect(Figure.ratio(value) == text + "\u{D7}")
    }

    @Test("a ratio above one is better in either direction, and the in-memory model is no peer")
    func ratios() throws {
        func row(_ metric: Metric, _ values: [String: Double]) -> MeasureRow {
            let result = CaseResult(test: PlausibleRun.test("commit", .workload, "strata"), verdict: .pass)
            return MeasureRow(
                subject: Subject(result.test), measure: Measure(Sample(metric, 1)),
                values: values.mapValues { (Sample(metric, $0), result) })
        }
        let engines = ["strata", "sqlite", "sqlite-tuned", "model"]
        let digest = RunDigest(
            HTMLTests.run(engines.map { PlausibleRun.passed(PlausibleRun.test("commit", .workload, $0)) }))
        let rate = row(.commitsPerSecond, ["strata": 300, "sqlite": 100, "sqlite-tuned": 150, "model": 9_000])
        let own = try #require(digest.ratio(rate, of: "strata"))
        #expect(own.value == 2 && own.peer == "sqlite-tuned" && own.decision == nil)
        #expect(digest.ratio(rate, of: "sqlite")?.value == 1.0 / 3)
        #expect(digest.ratio(rate, of: "model") == nil)
        let time = row(.operationNanoseconds, ["strata": 50, "sqlite": 100, "model": 1])
        #expect(digest.ratio(time, of: "strata")?.value == 2)
        #expect(digest.ratio(row(.commitsPerSecond, ["strata": 300, "model": 1]), of: "strata") == nil)
    }

    @Test("bytes and syncs of an operation, and the time of a whole case, are resources and no speeds")
    func resources() {
        func kind(_ name: String, _ unit: String, label: String = "") -> MeasureClass {
            Measure(Sample(Metric(name, unit: unit, .lowerIsBetter, .measured), 1, label: label)).kind
        }
        #expect(kind("write_amplification_ratio", "ratio") == .resource)
        #expect(kind("written_bytes_per_commit", "bytes") == .resource)
        #expect(kind("syncs_per_commit", "count") == .resource)
        #expect(kind("duration_ms", "ms", label: "whole case") == .resource)
        #expect(kind("duration_ms", "ms") == .speed && kind("file_bytes", "bytes") == .size)
    }

    @Test("a limit of the machine is measured beside the engines, and never ranked with them")
    func limits() throws {
        let digest = RunDigest(PlausibleRun.run)
        let rows = digest.rows(of: .speed, .full)
        #expect(!rows.contains { $0.measure.isLimit || $0.subject.scenario == "raw-disk" })
        let commit = try #require(rows.first { $0.subject.scenario == "commit" && $0.measure.isRate })
        #expect(digest.rawLimit(commit) == 1_210)
        let threads = try #require(rows.first { $0.subject.scenario == "commit-threads" && $0.measure.isRate })
        #expect(digest.rawLimit(threads) == 1_240)
        let insert = try #require(rows.first { $0.subject.scenario == "bulk-insert" })
        #expect(digest.rawLimit(insert) == nil)
        let relaxed = digest.rows(of: .speed, .none)
        #expect(!relaxed.isEmpty && relaxed.allSatisfy { digest.rawLimit($0) == nil })
    }

    @Test("a rate that repeats a time per operation is not drawn twice")
    func once() {
        let rows = RunDigest(PlausibleRun.run).chartRows(.full).filter { $0.subject.scenario == "point-read" }
        #expect(rows.map(\.measure.words) == ["one property", "three properties"])
    }

    @Test("words that a shell would split are quoted")
    func shell() {
        #expect(RunDigest.shellWord("crash:op=17,state=0x3fa2") == "crash:op=17,state=0x3fa2")
        #expect(RunDigest.shellWord("my runs/a'b;$x") == "'my runs/a'\\''b;$x'")
        #expect(RunDigest.shellWord("") == "''")
    }

    @Test("labels of lines with close ends do not overlap, and stay inside")
    func spread() {
        let places = Drawing.spread([50, 51, 49, 98], gap: 10, in: 0...100)
        #expect(places.allSatisfy { (0...100).contains($0) })
        let sorted = places.sorted()
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $1 - $0 >= 10 })
        #expect(places[2] < places[0] && places[0] < places[1] && places[1] < places[3])
    }

    @Test("axes have round steps up to the largest value")
    func axes() {
        #expect(Scale.steps(upTo: 13.2) == [0, 5, 10, 15])
        let mebibyte = 1_048_576.0
        #expect(Scale.steps(upTo: 3.2 * mebibyte, unit: mebibyte) == [0, 1, 2, 3, 4].map { $0 * mebibyte })
        let scale = Scale(.logarithmic, Scale.decades(150, 90_000), from: 0, to: 300)
        #expect(scale.decadeTicks == [100, 1_000, 10_000, 100_000])
        #expect(scale.position(1_000) == 100)
    }
}
