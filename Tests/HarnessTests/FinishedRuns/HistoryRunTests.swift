import Files
import RunRecords
import Seeds
import Testing

@testable import Harness

/// `assay history` by the real executable, on synthetic runs.
@Suite struct HistoryRunTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    /// A finished run of two engines. The ratio is 2 up to run 13 and 1.5 from run 14 on; the machine drifts by far
    /// more.
    private func run(_ number: Int) throws -> String {
        let path = directory.path + "/run-\(number)"
        let machine = Machine(
            host: "bench", system: "Linux", processor: "CPU", coreCount: 2, memoryBytes: 1 << 33, fileSystem: "ext4",
            fsync: .yes, fsyncNanoseconds: 812_000)
        var header = RunHeader(id: "run-\(number)", plan: "peers", seed: Seed(1), machine: machine)
        header.isReleaseBuild = true
        header.startTime = 1_795_000_000 + number * 86_400
        header.commit = "c\(number)" + String(repeating: "0", count: 38)
        let drift = 1 + Double(number * 7 % 11) / 10
        let times = ["strata": 100 * (number < 14 ? 1 : 4.0 / 3), "sqlite": 200 * (1 + Double(number % 3) / 200)]
        let results = times.sorted { $0.key < $1.key }.map { engine, time in
            let test = Case(
                scenario: "point-read", family: .workload, engine: engine, dataset: "people", size: 100,
                parameters: [], seed: Seed(1), durability: .full)
            var result = CaseResult(test: test, verdict: .pass)
            result.engineVersion = "1.0"
            result.samples = [Sample(.operationNanoseconds, time * drift, statistic: "median")]
            return result
        }
        header.cases = results.map(\.test.id)
        let run = RunDirectory(path: path, workDirectory: path + "/work")
        try run.create(header)
        for result in results { try run.append(result, details: CaseDetails()) }
        return path
    }

    private func history(_ words: [String]) throws -> AssayProcess.End {
        try AssayProcess.run(["history"] + words + ["--db", directory.path + "/db/history.sqlite"], in: directory)
    }

    @Test("two processes add at the same time, a run is stored once, and the step is found in the ratio")
    func keepsAndFinds() throws {
        let runs = try (0..<28).map(run)
        let database = ["--db", directory.path + "/db/history.sqlite"]
        let other = directory.path + "/other"
        let second = try AssayProcess.start(["history", "add"] + runs[14...] + database, outputFile: other)
        let first = try history(["add"] + runs[..<14])
        let end = AssayProcess.wait(second)
        guard !first.output.contains("this build has no SQLite") else { return }
        #expect(first.status == .exited(0), "\(first.output)")
        let said = try FileTree.readText(other)
        #expect(end == .exited(0), "\(said)")
        #expect(first.output.contains("added run-0: 2 cases, 2 figures"), "\(first.output)")
        let again = try history(["add", runs[3]])
        #expect(again.output == "run-3 is in the archive already\n")
        let list = try history(["list"])
        #expect(list.output.split(separator: "\n").count == 29, "\(list.output)")
        let csv = directory.path + "/trend.csv"
        let trend = try history(["trend", "point-read strata", "operation_ns", "--csv", csv])
        #expect(trend.status == .exited(0))
        let changes = trend.output.split(separator: "\n").filter { $0.hasPrefix("CHANGE") }
        #expect(changes.count == 1, "\(trend.output)")
        #expect(trend.output.contains("25 % worse from run-14 on"), "\(trend.output)")
        #expect(trend.output.contains("assay bisect --good c13000"), "\(trend.output)")
        let rows = try FileTree.readText(csv).split(separator: "\r\n")
        #expect(rows.count == 29 && rows[15].hasPrefix("run-14,") && !rows[15].hasSuffix(","))
        #expect(rows[14].hasSuffix(",1,"), "\(rows[14])")
        let shown = try history(["show", "run-14"])
        #expect(shown.output.contains("operation_ns median") && shown.output.contains("sqlite"), "\(shown.output)")
        let site = directory.path + "/site"
        let made = try history(["site", site])
        #expect(made.output == "30 pages: \(site)/index.html\n")
        #expect(try FileTree.readText(site + "/index.html").contains("25\u{A0}% worse"))
        let refused = try history(["site", directory.path])
        #expect(refused.status == .exited(64) && refused.output.contains("is not empty"), "\(refused.output)")
    }

    @Test("a run is exported by format; a wrong format, direction or run ends with 64")
    func export() throws {
        let good = try run(1)
        let out = directory.path + "/out"
        let written = try AssayProcess.run(["export", good, "--format", "bencher", "--out", out], in: directory)
        #expect(written.status == .exited(0) && written.output.isEmpty, "\(written.output)")
        #expect(try FileTree.readText(out).hasPrefix(#"{"point-read sqlite people 100":{"operation-ns-median":"#))
        for (words, expected) in [
            ([good, "--format", "juni"], "did you mean junit?"), ([good], "--format F is missing"),
            ([good, "--format", "github-action-benchmark"], "--better bigger, or --better smaller"),
            ([good, "--format", "github-action-benchmark", "--better", "biger"], "did you mean bigger?"),
            ([good, "--format", "hdr", "--better", "bigger"], "belongs to github-action-benchmark"),
            ([directory.path, "--format", "hdr"], "there is no run.json"),
        ] {
            let end = try AssayProcess.run(["export"] + words, in: directory)
            #expect(end.status == .exited(64) && end.output.contains(expected), "\(words): \(end.output)")
        }
    }

    @Test("wrong input ends with 64 and a remedy, and nothing is added")
    func refused() throws {
        let good = try run(1)
        let cut = try run(2)
        let lines = try FileTree.readBytes(cut + "/results.jsonl")
        try FileTree.writeBytes(cut + "/results.jsonl", lines.prefix(lines.count / 3) + [UInt8(ascii: "\n")])
        let other = try run(3)
        let header = try FileTree.readText(other + "/run.json")
        try FileTree.writeText(other + "/run.json", header.replacing("assay-run/2", with: "assay-run/9"))
        guard try !history(["list"]).output.contains("this build has no SQLite") else { return }
        let wrong: [([String], String)] = [
            (["lst"], "did you mean list?"), (["add"], "RUN... is missing after add"),
            (["list"], "there is no archive"), (["add", good, cut], "cannot be read"),
            (["add", good, other], "assay-run/2"), (["add", good, directory.path], "there is no run.json"),
            (["show", "run-1", "run-2"], "too many arguments: run-2"), (["list", "--csv", "a"], "belongs to trend"),
        ]
        for (words, expected) in wrong {
            let end = try history(words)
            #expect(end.status == .exited(64), "\(words): \(end.output)")
            #expect(end.output.contains(expected), "\(words): \(end.output)")
        }
        #expect(!FileTree.exists(directory.path + "/db/history.sqlite"))
        #expect(try history(["add", good]).status == .exited(0))
        for (words, expected) in [
            (["trend", "point-read", "operation_ns"], "may be one of 2 cases"),
            (["trend", "point-red strata", "operation_ns"], "unknown case"),
            (["trend", "point-read strata", "operation_n"], "did you mean operation_ns median?"),
            (["trend", "point-read strata", "operation_ns", "--reference", "sqlit"], "did you mean sqlite?"),
            (["show", "run-7"], "has no run run-7"),
        ] {
            let end = try history(words)
            #expect(end.status == .exited(64) && end.output.contains(expected), "\(words): \(end.output)")
        }
    }
}
