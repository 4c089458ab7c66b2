import Files
import RunRecords
import Seeds
import Testing

@testable import Harness

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite struct EngineCoverageTests {
    @Test("a scenario counts for an engine with all its requirements; tunings of one engine count once")
    func counts() {
        var registries = Registries()
        registries.scenarios.register(EmptyScenario(slug: "a", family: .corruption, requires: [.tables]))
        registries.scenarios.register(EmptyScenario(slug: "b", family: .corruption, requires: [.tables, .objects]))
        registries.scenarios.register(EmptyScenario(slug: "c", family: .growth, requires: [.tables, .persistent]))
        registries.scenarios.register(EmptyScenario(slug: "d", family: .planted, requires: []))
        registries.engines.register(MemoryEngine(name: "memory"))
        registries.engines.register(MemoryEngine(name: "other", capabilities: [.tables, .persistent]))
        let coverage = EngineCoverage(registries)
        #expect(
            coverage.familyTable == [
                "| family | scenarios | memory | other |", "|---|---|---|---|", "| growth | 1 | 0 | 1 |",
                "| corruption | 2 | 1 | 1 |", "| all | 3 | 1 | 2 |",
            ])
        #expect(
            coverage.scenarioTable == [
                "growth        memory  other", "  c           -       x", "corruption    memory  other",
                "  a           x       x", "  b           -       -",
            ])
    }

    @Test("the numbers in the documents equal those of the registries")
    func readme() throws {
        let directory = try TestDirectory()
        let end = try AssayProcess.run(["list", "--engines"], in: directory)
        #expect(end.status == .exited(0))
        if end.output.contains("is not built") { return }
        let guide = try FileTree.readText(SourceTree.root + "/docs/assay.md")
        let lines = guide.split(separator: "\n").map(String.init)
        let table = end.output.split(separator: "\n").prefix { $0.hasPrefix("|") }.map(String.init)
        try #require(table.count > 5, "\(end.output)")
        let start = try #require(
            lines.firstIndex(of: table[0]), "docs/assay.md has no table with the head \(table[0]): make docs-tables"
        )
        #expect(Array(lines[start...].prefix(table.count)) == table, "the table is out of date: make docs-tables")
        let all = try #require(table.last).split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        let readme = try FileTree.readText(SourceTree.root + "/README.md")
        #expect(readme.contains("\(all[1]) scenarios"), "README.md says how many scenarios there are: \(all[1])")
    }
}
