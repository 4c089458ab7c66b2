import Foundation
import Harness
import ObjectScenarios
import Scenarios
import Testing

/// Which scenarios the lists of Benchmarks/Mistakes name: each has to find one mistake at least, or to be excused.
@Suite("Lists of mistakes")
struct MistakeListTests {
    private static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Benchmarks/Mistakes")

    /// The scenarios that rows name, and those that are excused with a reason.
    private static func named() throws -> (rows: Set<String>, excused: Set<String>) {
        var (rows, excused): (Set<String>, Set<String>) = ([], [])
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.hasSuffix(".json5") {
            let text = try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
            let slugs = slugs(text)
            if name == "excused.json5" { excused.formUnion(slugs) } else { rows.formUnion(slugs) }
        }
        return (rows, excused)
    }

    private static func slugs(_ text: String) -> Set<String> {
        let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
        return Set(code.matches(of: /\bscenario:\s*"([^"]+)"/).map { String($0.output.1) })
    }

    /// What is wrong with the lists, a sentence each.
    private static func complaints(_ known: Set<String>, _ rows: Set<String>, _ excused: Set<String>) -> [String] {
        known.subtracting(rows).subtracting(excused).sorted().map { "no mistake is listed that \($0) has to find" }
            + rows.union(excused).subtracting(known).sorted().map { "\($0) is no scenario" }
            + rows.intersection(excused).sorted().map { "\($0) is excused, and has a row" }
    }

    @Test("every scenario has a mistake to find, or a reason why it has none")
    func everyScenario() throws {
        var registry = ScenarioRegistry()
        ScenarioRegistration.register(into: &registry)
        ObjectScenarioRegistration.register(into: &registry)
        let (rows, excused) = try Self.named()
        for complaint in Self.complaints(Set(registry.listed.map(\.slug)), rows, excused) {
            Issue.record("\(complaint)")
        }
    }

    @Test("a scenario without a mistake, one that is not there, and one that is both are seen")
    func planted() {
        let text =
            "[\n  // scenario: \"c\"\n  { scenario: \"a\", engine: \"x\" }, { engine: \"x\", scenario: \"b\" },\n]"
        #expect(Self.slugs(text) == ["a", "b"])
        #expect(Self.complaints(["a", "b"], ["a"], ["b"]) == [])
        #expect(Self.complaints(["a", "b"], ["a"], []) == ["no mistake is listed that b has to find"])
        #expect(Self.complaints(["a"], ["a", "c"], []) == ["c is no scenario"])
        #expect(Self.complaints(["a"], ["a"], ["a"]) == ["a is excused, and has a row"])
    }
}
