import Files
import RunRecords
import Testing

@testable import Harness

/// Kills real writers, by the real executable.
@Suite struct KillTests {
    /// Each trial is a process that commits, is killed at a moment chosen by the seed, and whose files are opened again
    /// by another one. Bounded by the plan's budget.
    @Test("200 killed writers of Strata lose nothing acknowledged and leave nothing torn") func kills() throws {
        let directory = try TestDirectory()
        let plan = directory.path + "/kills.json5"
        let run = directory.path + "/run"
        try FileTree.writeText(
            plan,
            "{ summary: 'kills', hang_seconds: 500, budget_seconds: 500, engines: ['strata'], "
                + "cases: [{ scenario: 'kill-mid-write', datasets: 'damage', parameters: { trials: 200 } }] }")
        let end = try AssayProcess.run(
            ["run", plan, "--seed", "11", "--out", run, "--plans", directory.path], in: directory)
        #expect(end.status == .exited(0), "\(end.output)")
        let result = try #require(try RunDirectory(path: run).load().results.first)
        #expect(result.verdict == .pass, "\(result.message) \(result.trials)")
        let codes = try FileTree.readBytes(RunDirectory(path: run).trialsFile(result.test.id))
        #expect(codes.count == 200)
        #expect(codes.allSatisfy { $0 == Outcome.correct.code })
        // A case with a fixture can be repeated more than once.
        let again = try AssayProcess.run(["replay", run, result.test.id, "kill:3", "--times", "2"], in: directory)
        #expect(again.status == .exited(0), "\(again.output)")
    }
}
