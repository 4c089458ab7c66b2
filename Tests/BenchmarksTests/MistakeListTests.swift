import Foundation
import Harness
import MigrationScenarios
import ObjectScenarios
import Scenarios
import Testing

/// The scenarios in the lists of Benchmarks/Mistakes: each must find at least one mistake, or be excused.
@Suite struct MistakeListTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let directory = root.appendingPathComponent("Benchmarks/Mistakes")

    /// The scenarios in rows, and those excused with a reason.
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

    /// The errors in the lists, a sentence each.
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
        MigrationScenarioRegistration.register(into: &registry)
        let (rows, excused) = try Self.named()
        for complaint in Self.complaints(Set(registry.listed.map(\.slug)), rows, excused) {
            Issue.record("\(complaint)")
        }
    }

    /// The scenarios that have to find each mistake inside Strata, by its name.
    private static func finders(_ text: String) -> [String: Set<String>] {
        var finders: [String: Set<String>] = [:]
        let code = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
        // Text before the first scenario is no row.
        for row in code.split(separator: /\bscenario:\s*/).dropFirst() {
            guard let slug = row.firstMatch(of: /^"([^"]+)"/)?.output.1 else { continue }
            for match in row.matches(of: /"((?:strata|migration|coredata)-[a-z0-9-]+)"/)
            where match.output.1 != "strata-storage" {
                finders[String(match.output.1), default: []].insert(String(slug))
            }
        }
        return finders
    }

    /// The finders in a page of the documentation: `| \`mistake\` | what it is | \`scenario\`, \`scenario\` |`.
    private static func documented(_ text: String) -> [String: Set<String>] {
        var rows: [String: Set<String>] = [:]
        for line in text.split(separator: "\n") {
            guard
                let row = line.firstMatch(
                    of: /^\| `((?:strata|migration|coredata)-[a-z0-9-]+)` \|.*\| ([^|]+) \|$/)
            else { continue }
            rows[String(row.output.1)] = Set(row.output.2.matches(of: /`([a-z0-9-]+)`/).map { String($0.output.1) })
        }
        return rows
    }

    @Test("the table lists exactly the mistakes of our own code, with the scenarios that find them")
    func table() throws {
        let switches = Self.root.appendingPathComponent("Sources/Engine/StrataFiles/PlantedMistake.swift")
        let mistakes = Set(
            try String(contentsOf: switches, encoding: .utf8)
                .matches(of: /case \w+ = "((?:strata|migration|coredata)-[a-z0-9-]+)"/).map { String($0.output.1) })
        #expect(mistakes.count > 100)
        for prefix in ["migration-", "coredata-"] {
            #expect(mistakes.count { $0.hasPrefix(prefix) } > 3, "\(prefix) in \(switches.lastPathComponent)")
        }
        var finders: [String: Set<String>] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.directory.path) {
            let file = Self.directory.appendingPathComponent(name)
            finders.merge(Self.finders(try String(contentsOf: file, encoding: .utf8))) { $0.union($1) }
        }
        let page = try String(contentsOf: Self.root.appendingPathComponent("docs/self-test.md"), encoding: .utf8)
        let table = Self.documented(page)
        for mistake in mistakes.union(finders.keys).union(table.keys).sorted() {
            #expect(mistakes.contains(mistake), "\(mistake) is none that is planted")
            #expect(finders[mistake] != nil, "no scenario has to find \(mistake)")
            #expect(table[mistake] == finders[mistake], "\(mistake) in docs/self-test.md")
        }
    }

    @Test("a row of mistakes and a row of the table are parsed with their scenarios")
    func tableRows() {
        let rows = """
            [
              // scenario: "c", mistake: "strata-c"
              { scenario: "a", engine: "strata-storage", mistake: ["strata-x", "strata-y"], parameters: { n: 1 } },
              {
                scenario: "b", engine: ["sqlite", "strata"],
                mistake: "strata-x",
              },
            ]
            """
        #expect(Self.finders(rows) == ["strata-x": ["a", "b"], "strata-y": ["a"]])
        let page = "| `strata-x` | a, b | `a`, `b` |\n| `other` | c | `a` |\n"
        #expect(Self.documented(page) == ["strata-x": ["a", "b"]])
    }

    @Test("a scenario without a mistake, an unknown one, and a listed and excused one are found")
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
