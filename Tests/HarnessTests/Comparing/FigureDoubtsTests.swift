import RunRecords
import Seeds
import Testing

@testable import Harness

@Suite struct FigureDoubtsTests {
    private struct Commits: Scenario {
        let slug = "commits"
        let family = Family.workload
        let question = "How many?"
        let requires: Set<Capability> = []
        let parameters = [
            ScenarioParameter("commits", .size, default: 500, summary: "commits"),
            ScenarioParameter("file", default: "empty", allowed: ["empty", "prepared"], summary: "the file"),
        ]

        func run(_ context: CaseContext) throws {}
    }

    private func planned(_ engine: String, file: String, commits: Int = 2_000) -> PlannedCase {
        PlannedCase(
            Case(
                scenario: "commits", family: .workload, engine: engine, dataset: "people", size: 1_000,
                parameters: [
                    CaseParameter(name: "commits", value: "\(commits)"), CaseParameter(name: "file", value: file),
                ], seed: Seed(1), durability: .full))
    }

    private func verdict(_ engine: String, _ ratio: Double, label: String = "") -> FigureVerdict {
        FigureVerdict(
            name: "commits, prepared", workload: "commits", engine: engine,
            parameters: [
                CaseParameter(name: "commits", value: "500"), CaseParameter(name: "file", value: "prepared"),
            ], metric: "commits_per_second", label: label, ratio: ratio)
    }

    /// A figure that was twice its control's once appeared in the next report as a result.
    @Test("a wrong figure is doubted for all cases measured like the control, of any size")
    func doubted() {
        var registry = ScenarioRegistry()
        registry.register(Commits())
        let doubts = FigureDoubts(
            [verdict("lmdb", 0.5), verdict("lmdb", 1.4, label: "with close"), verdict("sqlite", 0.95)], registry)
        let cases = [
            planned("lmdb", file: "prepared"), planned("lmdb", file: "empty"), planned("sqlite", file: "prepared"),
        ]
        let found = doubts.figures(of: cases)
        #expect(
            found == [
                DoubtfulFigure(test: cases[0].test.id, label: "", ratio: 0.5),
                DoubtfulFigure(test: cases[0].test.id, label: "with close", ratio: 1.4),
            ])
        let warning = FigureDoubts.warning(found, of: cases)
        #expect(warning?.contains("commits of lmdb, commits of lmdb with close, off by more than a tenth") == true)
    }

    @Test("without a verdict nothing is doubted")
    func none() {
        var registry = ScenarioRegistry()
        registry.register(Commits())
        #expect(FigureDoubts([], registry).figures(of: [planned("lmdb", file: "prepared")]).isEmpty)
        #expect(FigureDoubts.warning([], of: []) == nil)
    }
}
