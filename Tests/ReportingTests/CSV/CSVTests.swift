import Measuring
import RunRecords
import Testing

@testable import Reporting

@Suite struct CSVTests {
    /// A reader of RFC 4180, independent of the writer.
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

    @Test("the columns are the documented ones")
    func columns() {
        let header =
            "schema_version,run_id,case_id,shard_index,shard_total,commit,branch,time,host,os,cpu,engine,"
            + "engine_version,durability,family,scenario,dataset,params,fault,trial,seed,round,side,pair,metric,label,"
            + "unit,direction,kind,statistic,value,ci_low,ci_high,n,outcome,verdict\r\n"
        let text = Reporting.csv(PlausibleRun.run)
        #expect(text.hasPrefix(header))
        let rows = Self.parse(text)
        #expect(rows.count > 100)
        #expect(rows.allSatisfy { $0.count == 36 })
    }

    @Test("commas, quotes and line ends inside a field round-trip")
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
            "unit": "1/s", "direction": "higher", "kind": "measured", "params": "{\"threads\":\"4\",\"size\":100000}",
            "label": "write", "round": "", "side": "", "pair": "", "schema_version": "2",
            "engine": "strata", "durability": "full", "family": "workload", "dataset": "people", "seed": "7",
            "verdict": "pass", "outcome": "correct", "case_id": result.test.id,
        ]
        for (column, value) in wanted { #expect(record[column] == value) }
    }

    @Test("trials are counted by outcome, and kept ones have rows with their address")
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

    @Test("each point of a series has its position")
    func series() {
        let result = PlausibleRun.passed(PlausibleRun.test("pinned-reader", .growth, "strata"))
        var run = HTMLTests.run([result])
        let point = SizePoint(position: 40, fileBytes: 4_096, liveBytes: 12, oldestPinnedVersion: 3)
        run.details[result.test.id] = CaseDetails(series: [Series(name: "size", step: "commits", points: [point])])
        let place = "\"series\":\"size\",\"step\":\"commits\",\"position\":40}"
        let records = Self.records(run).filter { $0["params"]?.hasSuffix(place) == true }
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

    /// The key of a row, without its values.
    private static func key(_ record: [String: String]) -> String {
        ["case_id", "round", "side", "metric", "statistic", "label", "params", "trial", "outcome"]
            .map { record[$0] ?? "" }.joined(separator: "\u{1F}")
    }

    @Test("no two rows have the same key")
    func uniqueness() {
        var doubled = RunWithRounds.small
        // A scenario that adds a figure twice, keeps two trials of one address, and has its own duration.
        let id = doubled.results[0].test.id
        for index in doubled.rounds[id, default: []].indices {
            let sample = doubled.rounds[id]?[index].samples[0]
            let trial = Trial(address: FaultAddress(text: "count"), outcome: .silentlyWrong)
            doubled.rounds[id]?[index].samples += [sample, Sample(.durationMilliseconds, 5)].compactMap { $0 }
            doubled.rounds[id]?[index].trials = [trial, trial]
        }
        for run in [PlausibleRun.run, RunWithRounds.large, doubled, PeerTableTests.run] {
            let keys = Self.records(run).map(Self.key)
            #expect(keys.count > 50 && Set(keys).count == keys.count)
        }
    }

    @Test("an added name in params is renamed if a parameter of the case has it")
    func names() {
        let test = PlausibleRun.test(
            "s", .growth, "strata",
            parameters: [CaseParameter(name: "position", value: "x"), CaseParameter(name: "size", value: "y")])
        var parameters = CSVParameters(test)
        parameters.add("position", .integer(3))
        #expect(parameters.text == #"{"position":"x","size":"y","_size":100000,"_position":3}"#)
        #expect(CSVParameters(PlausibleRun.test("s", .growth, "strata", dataset: "", size: 0)).text == "")
    }

    @Test("each round has its rows, and all rounds one with the median and its interval")
    func rounds() throws {
        let run = RunWithRounds.small
        let records = Self.records(run).filter { $0["scenario"] == "commit" && $0["metric"] == "commits_per_second" }
        let sqlite = records.filter { $0["engine"] == "sqlite" && $0["round"] != "" }
        #expect(sqlite.count == 14 && Set(sqlite.compactMap { $0["side"] }) == ["measured", "control"])
        #expect(Set(sqlite.compactMap { $0["round"] }) == Set((0..<7).map(String.init)))
        #expect(sqlite.allSatisfy { $0["pair"] == $0["round"] && $0["statistic"] == "value" })
        let own = records.filter { $0["engine"] == "strata-storage" }
        #expect(own.count == 8)
        let merged = try #require(own.first { $0["round"] == "" })
        #expect(merged["statistic"] == "median" && merged["n"] == "7" && merged["side"] == "")
        let values = own.filter { $0["round"] != "" }.compactMap { Double($0["value"] ?? "") }.sorted()
        #expect(merged["value"] == Figure.exact(values[3]))
        #expect(merged["ci_low"] == Figure.exact(values[0]) && merged["ci_high"] == Figure.exact(values[6]))
        let once = Self.records(run).filter { $0["scenario"] == "traverse" && $0["metric"] == "links_per_second" }
        #expect(once.count == 6 && once.allSatisfy { $0["round"] == "" && $0["ci_low"] == "" && $0["n"] == "1" })
    }
}
