import Files
import Harness
import Platform
import RunRecords
import Strata
import StrataEngine
import Testing

@testable import ObjectScenarios

@Suite struct ObjectScenarioTests {
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

    @Test("cases that the policy does not affect continue under the policy to trap")
    func noTrap() throws {
        for name in ReadDeleted.names where ReadDeleted.trapText(name) == nil {
            Self.expectRight(try Self.withPlace(.trap) { try ReadDeleted.trial(name, $0) }, name)
        }
        for name in CountThenIndex.names where CountThenIndex.trapText(name) == nil {
            Self.expectRight(try Self.withPlace(.trap) { try CountThenIndex.trial(name, $0) }, name)
        }
    }

    /// A trapping process removes nothing, so its directory is named after the waiting process.
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
        #expect(try FileTree.names(in: directory).contains("trial.strata"), "the processes did not reach the trial")
        try FileTree.remove(directory)
    }

    @Test("a finding names the first error")
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

    @Test("a trial that must end its process does so by a trap with the right message, or fails")
    func trapTexts() {
        func judged(_ outcome: Outcome, _ detail: String, signal: Int32? = nil) -> Outcome {
            PolicyTrials.judged(
                Trial(address: FaultAddress(text: "a"), outcome: outcome, detail: detail, signal: signal),
                trapText: "has been deleted"
            ).outcome
        }
        #expect(judged(.crashed, "Fatal error: Object has been deleted or so", signal: 4) == .correct)
        #expect(judged(.crashed, "", signal: 4) == .crashed)
        #expect(judged(.crashed, "Fatal error: index out of range", signal: 5) == .crashed)
        #expect(judged(.crashed, "Fatal error: Object has been deleted or so", signal: 11) == .crashed)
        #expect(judged(.correct, "") == .silentlyWrong)
        #expect(judged(.refused, "has been deleted") == .refused)
    }

    @Test("lists are compared completely, and one wrong list fails the comparison")
    func sameLists() {
        func detail(_ got: [Int], _ expected: [Int]) -> String? {
            if case .wrong(let detail) = PolicyTrials.Finding.same("rows", got, expected) { detail } else { nil }
        }
        #expect(detail([1, 2], [1, 2]) == nil)
        #expect(detail([1, 3], [1, 2]) == "rows, place 1: expected 2, got 3")
        #expect(detail([1], [1, 2]) == "rows: expected 2, got 1: 2 is missing")
        #expect(detail([1, 2, 3], [1, 2]) == "rows: expected 2, got 3: 3 is too many")
        if case .right = PolicyTrials.Finding.all([.right, .right]) {} else { Issue.record("wrong") }
        if case .wrong = PolicyTrials.Finding.all([.right, .wrong("a")]) {} else { Issue.record("lost") }
    }

    @Test("articles equal their expected state, and the smallest difference is found")
    func shelf() throws {
        try Self.withPlace(.substitute) { place in
            let realm = try place.realm(ArticleClasses.all)
            try ArticleClasses.fill(realm, count: 3)
            let shelf = ArticleShelf(count: 3)
            Self.expectRight(shelf.compare(realm), "as filled")
            let changes: [(Realm) -> Void] = [
                { $0.object(ofType: Article.self, forPrimaryKey: 1)?.title += "#" },
                { $0.object(ofType: Comment.self, forPrimaryKey: 1)?.text += "#" },
                { $0.object(ofType: Article.self, forPrimaryKey: 1)?.thumbnail?.url += "#" },
                { $0.object(ofType: Article.self, forPrimaryKey: 1)?.categories.swapAt(0, 1) },
                { $0.object(ofType: Article.self, forPrimaryKey: 1)?.comments.removeAll() },
                { $0.add(Source(value: ["name": "unreferenced"])) },
            ]
            for (place, change) in changes.enumerated() {
                realm.beginWrite()
                change(realm)
                if case .wrong = shelf.compare(realm) {} else { Issue.record("change \(place) was not seen") }
                realm.cancelWrite()
            }
            Self.expectRight(shelf.compare(realm), "as filled, again")
        }
    }

    @Test("large-migration: memory that grows with the data is found, and too little data decides nothing")
    func memoryGrowth() {
        func judged(_ memory: Int, written: Int, limit: Int = 1 << 30) -> CaseReport {
            let report = CaseReport()
            var (small, large) = (LargeMigration.Cost(), LargeMigration.Cost())
            (small.anonymousBytes, large.anonymousBytes) = (5 << 20, 5 << 20 + memory)
            (small.mostBytes, large.mostBytes) = (1 << 20, 1 << 20 + written)
            LargeMigration.judge(small, large, percent: 200, limit: limit, report)
            return report
        }
        #expect(judged(12 << 20, written: 10 << 20).outcomes == [.correct: 2])
        #expect(!judged(12 << 20, written: 10 << 20).isInconclusive)
        #expect(judged(30 << 20, written: 10 << 20).outcomes == [.memoryLimit: 1, .correct: 1])
        #expect(judged(12 << 20, written: 10 << 20, limit: 16 << 20).outcomes == [.memoryLimit: 1, .correct: 1])
        #expect(judged(0, written: 1 << 10).isInconclusive)
    }

    @Test("kill-mid-migration: a process that never reaches its object did not die there")
    func killedProcess() {
        #expect(KillMidMigration.judge(.signalled(SIGKILL), object: 3) == nil)
        #expect(KillMidMigration.judge(.signalled(SIGSEGV), object: 3)?.0 == .crashed)
        #expect(KillMidMigration.judge(.exited(0), object: 3)?.0 == .silentlyWrong)
        #expect(KillMidMigration.judge(.exited(0), object: nil) == nil)
        #expect(KillMidMigration.judge(.exited(2), object: nil)?.0 == .refused)
    }

    /// Without scenarios that fork, which a process with threads cannot. The plan smoke runs them.
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
