import Measuring
import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite struct MistakeListTests {
    private static let content = ["last-byte", "row-dropped"]

    private var registries: Registries {
        var registries = Registries()
        PlantedScenarios.register(into: &registries.scenarios)
        registries.engines.register(MemoryEngine())
        registries.engines.registerMissing("absent", remedy: "none")
        return registries
    }

    private func cases(_ text: String) throws -> [MistakenCase] {
        var list = MistakeList()
        try list.read(text, file: "rows", content: Self.content)
        return try list.cases(registries, mistakes: Self.content + ["other"])
    }

    private func error(_ text: String) -> String {
        do {
            _ = try cases(text)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("every mistake is a case, and each case occurs once without a mistake")
    func expansion() throws {
        let found = try cases(
            """
            [{ scenario: 'planted-pass', engine: ['memory', 'absent'], mistake: 'content' },
             { scenario: 'planted-pass', engine: 'memory', mistake: ['other'], expect: 'inconclusive' }]
            """)
        #expect(found.map(\.mistake) == [nil, "last-byte", "row-dropped", "other"])
        #expect(found.last?.expectation == .inconclusive)
    }

    @Test("an impossible mistake of contents is left out, with a reason")
    func exceptions() throws {
        let row = "{ scenario: 'planted-pass', engine: 'memory', mistake: 'content', except: "
        #expect(try cases("[\(row){ 'last-byte': 'no text' } }]").map(\.mistake) == [nil, "row-dropped"])
        #expect(error("[\(row){ 'last-byte': '' } }]").contains("each with its reason"))
        #expect(error("[\(row){ other: 'why' } }]").contains("mistake of content"))
    }

    @Test("unknown names are reported with their place")
    func wrongNames() {
        #expect(error("[{ scenario: 'planted-pass', engine: 'memory', mistake: 'lst-byte' }]").contains("rows:1:"))
        #expect(error("[{ scenario: 'planted-psas', engine: 'memory', mistake: 'other' }]").contains("planted-psas"))
        #expect(error("[{ scenario: 'planted-pass', engine: 'mem', mistake: 'other' }]").contains("engine"))
        #expect(error("[{ scenario: 'planted-pass', mistake: 'other' }]").contains("needs scenario"))
        #expect(error("[{ scenario: 'planted-pass', engine: 'memory', mistake: 'other', want: 1 }]").contains("want"))
    }
}

@Suite struct SelfTestVerdictTests {
    private func result(_ scenario: String, _ mistake: String?, _ verdict: Verdict) -> MistakenResult {
        let test = Case(
            scenario: scenario, family: .planted, engine: "memory", dataset: "", size: 0, parameters: [], seed: Seed(1),
            durability: .full)
        return MistakenResult(
            test: test, mistake: mistake, expectation: .caught, verdict: verdict, message: "", seconds: 0)
    }

    @Test("a case that ran out of time has found nothing, unless it failed before")
    func cut() {
        var late = result("a", "x", .violation)
        late.isCut = true
        #expect(late.isRight)
        late.expectation = .inconclusive
        late.verdict = .inconclusive
        #expect(!late.isRight)
        late.isCut = false
        #expect(late.isRight)
        #expect(!result("a", nil, .known).isRight && !result("a", "x", .known).isRight)
    }

    @Test("a mistake that survives, a sound case that fails and a scenario without a mistake are each wrong")
    func wrong() {
        let sound = [result("a", nil, .pass), result("a", "x", .violation)]
        func verdict(_ more: [MistakenResult], excused: Set<String> = []) -> SelfTestVerdict {
            SelfTestVerdict(sound + more, slugs: ["a", "b"], excused: excused)
        }
        #expect(verdict([], excused: ["b"]).isRight)
        #expect(verdict([]).withoutAny == ["b"])
        #expect(verdict([result("b", nil, .pass), result("b", "x", .unpromised)]).isRight)
        #expect(!verdict([result("b", nil, .pass), result("b", "x", .pass)]).isRight)
        #expect(!verdict([result("a", "y", .inconclusive)], excused: ["b"]).isRight)
        #expect(!verdict([result("a", nil, .violation)], excused: ["b"]).isRight)
        #expect(verdict([result("b", nil, .violation), result("b", "x", .harnessError)]).withoutAny == ["b"])
    }
}
