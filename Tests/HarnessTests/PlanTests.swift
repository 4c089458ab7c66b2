import JSONText
import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite("Plan")
struct PlanTests {
    private func read(_ text: String) throws(PlanError) -> Plan {
        try Plan.read(text, name: "p", file: "p.json5")
    }

    @Test("an unknown key is an error with the nearest right name, line and column")
    func unknownKey() throws {
        let error = try #require(throws: PlanError.self) {
            try read("{\n  cases: [\n    { scenario: 'x', engins: ['a'] } ] }")
        }
        #expect(error.position == TextPosition(line: 3, column: 22))
        #expect(error.description.hasPrefix("p.json5:3:22: unknown key engins; did you mean engines?"))
    }

    @Test("values of the wrong type are errors with their place")
    func wrongTypes() throws {
        for text in [
            "{ cases: 1 }", "{ cases: [], seed: -1 }", "{ cases: [], seed: 1.5 }", "{ cases: [], budget_seconds: 0 }",
            "{ cases: [], durability: ['ful'] }", "{ cases: [{}] }", "{ }", "{ cases: [{ scenario: 1 }] }",
            "{ cases: [{ scenario: 'a', parameters: { k: [[1]] } }] }",
        ] {
            let error = #expect(throws: PlanError.self, "\(text)") { try read(text) }
            #expect(error?.position != nil, "\(text)")
        }
    }

    private struct Probe: Scenario {
        let slug: String
        var family = Family.growth
        let question = "?"
        var requires: Set<Capability> = []
        var layers: Set<Layer> = [.storage]
        var defaultDataset: String?
        let parameters = [
            ScenarioParameter("threads", default: "1", summary: ""),
            ScenarioParameter("policy", default: "never", allowed: ["never", "always"], summary: ""),
        ]
        func run(_ context: CaseContext) throws {}
    }

    private struct Rows: DatasetSource {
        let name: String
        let summary = ""
        let defaultSize: Int? = 10
        func tables(size: Int?, seed: Seed) throws -> TableSet {
            throw DatasetError("not asked for")
        }
    }

    private var registries: Registries {
        var registries = Registries()
        registries.scenarios.register(Probe(slug: "alone"))
        registries.scenarios.register(Probe(slug: "on-rows", family: .workload, defaultDataset: "rows"))
        registries.scenarios.register(Probe(slug: "needs-links", requires: [.links], layers: [.objects]))
        registries.datasets.register(Rows(name: "rows"))
        registries.datasets.register(Rows(name: "more"))
        registries.engines.register(MemoryEngine(name: "one"))
        registries.engines.register(MemoryEngine(name: "two"))
        registries.engines.registerMissing("three", remedy: "apt-get install three")
        return registries
    }

    private func expand(_ text: String, _ filter: PlanFilter = PlanFilter()) throws -> [PlannedCase] {
        try PlanExpansion(plan: try read(text), filter: filter, registries: registries).cases()
    }

    @Test("lists are multiplied out, defaults filled in, and doubles stand once")
    func expansion() throws {
        let cases = try expand(
            """
            { engines: ['one', 'two'], seed: 5, cases: [
              { scenario: 'on-rows', datasets: ['rows', 'more'], sizes: [1, 2], parameters: { threads: [1, 4] } },
              { scenario: 'on-rows' }, { scenario: 'on-rows', sizes: 10 } ] }
            """)
        #expect(cases.count == 2 * 2 * 2 * 2 + 2)
        #expect(Set(cases.map(\.test.id)).count == cases.count)
        #expect(cases.allSatisfy { $0.test.seed == Seed(5) && $0.test.parameter("policy") == "never" })
        #expect(cases.last?.test.size == 10)
    }

    @Test("an engine that was not built, or lacks what is needed, is listed and does not run")
    func notRunning() throws {
        let cases = try expand("{ engines: ['one', 'three'], cases: [{ scenario: 'needs-links' }] }")
        #expect(cases.map(\.verdict) == [.notApplicable, .notBuilt])
        #expect(cases[0].reason == "one lacks links")
        #expect(cases[1].reason == "apt-get install three")
    }

    @Test("the command line filters, overrides, and adds a scenario that the plan lacks")
    func filters() throws {
        let text = "{ engines: ['one', 'two'], cases: [{ scenario: 'alone' }, { scenario: 'on-rows' }] }"
        var filter = PlanFilter()
        filter.families = [.workload]
        #expect(Set(try expand(text, filter).map(\.test.scenario)) == ["on-rows"])
        filter = PlanFilter()
        filter.scenarios = ["needs-links"]
        filter.engines = ["two"]
        #expect(try expand(text, filter).map(\.test.engine) == ["two"])
        filter = PlanFilter()
        filter.seed = Seed(99)
        filter.parameters = [CaseParameter(name: "policy", value: "always")]
        filter.size = 3
        let cases = try expand(text, filter)
        #expect(cases.allSatisfy { $0.test.seed == Seed(99) && $0.test.parameter("policy") == "always" })
        #expect(cases.last?.test.size == 3)
    }

    @Test("asked for objects alone, a plan keeps what is about objects, on engines that have links")
    func objectsAlone() throws {
        var registries = registries
        registries.scenarios.register(Probe(slug: "reads", layers: [.storage, .objects]))
        registries.engines.register(MemoryEngine(name: "linked", capabilities: [.links]))
        let text = """
            { engines: ['one', 'linked'], cases: [
              { scenario: 'alone' }, { scenario: 'needs-links' }, { scenario: 'reads' } ] }
            """
        func chosen(_ layers: [Layer]) throws -> [String] {
            var filter = PlanFilter()
            filter.layers = layers
            let expansion = PlanExpansion(plan: try read(text), filter: filter, registries: registries)
            return try expansion.cases().map { "\($0.test.scenario) \($0.test.engine)" }
        }
        #expect(try chosen([.objects]) == ["needs-links linked", "reads linked"])
        #expect(try chosen([.storage]) == ["alone one", "alone linked", "reads one", "reads linked"])
    }

    @Test("names that nothing has are errors at their place, with the nearest right one")
    func unknownNames() throws {
        let wrong = [
            ("{ cases: [{ scenario: 'on-row' }] }", "did you mean on-rows?"),
            ("{ engines: ['ones'], cases: [{ scenario: 'alone' }] }", "did you mean one?"),
            ("{ cases: [{ scenario: 'on-rows', datasets: 'row' }] }", "did you mean rows?"),
            ("{ cases: [{ scenario: 'alone', parameters: { thread: 1 } }] }", "did you mean threads?"),
            ("{ cases: [{ scenario: 'alone', parameters: { policy: 'nevr' } }] }", "did you mean never?"),
            ("{ cases: [{ scenario: 'alone', datasets: 'rows' }] }", "makes its own data"),
        ]
        for (text, expected) in wrong {
            let error = #expect(throws: PlanError.self, "\(text)") { try expand(text) }
            #expect(error?.message.contains(expected) == true, "\(text): \(error?.message ?? "")")
            #expect(error?.position?.line == 1)
        }
        var filter = PlanFilter()
        filter.parameters = [CaseParameter(name: "thread", value: "2")]
        let expansion = PlanExpansion(
            plan: try read("{ cases: [{ scenario: 'alone' }] }"), filter: filter, registries: registries)
        #expect(throws: PlanError.self) { try expansion.checkParameters() }
    }

    @Test("known violations are read, and each needs a reason")
    func known() throws {
        let list = try KnownViolation.read(
            "[{ scenario: 's', engine: 'e', outcome: 'hung', reason: 'because', dataset: 'd' }]", file: "known.json5")
        #expect(
            list == [
                KnownViolation(scenario: "s", engine: "e", outcome: .hung, dataset: "d", reason: "because")
            ])
        #expect(throws: PlanError.self) {
            try KnownViolation.read("[{ scenario: 's', engine: 'e', outcome: 'hung' }]", file: "known.json5")
        }
    }
}
