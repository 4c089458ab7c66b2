import Files
import FilesTests
import JSONText
import Measuring
import Seeds
import Testing

@testable import RunRecords

@Suite struct RunDirectoryTests {
    private let temporary: TemporaryDirectory
    private var directory: RunDirectory { RunDirectory(path: temporary.path + "/run") }

    init() throws {
        temporary = try TemporaryDirectory()
    }

    static func header(_ cases: [Case]) -> RunHeader {
        var header = RunHeader(
            id: "r", plan: "quick", seed: Seed(.max),
            machine: Machine(
                host: "h", system: "s", processor: "p", coreCount: 2, memoryBytes: 1 << 34, fileSystem: "ext4",
                fsync: .suspicious, fsyncNanoseconds: 1_234))
        header.question = "How fast is it?"
        header.cases = cases.map(\.id)
        for test in cases {
            header.families[test.id] = test.family
            header.scenarioQuestions[test.scenario] = "Does \(test.scenario) do it?"
        }
        let promise = EnginePromise(kind: "isolation", sentence: "s", source: "d", level: .snapshot)
        header.engines = [EngineVersion(name: "strata", version: "0.1", promises: [promise], library: "l")]
        header.engines[0].libraryFile = "/opt/l.so"
        header.engines[0].libraryDigest = "0123"
        header.engines[0].assertions = ["l.so.3"]
        header.notBuilt = [NotBuilt(name: "rocksdb", remedy: "apt-get install librocksdb-dev")]
        header.warnings = ["busy"]
        header.budgetSeconds = 90
        header.command = "assay run \"quick\""
        return header
    }

    static func result(_ seed: UInt64) -> (CaseResult, CaseDetails) {
        var test = CaseTests.example
        test.seed = Seed(seed)
        var result = CaseResult(test: test, verdict: .violation)
        result.engineVersion = "0.1"
        result.settings = [EngineSetting("sync", "full")]
        result.outcome = .silentlyWrong
        result.outcomes = [OutcomeCount(outcome: .correct, count: 9), OutcomeCount(outcome: .silentlyWrong, count: 1)]
        result.samples = [
            Sample(.rowsPerSecond, 123.5, statistic: "median", count: 3, label: "x", low: 1, high: 2)
        ]
        result.trials = [
            Trial(address: FaultAddress(.flip, 17), outcome: .crashed, detail: "d\n\"", signal: 11)
        ]
        result.causes = [
            FailureCause(
                outcome: .silentlyWrong, text: "row #", count: 7, example: FaultAddress(.flip, 17), detail: "row \"1\"")
        ]
        result.promises = [
            JudgedPromise(kind: "detects-damage", concern: .safety, state: .broken),
            JudgedPromise(kind: "", concern: .progress, state: .notMade),
        ]
        result.message = "1 silently-wrong"
        result.crash = CrashReport(signal: 6, exitStatus: nil, standardError: "oops")
        result.durationNanoseconds = 5
        result.isCut = true
        result.hasFreeSchedule = true
        var histogram = Histogram()
        for value in [1, 1_000, 1_000_000] as [UInt64] { histogram.record(value) }
        let points = [SizePoint(position: 1, fileBytes: 2, liveBytes: nil, freeBytes: 3, logBytes: 4)]
        let details = CaseDetails(
            series: [Series(name: "sizes", step: "commits", points: points)],
            histograms: [NamedHistogram(name: "commit", histogram: histogram)], trialCodes: [1, 1, 7, 0, 255],
            map: SweepMap(
                fault: .flip, positions: [0, 8, 16, 17, 99], files: [SweepMap.File(name: "data", byteCount: 40)]))
        return (result, details)
    }

    @Test("a run round-trips")
    func roundTrip() throws {
        let (result, details) = Self.result(1)
        let header = Self.header([result.test])
        try directory.create(header)
        try directory.append(result, details: details)
        let run = try directory.load()
        #expect(run.header == header)
        #expect(run.results == [result])
        #expect(run.details[result.test.id] == details)
        #expect(run.isFinished)
    }

    @Test("a header without a question and families, as older runs have it, can be read")
    func olderHeader() throws {
        var header = Self.header([])
        header.question = ""
        let text = Array(header.json.bytes)
        let words = String(decoding: text, as: UTF8.self)
        #expect(!words.contains("\"question\"") && !words.contains("\"families\""))
        #expect(!words.contains("\"scenarios\""))
        #expect(try RunHeader(document: text, named: "run.json") == header)
    }

    @Test("a run killed while writing a line loads without it, and resumes after a repair")
    func tornLine() throws {
        let (first, details) = Self.result(1)
        let (second, _) = Self.result(2)
        try directory.create(Self.header([first.test, second.test]))
        try directory.append(first, details: details)
        try FileTree.append(directory.resultsFile, Array(second.json.bytes.prefix(100)))
        #expect(try directory.load().results == [first])
        #expect(try directory.load().isFinished == false)
        try directory.repairResults()
        try directory.append(second, details: CaseDetails())
        #expect(try directory.load().results == [first, second])
    }

    @Test("results are in plan order, whatever order they were written in")
    func order() throws {
        let (first, _) = Self.result(1)
        let (second, _) = Self.result(2)
        try directory.create(Self.header([first.test, second.test]))
        try directory.append(second, details: CaseDetails())
        try directory.append(first, details: CaseDetails())
        #expect(try directory.load().results == [first, second])
    }

    @Test("a line stays below 64 KiB, and remains readable")
    func lineLimit() throws {
        var (result, _) = Self.result(1)
        result.trials = (0..<220).map {
            Trial(address: FaultAddress(.flip, $0), outcome: .crashed, detail: String(repeating: "é", count: 900))
        }
        result.message = String(repeating: "m", count: 100_000)
        let line = RunDirectory.line(result)
        #expect(line.count < RunDirectory.lineLimit)
        let value = try JSONReader.read(line)
        let read = try CaseResult(json: try JSONObjectReader(value, path: "line"))
        #expect(read.outcomes == result.outcomes)
        #expect(!read.trials.isEmpty)
    }

    @Test("a header of another format version is refused")
    func otherFormat() throws {
        try directory.create(Self.header([]))
        let text = try FileTree.readText(directory.headerFile).replacing("assay-run/2", with: "assay-run/9")
        try FileTree.writeText(directory.headerFile, text)
        #expect(throws: JSONShapeError.self) { try directory.load() }
    }

    @Test("a truncated header is an error that names the file and the place")
    func cutHeader() throws {
        try directory.create(Self.header([]))
        try FileTree.truncate(directory.headerFile, to: 200)
        let error = try #require(throws: UnreadableRun.self) { try directory.load() }
        #expect(error.description.contains(directory.headerFile + ": "), "\(error)")
    }
}

@Suite struct TableTests {
    @Test("texts are stored consecutively and read by row")
    func textColumn() {
        let column = TextColumn(["", "a", "", "longer é", ""])
        #expect((0..<column.count).map { column[$0] } == ["", "a", "", "longer é", ""])
        #expect(column.withUTF8(3) { $0.count } == 9)
    }

    @Test("values of all kinds are read by row")
    func values() {
        var lists = LinkListColumn()
        lists.append([1, 0])
        lists.append([])
        let table = Table(
            name: "t", key: "id",
            columns: [
                Column("id", .integer([5, 6])), Column("score", .real([0.5, -1])),
                Column("name", .text(TextColumn(["x", "y"]))), Column("best", .link(target: "t", [1, -1])),
                Column("all", .links(target: "t", lists)),
            ])
        #expect(table.values(row: 0) == [.integer(5), .real(0.5), .text("x"), .link(1), .links([1, 0])])
        #expect(table.values(row: 1) == [.integer(6), .real(-1), .text("y"), .null, .links([])])
    }
}
