import RunRecords
import Testing

@testable import Reporting

@Suite struct RunComparisonTextTests {
    private func text(_ a: Run, _ b: Run, width: Int = 80) -> String {
        Reporting.terminal(RunComparison(a, b), width: width, colour: false)
    }

    @Test("a run compared with itself, and with one on another machine: the text has no times")
    func times() {
        let run = PlausibleRun.run
        var other = DeterministicTests.elsewhere(run)
        other.header.seed = run.header.seed
        let text = text(run, other).split { " \n".contains($0) }.joined(separator: " ")
        #expect(text.contains("are not compared: the runs are of different machines"), "\(text)")
        #expect(text.contains("xfs") && text.contains("assay ab --a OLD --b NEW"))
        for name in ["commits/s", "commits_per_second", "latency_ns", "operation_ns", "\u{B5}s"] {
            #expect(!text.contains(name), "\(name): \(text)")
        }
    }

    @Test("differences are named with both values, within 80 columns")
    func differences() throws {
        let run = PlausibleRun.run
        var other = run
        let index = try #require(run.results.firstIndex { $0.verdict == .pass && !$0.isCut })
        other.results[index].verdict = .violation
        other.directory = "Reports/other"
        let text = text(run, other)
        #expect(text.contains("pass in A, violation in B"), "\(text)")
        #expect(text.contains("VERDICT  1 thing that repeats exactly differs"), "\(text)")
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        #expect(self.text(run, run).contains("nothing differs that repeats exactly"))
    }
}
