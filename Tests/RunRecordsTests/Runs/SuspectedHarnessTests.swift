import FilesTests
import JSONText
import Seeds
import Testing

@testable import RunRecords

@Suite struct SuspectedHarnessTests {
    private static let engines = ["strata", "sqlite", "lmdb", "rocksdb", "model"]

    private func result(
        _ engine: String, _ details: [String], outcome: Outcome = .silentlyWrong, verdict: Verdict = .violation,
        scenario: String = "account-switch", parameters: [CaseParameter] = []
    ) -> CaseResult {
        let test = Case(
            scenario: scenario, family: .growth, engine: engine, dataset: "people", size: 10, parameters: parameters,
            seed: Seed(1), durability: .full)
        var result = CaseResult(test: test, verdict: verdict)
        var causes: [FailureCause] = []
        for detail in details {
            causes.add(Trial(address: FaultAddress(text: "handles"), outcome: outcome, detail: detail))
        }
        result.causes = causes.gravestFirst
        result.outcome = details.isEmpty ? .correct : outcome
        result.promises = [JudgedPromise(kind: "bounded-size", concern: .progress, state: .broken)]
        return result
    }

    private func verdicts(_ results: [CaseResult]) -> [Verdict] {
        var header = RunDirectoryTests.header(results.map(\.test))
        header.engines = results.map { EngineVersion(name: $0.test.engine, version: "1") }
        return SuspectedHarness.judged(Run(header: header, results: results, directory: "r")).results.map(\.verdict)
    }

    @Test("a cause on five of five engines is attributed to the harness, whatever the numbers")
    func everywhere() {
        let results = Self.engines.enumerated().map { result($1, ["\($0 + 2) handles of odd.db are open"]) }
        #expect(verdicts(results) == Array(repeating: .suspectedHarness, count: 5))
        var header = RunDirectoryTests.header(results.map(\.test))
        header.engines = []
        let run = SuspectedHarness.judged(Run(header: header, results: results, directory: "r"))
        #expect(run.results.allSatisfy { $0.message.contains("the same went wrong with 5 of 5 engines") })
        #expect(run.results.allSatisfy { $0.promises.map(\.state) == [.open] })
    }

    @Test("a cause on one of five engines stays that engine's")
    func alone() {
        let results = Self.engines.map { $0 == "sqlite" ? result($0, ["3 open"]) : result($0, [], verdict: .pass) }
        #expect(verdicts(results) == [.pass, .violation, .pass, .pass, .pass])
    }

    @Test("different causes on all engines are theirs, and so is a separate cause beside a shared one")
    func different() {
        let words = ["one", "two", "three", "four", "five"]
        let own = zip(Self.engines, words).map { result($0, ["\($1) is open"]) }
        #expect(verdicts(own) == Array(repeating: .violation, count: 5))
        var shared = Self.engines.map { result($0, ["3 open"]) }
        shared[0] = result("strata", ["3 open", "a row is missing"])
        #expect(verdicts(shared) == [.violation] + Array(repeating: .suspectedHarness, count: 4))
        let outcomes: [Outcome] = [.silentlyWrong, .lostCommit, .crashed, .hung, .refused]
        let mixed = zip(Self.engines, outcomes).map { result($0, ["3 open"], outcome: $1) }
        #expect(verdicts(mixed) == Array(repeating: .violation, count: 5))
    }

    @Test("two libraries may share a bug, so three are required")
    func libraries() {
        let variants = ["strata", "strata-storage", "sqlite", "sqlite-tuned"].map { result($0, ["3 open"]) }
        #expect(verdicts(variants) == Array(repeating: .violation, count: 4))
        let three = variants + [result("lmdb", ["4 open"])]
        #expect(verdicts(three) == Array(repeating: .suspectedHarness, count: 5))
    }

    /// Each library names its log differently. So a mistake of the harness that damaged the logs of three libraries was
    /// once reported as a violation of each.
    @Test("causes that name files of one role are one, and of different roles differ")
    func roles() throws {
        let logs = ["strata": "data.log", "sqlite": "data-wal", "rocksdb": "000008.log"]
        func lost(_ engine: String, _ name: String, role: String) -> CaseResult {
            var result = result(engine, ["lost: operation 7, which writes 512 bytes of \(name)"], outcome: .lostCommit)
            for place in result.causes.indices {
                result.causes[place].name { $0.replacing(name, with: "<\(role)>") }
            }
            return result
        }
        let shared = ["strata", "sqlite", "rocksdb"].map { lost($0, logs[$0] ?? "", role: "log") }
        #expect(verdicts(shared) == Array(repeating: .suspectedHarness, count: 3))
        #expect(shared[0].causes[0].text == "handles: lost: operation #, which writes # bytes of data.log")
        let apart = zip(shared, ["log", "data", "lock"]).map { result, role in
            lost(result.test.engine, logs[result.test.engine] ?? "", role: role)
        }
        #expect(verdicts(apart) == Array(repeating: .violation, count: 3))
        // As read back from the results file.
        for result in shared {
            let reader = try JSONObjectReader(try JSONReader.read(result.json.bytes), path: "result")
            #expect(try CaseResult(json: reader) == result)
        }
    }

    @Test("half of the engines are not most of them")
    func half() {
        let hit = ["strata", "sqlite", "lmdb"].map { result($0, ["3 open"]) }
        let fine = ["rocksdb", "model", "other"].map { result($0, [], verdict: .pass) }
        #expect(verdicts(hit + fine).prefix(3) == [.violation, .violation, .violation])
        // Inconclusive cases do not count either way.
        let open = ["rocksdb", "model", "other"].map { result($0, [], verdict: .inconclusive) }
        #expect(verdicts(hit + open).prefix(3) == [.suspectedHarness, .suspectedHarness, .suspectedHarness])
    }

    @Test("engines without the promise do not excuse those with it, and other parameters are separate")
    func promises() {
        let unpromised = ["sqlite", "lmdb", "rocksdb"].map { result($0, ["3 open"], verdict: .unpromised) }
        #expect(verdicts([result("strata", ["3 open"])] + unpromised).first == .violation)
        let apart = zip(Self.engines, 1...).map {
            result($0, ["3 open"], parameters: [CaseParameter(name: "threads", value: "\($1)")])
        }
        #expect(verdicts(apart) == Array(repeating: .violation, count: 5))
    }

    @Test("the rounds of a case are suspected with it, and its file keeps each measurement's verdict")
    func stored() throws {
        let temporary = try TemporaryDirectory()
        let directory = RunDirectory(path: temporary.path + "/run")
        let results = Self.engines.map { result($0, ["3 open"]) }
        var header = RunDirectoryTests.header(results.map(\.test))
        header.rounds[results[0].test.id] = 2
        try directory.create(header)
        for result in results { try directory.append(result, details: CaseDetails()) }
        var second = results[0]
        second.turn = Turn(round: 1)
        second.verdict = .pass
        try directory.append(second, details: CaseDetails())
        let run = try directory.load()
        #expect(run.results.map(\.verdict) == Array(repeating: .suspectedHarness, count: 5))
        #expect(run.rounds[results[0].test.id]?.map(\.verdict) == [.suspectedHarness, .pass])
        #expect(try directory.readResults().results.map(\.verdict) == Array(repeating: .violation, count: 5) + [.pass])
    }
}
