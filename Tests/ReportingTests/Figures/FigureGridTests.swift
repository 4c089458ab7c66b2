import RunRecords
import Seeds
import Testing

@testable import Reporting

/// Rates of several engines in one table.
@Suite struct FigureGridTests {
    private static func run() -> Run {
        var results: [CaseResult] = []
        func add(_ scenario: String, _ column: String, _ engine: String, _ group: String, _ value: Double) {
            let test = Case(
                scenario: scenario, family: .workload, engine: engine, dataset: "people", size: 100,
                parameters: [CaseParameter(name: "loop", value: group)], seed: Seed(1), durability: .full)
            var result = PlausibleRun.passed(test)
            let place = GridFigure(grid: "Mixes", group: group, column: column)
            result.samples = [Sample(.gridFigure, value, label: place.label), Sample(.operationsPerSecond, value)]
            results.append(result)
        }
        // Cases of the open loop stand between those of the closed one.
        for (scenario, column) in [("mix-a", "A"), ("mix-b", "B")] {
            for group in ["closed", "open"] {
                add(scenario, column, "strata", group, column == "A" ? 1_234 : 5_678)
                if column == "A" || group == "closed" { add(scenario, column, "sqlite", group, 910) }
            }
        }
        var run = HTMLTests.run(results)
        run.header.engines = ["strata", "sqlite"].map { EngineVersion(name: $0, version: "1.0") }
        return run
    }

    @Test("engines are rows, headings span their columns, and cells without a case are empty")
    func grid() throws {
        let grids = RunDigest(Self.run()).figureGrids(.full)
        let grid = try #require(grids.first)
        #expect(grids.count == 1 && grid.caption == "Mixes" && grid.engines == ["strata", "sqlite"])
        #expect(grid.columns.map { "\($0.group) \($0.name)" } == ["closed A", "closed B", "open A", "open B"])
        #expect(grid.cells["strata"]?[grid.columns[3]]?.sample.value == 5_678)
        #expect(grid.cells["sqlite"]?[grid.columns[2]]?.sample.value == 910)
        #expect(grid.cells["sqlite"]?[grid.columns[3]] == nil)
        #expect(RunDigest(Self.run()).figureGrids(.none).isEmpty)
    }

    @Test("page and terminal have the table, and no other table repeats its figures")
    func shown() {
        let run = Self.run()
        let fast = HTMLTests.section(Question.fast.rawValue, of: Reporting.html(run))
        #expect(fast.contains("<h4>Mixes</h4>"))
        #expect(fast.contains("colspan=\"2\""))
        #expect(!fast.contains("grid figure"))
        let text = TerminalReport(digest: RunDigest(run), width: 100, colour: false).text
        #expect(text.contains("Mixes, closed") && text.contains("Mixes, open"))
        #expect(!text.contains("grid figure"))
    }

    @Test("a label that names no cell of a table is refused")
    func label() {
        let place = GridFigure(grid: "a", group: "b", column: "c")
        #expect(GridFigure(label: place.label) == place)
        #expect(GridFigure(label: "a|b") == nil && GridFigure(label: "a|b|c|d|e") == nil)
    }
}
