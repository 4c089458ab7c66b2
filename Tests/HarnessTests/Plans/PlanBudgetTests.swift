import JSONText
import RunRecords
import Testing

@testable import Harness

@Suite struct PlanBudgetTests {
    private var registries: Registries {
        var registries = Registries()
        registries.scenarios.register(EmptyScenario(slug: "commit"))
        registries.scenarios.register(EmptyScenario(slug: "point-read"))
        registries.engines.register(MemoryEngine())
        registries.engines.registerMissing("elsewhere", remedy: "")
        return registries
    }

    private var engine: String { MemoryEngine().name }

    private func budgets(_ lines: String) throws -> [Budget] {
        let plan = try Plan.read("{ cases: [],\n  budgets: { \(lines) } }", name: "p", file: "p.json5")
        return try plan.checkedBudgets(registries)
    }

    @Test("a budget is for a metric, optionally of a scenario, an engine, or both")
    func keys() throws {
        let budgets = try budgets(
            "syncs: '==', 'commit.syncs': '==1', '\(engine).file_bytes': '+1%', 'elsewhere.syncs': 'any', "
                + "'commit.\(engine).syncs_per_commit': '<=2'")
        #expect(
            budgets.map(\.key) == [
                BudgetKey(metric: "syncs"), BudgetKey(scenario: "commit", metric: "syncs"),
                BudgetKey(engine: engine, metric: "file_bytes"), BudgetKey(engine: "elsewhere", metric: "syncs"),
                BudgetKey(scenario: "commit", engine: engine, metric: "syncs_per_commit"),
            ])
        #expect(budgets.map(\.limit) == [.same, .exactly(1), .moreByShare(0.01), .any, .atMost(2)])
    }

    @Test("an unknown counter, scenario or engine is an error with its place and the nearest right name")
    func unknown() throws {
        let wrong = [
            ("syncz: '=='", "unknown counter syncz; did you mean syncs?"),
            ("latency_ns: '+5%'", "unknown counter latency_ns"),
            ("rows_per_second: '+5%'", "unknown counter rows_per_second"),
            ("'comit.syncs': '=='", "unknown scenario or engine comit; did you mean commit?"),
            ("'comit.\(engine).syncs': '=='", "unknown scenario comit; did you mean commit?"),
            ("'commit.elsewher.syncs': '=='", "unknown engine elsewher; did you mean elsewhere?"),
            ("'a.b.c.d': '=='", "a budget is for METRIC"), ("'': '=='", "unknown counter"),
            ("'.syncs': '=='", "unknown scenario or engine"), ("'commit.': '=='", "unknown counter"),
        ]
        for (lines, expected) in wrong {
            let error = #expect(throws: PlanError.self, "\(lines)") { try budgets(lines) }
            #expect(error?.description.contains(expected) == true, "\(lines): \(error?.description ?? "")")
            #expect(error?.position == TextPosition(line: 2, column: 14), "\(lines)")
        }
    }

    @Test("a wrong expression is an error with its place, and lists the valid forms")
    func expressions() throws {
        for text in ["'=1'", "'>3'", "'+x%'"] {
            let error = #expect(throws: PlanError.self) { try budgets("syncs: \(text)") }
            #expect(error?.position == TextPosition(line: 2, column: 21))
            #expect(error?.message.contains(BudgetLimit.forms) == true)
        }
        #expect(throws: PlanError.self) { try budgets("syncs: 1") }
        #expect(throws: PlanError.self) { try Plan.read("{ cases: [], budgets: ['syncs'] }", name: "p", file: "p") }
        #expect(throws: PlanError.self, "the same twice") { try budgets("syncs: '==', syncs: 'any'") }
    }

    @Test("a run keeps its initial budgets")
    func manifest() throws {
        let directory = try TestDirectory()
        let budgets = try budgets("syncs: '==', 'commit.\(engine).file_bytes': '+0.5%'")
        let plan = Plan(name: "p", file: "p.json5")
        let run = RunDirectory(path: directory.path + "/run")
        try RunManifest(plan: plan, cases: [], budgetSeconds: nil, budgets: budgets).write(to: run)
        #expect(try RunManifest.read(from: run).budgets == budgets)
        try RunManifest(plan: plan, cases: [], budgetSeconds: nil).write(to: run)
        #expect(try RunManifest.read(from: run).budgets == [])
    }
}
