import Measuring
import RunRecords
import Testing

@testable import Reporting

@Suite("CSV report")
struct CSVTests {
    /// RFC 4180 read back: written apart from the writer.
    static func parse(_ text: String) -> [[String]] {
        var rows: [[String]] = []
        var row: [String] = []
        var field = ""
        var isQuoted = false
        var scalars = Array(text.unicodeScalars)[...]
        while let scalar = scalars.popFirst() {
            switch (scalar, isQuoted) {
            case ("\"", true) where scalars.first == "\"":
                scalars.removeFirst()
                field.append("\"")
            case ("\"", _): isQuoted.toggle()
            case (",", false):
                row.append(field)
                field = ""
            case ("\r", false) where scalars.first == "\n":
                scalars.removeFirst()
                rows.append(row + [field])
                row = []
                field = ""
            default: field.unicodeScalars.append(scalar)
            }
        }
        return rows
    }

    static func records(_ run: Run) -> [[String: String]] {
        let rows = parse(Reporting.csv(run))
        return rows.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(rows[0], $0)) }
    }

    @Test("the columns are those that other tools were told")
    func columns() {
        let header =
            "schema_version,run_id,case_id,shard_index,shard_total,commit,branch,time,host,os,cpu,engine,"
            + "engine_version,durability,family,scenario,dataset,params,fault,trial,seed,side,pair,metric,unit,"
            + "direction,kind,statistic,value,ci_low,ci_high,n,outcome,verdict\r\n"
        let text = Reporting.csv(PlausibleRun.run)
        #expect(text.hasPrefix(header))
        let rows = Self.parse(text)
        #expect(rows.count > 100)
        #expect(rows.allSatisfy { $0.count == 34 })
    }

    @Test("commas, quotes and line ends inside a field come back as they were")
    func quoting() {
        let text = "a,b \"c\"\r\nd\ne"
        #expect(CSVReport.quoted(text) == "\"a,b \"\"c\"\"\r\nd\ne\"")
        #expect(CSVReport.quoted("plain text") == "plain text")
        var run = HTMLTests.run([PlausibleRun.passed(PlausibleRun.test("commit", .workload, "strata"))])
        run.header.machine.processor = text
        #expect(Self.records(run).first?["cpu"] == text)
    }

    @Test("a sample is a row with every digit, its interval and its label")
    func samples() {
        var result = PlausibleRun.passed(
            PlausibleRun.test(
                "commit", .workload, "strata", parameters: [CaseParameter(name: "threads", value: "4")]))
        result.samples = [
            Sample(.commitsPerSecond, 1234.5678, statistic: "median", count: 9, label: "write", low: 1, high: 2000.25)
        ]
        let records = Self.records(HTMLTests.run([result])).filter { $0["metric"] == "commits_per_second" }
        #expect(records.count == 1)
        let record = records.first ?? [:]
        let wanted = [
            "value": "1234.5678", "ci_low": "1", "ci_high": "2000.25", "n": "9", "statistic": "median",
            "unit": "1/s", "direction": "higher", "kind": "measured", "params": "size=100000 threads=4 label=write",
            "engine": "strata", "durability": "full", "family": "workload", "dataset": "people", "seed": "7",
            "verdict": "pass", "outcome": "correct", "case_id": result.test.id,
        ]
        for (column, value) in wanted { #expect(record[column] == value) }
    }

    @Test("trials are counted by outcome, and kept ones stand with their address")
    func trials() {
        let (result, _) = PlausibleRun.sweep(
            PlausibleRun.test("bit-flip", .corruption, "sqlite"), .unpromised,
            [(.correct, 10), (.silentlyWrong, 3)])
        let records = Self.records(HTMLTests.run([result])).filter { $0["metric"] == "trials" }
        let counts = records.filter { $0["trial"] == "" && $0["outcome"] != "" && $0["statistic"] == "count" }
        #expect(counts.contains { $0["outcome"] == "correct" && $0["value"] == "10" })
        #expect(counts.contains { $0["outcome"] == "silently-wrong" && $0["value"] == "3" })
        #expect(records.filter { $0["fault"] == "bit" }.map { $0["trial"] ?? "" } == result.trials.map(\.address.text))
    }

    @Test("each point of a series says where it stands")
    func series() {
        let result = PlausibleRun.passed(PlausibleRun.test("pinned-reader", .growth, "strata"))
        var run = HTMLTests.run([result])
        let point = SizePoint(position: 40, fileBytes: 4_096, liveBytes: 12, oldestPinnedVersion: 3)
        run.details[result.test.id] = CaseDetails(series: [Series(name: "size", step: "commits", points: [point])])
        let records = Self.records(run).filter { $0["params"]?.contains("commits=40") == true }
        #expect(
            records.map { "\($0["metric"] ?? "") \($0["value"] ?? "")" } == [
                "file_bytes 4096", "live_bytes 12", "log_bytes 0", "oldest_pinned_version 3",
            ])
    }

    @Test("every case of the plan has a row, run or not")
    func everyCase() {
        var run = PlausibleRun.run
        let gone = run.results.removeLast()
        let records = Self.records(run)
        #expect(Set(records.compactMap { $0["case_id"] }) == Set(run.header.cases))
        let missing = records.filter { $0["case_id"] == gone.test.id }
        #expect(missing.map { $0["verdict"] ?? "" } == ["not-run"])
        #expect(missing.first?["value"] == "")
    }
}
