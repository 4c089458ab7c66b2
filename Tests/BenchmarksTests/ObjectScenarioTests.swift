import Harness
import RunRecords
import Strata
import StrataEngine
import Testing

@testable import ObjectScenarios

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite("Scenarios of the object interface")
struct ObjectScenarioTests {
    static func withPlace<Output>(
        _ policy: Realm.Configuration.InvalidAccess, _ body: (TrialPlace) throws -> Output
    ) throws -> Output {
        try EnginesUnderTest.withDirectory { directory in
            try body(TrialPlace(directory: directory, policy: policy))
        }
    }

    static func expectRight(_ finding: PolicyTrials.Finding, _ name: String) {
        if case .wrong(let detail) = finding { Issue.record("\(name): \(detail)") }
    }

    @Test("read-deleted: every trial is right under the policy to substitute", arguments: ReadDeleted.names)
    func readDeleted(name: String) throws {
        Self.expectRight(try Self.withPlace(.substitute) { try ReadDeleted.trial(name, $0) }, name)
    }

    @Test("count-then-index: every trial is right under the policy to substitute", arguments: CountThenIndex.names)
    func countThenIndex(name: String) throws {
        Self.expectRight(try Self.withPlace(.substitute) { try CountThenIndex.trial(name, $0) }, name)
    }

    @Test("what the policy does not decide about goes on under the policy to trap")
    func noTrap() throws {
        for name in ReadDeleted.names where !ReadDeleted.mayTrap(name) {
            Self.expectRight(try Self.withPlace(.trap) { try ReadDeleted.trial(name, $0) }, name)
        }
        for name in CountThenIndex.names where !CountThenIndex.mayTrap(name) {
            Self.expectRight(try Self.withPlace(.trap) { try CountThenIndex.trial(name, $0) }, name)
        }
    }

    /// A process that traps removes nothing: its directory is named after the process that waits for it.
    static func trapPlace(of process: Int32) throws -> TrialPlace {
        let directory = "\(P_tmpdir)/assay-benchmarks-trap-\(process)"
        try FileTree.createDirectory(directory)
        return TrialPlace(directory: directory, policy: .trap)
    }

    @Test("the policy to trap ends the process")
    func trap() async throws {
        await #expect(processExitsWith: .failure) {
            _ = try ReadDeleted.trial("keyed,handle,text", try ObjectScenarioTests.trapPlace(of: getppid()))
        }
        await #expect(processExitsWith: .failure) {
            _ = try CountThenIndex.trial("plain,table,last,index", try ObjectScenarioTests.trapPlace(of: getppid()))
        }
        let directory = "\(P_tmpdir)/assay-benchmarks-trap-\(getpid())"
        #expect(try FileTree.names(in: directory).contains("trial.strata"), "the processes did not get to the trial")
        try FileTree.remove(directory)
    }

    @Test("a finding names what is wrong, the first of several")
    func findings() {
        let findings: [PolicyTrials.Finding] = [
            .right, .expect("number", 1, 1), .expect("title", "a", "b"), .wrong("later"),
        ]
        guard case .wrong(let detail) = PolicyTrials.Finding.all(findings) else {
            Issue.record("nothing found")
            return
        }
        #expect(detail == "title: expected b, got a")
    }

    /// Those that fork are left out: a process with threads cannot. The plan smoke runs them.
    private static let migrations = [
        "skip-versions", "throw-in-block", "duplicate-primary-key", "optional-to-required", "type-change",
        "backlinks-in-migration", "nested-access", "rename", "mutate-while-enumerating", "open-inside-migration",
        "embedded-conversion", "version-goes-down", "read-only-migration",
    ]

    @Test("migrations are right", arguments: migrations)
    func migrationScenario(slug: String) throws {
        var registry = ScenarioRegistry()
        ObjectScenarioRegistration.register(into: &registry)
        let scenario = try #require(registry.scenario(named: slug))
        let parameters = scenario.parameters.contains { $0.name == "rows" } ? ["rows": "60"] : [:]
        let report = try CaseUnderTest.run(scenario, on: StrataEngine(), parameters: parameters)
        #expect(report.outcomes[.correct, default: 0] > 2)
        let wrong = report.trials.map { "\($0.address): \($0.detail)" }
        #expect(report.outcomes.keys.filter { $0 != .correct } == [], "\(wrong)")
    }
}
