import JSONText
import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite struct PlanTests {
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

    @Test("the question of a plan is that of a run that leaves its cases as they are")
    func question() throws {
        #expect(try read("{ cases: [], question: 'How fast is it?' }").question == "How fast is it?")
        #expect(try read("{ cases: [] }").question.isEmpty)
        var filter = PlanFilter()
        filter.budgetSeconds = 10
        #expect(filter.keepsCases)
        filter.scenarios = ["commit"]
        #expect(!filter.keepsCases)
    }

    private struct Probe: Scenario {
        let slug: String
        var family = Family.growth
        let question = "?"
        var requires: Set<Capability> = []
        var layers: Set<Layer> = [.storage]
        var defaultDataset: String?
        let parameters = [
            ScenarioParameter("threads", .size, default: 1, range: 1...64, summary: ""),
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

    @Test("a plan with rounds measures all cases in rounds, or the marked ones")
    func rounds() throws {
        func measured(_ plan: String, _ mark: String) throws -> [String] {
            try expand("{ \(plan) engines: 'one', cases: [{ scenario: 'alone' }, { scenario: 'on-rows'\(mark) }] }")
                .filter(\.isHeadline).map(\.test.scenario)
        }
        #expect(try measured("rounds: 2,", "") == ["alone", "on-rows"])
        #expect(try measured("rounds: 2,", ", headline: true") == ["on-rows"])
        #expect(try measured("", "") == [])
    }

    @Test("lists are multiplied out, defaults filled in, and duplicates removed")
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

    @Test("a case can exclude engines by name, but not together with a list of engines")
    func except() throws {
        let engines = try expand(
            "{ engines: ['one', 'two'], cases: [{ scenario: 'alone', except: 'one' }, { scenario: 'on-rows' }] }"
        ).map { "\($0.test.scenario) \($0.test.engine)" }
        #expect(engines == ["alone two", "on-rows one", "on-rows two"])
        for (entry, expected) in [
            ("except: 'ones'", "did you mean one?"), ("engines: 'two', except: 'one'", "either engines, or"),
        ] {
            let error = #expect(throws: PlanError.self) { try expand("{ cases: [{ scenario: 'alone', \(entry) }] }") }
            #expect(error?.message.contains(expected) == true && error?.position?.line == 1)
        }
    }

    @Test("an engine that was not built, or lacks a requirement, is listed and does not run")
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

    @Test("restricted to objects, a plan keeps the cases about objects, on engines with links")
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

    @Test("unknown names are errors at their place, with the nearest right one")
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

    @Test(
        "a wrong parameter value is refused at its place, with the allowed values",
        arguments: [
            ("threads: 'abc'", "threads needs 1 to 64, not abc"), ("threads: -5", "not -5"),
            ("threads: [1, 0]", "not 0"), ("threads: 65", "1 to 64"), ("threads: 1.5", "not 1.5"),
        ])
    func parameterRange(text: String, expected: String) throws {
        let text = "{ cases: [\n{ scenario: 'alone', parameters: { \(text) } }] }"
        let error = try #require(throws: PlanError.self) { try expand(text) }
        #expect(error.message.contains(expected) && error.message.hasPrefix("alone: "), "\(error)")
        #expect(error.position?.line == 2)
    }

    @Test("a parameter of the command line is refused in the same way, and a value has one spelling")
    func parameterOption() throws {
        let text = "{ engines: 'one', cases: [{ scenario: 'alone' }] }"
        var filter = PlanFilter()
        filter.parameters = [CaseParameter(name: "threads", value: "0")]
        let error = try #require(throws: PlanError.self) { try expand(text, filter) }
        #expect(error.description == "--param: alone: threads needs 1 to 64, not 0")
        filter.parameters = [CaseParameter(name: "threads", value: "+07")]
        #expect(try expand(text, filter).map { $0.test.parameter("threads") } == ["7"])
    }

    @Test("the type of a parameter follows from its default")
    func parameterKinds() {
        func kind(_ number: Int) -> ScenarioParameter.Kind {
            ScenarioParameter("p", .size, default: number, summary: "").kind
        }
        func kind(_ value: String, allowed: [String] = []) -> ScenarioParameter.Kind {
            ScenarioParameter("p", default: value, allowed: allowed, summary: "").kind
        }
        #expect(kind(20) == .integer(1...ScenarioParameter.most))
        #expect(kind(0) == .integer(0...ScenarioParameter.most))
        #expect(kind("1", allowed: ["1", "3"]) == .choice(["1", "3"]))
        #expect(kind("word") == .text)
    }

    @Test("only sizes can be minimized, not other parameters")
    func sizesAlone() throws {
        struct Sized: Scenario {
            let slug = "sized"
            let family = Family.workload
            let question = "?"
            let requires: Set<Capability> = []
            let parameters = [
                ScenarioParameter("rows", .size, default: 100, range: 10...1_000, summary: ""),
                ScenarioParameter("trials", .effort, default: 100, summary: ""),
                ScenarioParameter("bound", .allowance, default: 100, summary: ""),
                ScenarioParameter("delay", .condition, default: 100, summary: ""),
                ScenarioParameter("way", default: "1", allowed: ["1", "2"], summary: ""),
            ]
            func run(_ context: CaseContext) throws {}
        }
        let names = ["rows", "trials", "bound", "delay", "way"]
        let test = Case(
            scenario: "sized", family: .workload, engine: "one", dataset: "", size: 0,
            parameters: names.map { CaseParameter(name: $0, value: "70") }, seed: Seed(1), durability: .full)
        let sizes = Sized().sizes(of: test)
        #expect(sizes.map(\.name) == ["rows"] && sizes.map(\.value) == [70] && sizes.map(\.least) == [10])
    }

    @Test("an engine outside the plan is refused with the plan's engines, unless a scenario is named")
    func engineOfAnotherPlan() throws {
        let text = "{ engines: 'one', cases: [{ scenario: 'alone' }, { scenario: 'on-rows' }] }"
        var filter = PlanFilter()
        filter.engines = ["one", "two"]
        let error = try #require(throws: PlanError.self) { try expand(text, filter) }
        #expect(error.message.contains("plan p has no case on two, but on one;"), "\(error)")
        filter.scenarios = ["alone"]
        #expect(try expand(text, filter).map(\.test.engine) == ["one", "two"])
    }

    @Test("no rows are no size")
    func noRows() {
        #expect(throws: PlanError.self) { try expand("{ cases: [{ scenario: 'on-rows', sizes: [5, 0] }] }") }
    }

    @Test("a known violation with unknown names is an error with its place and the nearest name")
    func knownNames() throws {
        func read(_ members: String) throws -> [KnownViolation] {
            try KnownViolation.read("[\n{ \(members), reason: 'r' }]", file: "known.json5", registries: registries)
        }
        let right = "scenario: 'alone', engine: 'three', outcome: 'hung', dataset: 'rows'"
        #expect(try read(right).count == 1)
        for (name, wrong) in [("alone", "alon"), ("three", "thre"), ("hung", "hang"), ("rows", "rowz")] {
            let error = #expect(throws: PlanError.self) {
                try read(right.replacing("'\(name)'", with: "'\(wrong)'"))
            }
            #expect(error?.message.contains("did you mean \(name)?") == true, "\(String(describing: error))")
            #expect(error?.position?.line == 2 && error?.position?.column ?? 0 > 3, "\(String(describing: error))")
        }
    }

    @Test("a known violation is obsolete if its case ran completely with another outcome")
    func knownNotNeeded() {
        let test = Case(
            scenario: "alone", family: .growth, engine: "one", dataset: "", size: 0, parameters: [], seed: Seed(1),
            durability: .full)
        let entry = KnownViolation(scenario: "alone", engine: "one", outcome: .hung, reason: "r")
        func isNotNeeded(_ change: (inout CaseResult) -> Void) -> Bool {
            var result = CaseResult(test: test, verdict: .pass)
            result.outcomes = [OutcomeCount(outcome: .correct, count: 1)]
            change(&result)
            return !KnownViolation.notNeeded([entry], by: [result]).isEmpty
        }
        #expect(isNotNeeded { _ in })
        #expect(!isNotNeeded { $0.outcomes.append(OutcomeCount(outcome: .hung, count: 1)) })
        #expect(!isNotNeeded { $0.isCut = true })
        #expect(!isNotNeeded { $0.verdict = .notBuilt })
        #expect(!isNotNeeded { $0.test.engine = "two" })
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
