import FilesTests
import Seeds
import Testing

@testable import RunRecords

@Suite struct SyncHonestyTests {
    private func result(_ engine: String, _ verdict: Verdict, restsOnSyncs: Bool) -> CaseResult {
        let test = Case(
            scenario: restsOnSyncs ? "recorded-power-loss" : "kill-mid-write", family: .crash, engine: engine,
            dataset: "people", size: 10, parameters: [], seed: Seed(1), durability: .full)
        var result = CaseResult(test: test, verdict: verdict)
        result.restsOnSyncs = restsOnSyncs
        result.message = "as it was"
        let state: JudgedPromise.State = verdict == .violation ? .broken : .kept
        result.promises = [
            JudgedPromise(kind: "durability", concern: .safety, state: state),
            JudgedPromise(kind: "atomicity", concern: .safety, state: .kept),
        ]
        return result
    }

    private func judged(_ results: [CaseResult], _ fsync: FsyncHonesty) -> Run {
        var header = RunDirectoryTests.header(results.map(\.test))
        header.machine.fsync = fsync
        header.machine.fsyncNanoseconds = 1_234
        return SyncHonesty.judged(Run(header: header, results: results, directory: "r"))
    }

    /// With syncs that do nothing, four libraries once appeared to lose commits.
    @Test(
        "with dishonest syncs a power loss decides nothing about any engine",
        arguments: [FsyncHonesty.no, .suspicious])
    func powerLoss(fsync: FsyncHonesty) {
        let verdicts: [Verdict] = [.pass, .violation, .known, .unpromised]
        let engines = ["strata", "sqlite", "lmdb", "rocksdb"]
        let run = judged(zip(engines, verdicts).map { result($0, $1, restsOnSyncs: true) }, fsync)
        #expect(run.results.map(\.verdict) == Array(repeating: .inconclusive, count: 4))
        #expect(run.results.allSatisfy { $0.promises.map(\.state) == [.open, .open] })
        #expect(run.results.allSatisfy { $0.message.hasPrefix("syncs are not honest: ") })
        #expect(run.results.allSatisfy { $0.message.hasSuffix("; as it was") })
        // Failures for other reasons remain.
        let broken = judged([result("strata", .harnessError, restsOnSyncs: true)], fsync)
        #expect(broken.results.map(\.verdict) == [.harnessError])
    }

    @Test("a killed process depends on no sync: its verdict stands, and durability is not called kept")
    func kills() {
        let run = judged(
            [result("strata", .pass, restsOnSyncs: false), result("sqlite", .violation, restsOnSyncs: false)], .no)
        #expect(run.results.map(\.verdict) == [.pass, .violation])
        #expect(run.results.map { $0.promises.map(\.state) } == [[.open, .kept], [.broken, .kept]])
    }

    @Test("on a machine with honest syncs nothing changes")
    func honest() {
        let results = [
            result("strata", .violation, restsOnSyncs: true), result("sqlite", .pass, restsOnSyncs: false),
        ]
        #expect(judged(results, .yes).results == results)
    }

    @Test("the rounds of a case are judged with it, and its file keeps each measurement's verdict")
    func stored() throws {
        let temporary = try TemporaryDirectory()
        let directory = RunDirectory(path: temporary.path + "/run")
        let results = [result("strata", .violation, restsOnSyncs: true)]
        var header = RunDirectoryTests.header(results.map(\.test))
        header.machine.fsync = .suspicious
        header.rounds[results[0].test.id] = 2
        try directory.create(header)
        var second = results[0]
        second.turn = Turn(round: 1)
        for result in [results[0], second] { try directory.append(result, details: CaseDetails()) }
        let run = try directory.load()
        #expect(run.results.map(\.verdict) == [.inconclusive])
        #expect(run.rounds[results[0].test.id]?.map(\.verdict) == [.inconclusive, .inconclusive])
        #expect(try directory.readResults().results == [results[0], second])
    }
}
