import RunRecords
import Seeds
import Testing

@testable import Reporting

@Suite struct GateReportTests {
    private static let test = Case(
        scenario: "commit", family: .workload, engine: "strata", dataset: "people|<&>", size: 10, parameters: [],
        seed: Seed(1), durability: .full)

    private static func finding(
        _ decision: GateFinding.Decision, _ metric: String, _ reason: String = "", test: Case? = test
    ) throws -> GateFinding {
        let budget = try #require(Budget(BudgetKey(metric: metric), "=="))
        let range = ObservedRange([3, 3])
        return GateFinding(
            decision, budget, test: test, figure: CountedName(metric: metric, statistic: "value", label: ""),
            expected: range, found: range, reason)
    }

    private static func report(_ findings: [GateFinding]) -> GateReport {
        GateReport(
            baseline: "ci", plan: "smoke", directory: "Reports/r", startTime: 1_795_248_900, findings: findings,
            remarks: ["sqlite is 2 here"])
    }

    private static func full() throws -> GateReport {
        report([
            try finding(.kept, "file_syncs"), try finding(.exceeded, "syncs_per_commit", "4 here \"<\u{1}>\" & 3"),
            try finding(.undecided, "file_bytes", "it does not repeat"),
            try finding(.skipped, "instructions", "another processor"),
            try finding(.undecided, "read_calls", "nothing has it", test: nil),
        ])
    }

    @Test("the terminal lists exceeded, undecided and skipped budgets, and the verdict last")
    func terminal() throws {
        let text = Reporting.terminal(try Self.full(), width: 200, colour: false)
        let lines = text.split(separator: "\n")
        #expect(lines.first?.hasSuffix("1 kept, 1 EXCEEDED, 2 undecided, 1 skipped") == true, "\(text)")
        #expect(lines[1] == "NOTE  sqlite is 2 here")
        #expect(lines[2].hasPrefix("  EXCEEDED  commit strata people|<&> 10: syncs_per_commit, budget ==: 4 here"))
        #expect(text.contains("budget read_calls, budget ==: nothing has it"))
        #expect(!text.contains("file_syncs"), "unchanged figures get no line")
        #expect(lines.last == "VERDICT  1 budget exceeded")
    }

    @Test("only kept budgets give a green verdict, and no decision gives none")
    func verdicts() throws {
        let kept = Reporting.terminal(Self.report([try Self.finding(.kept, "file_syncs")]), width: 80, colour: false)
        #expect(kept.hasSuffix("VERDICT  1 figure within budget\n"))
        let none = Reporting.terminal(Self.report([]), width: 80, colour: false)
        #expect(none.hasSuffix("VERDICT  nothing was decided\n"))
    }

    @Test("JUnit has a suite per case, a test per figure, and is valid XML")
    func junit() throws {
        let text = Reporting.junit(try Self.full())
        let start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay gate\" tests=\"5\""
        #expect(text.hasPrefix(start))
        #expect(text.matches(of: /<testsuite\s/).count == 2)
        #expect(text.matches(of: /<testcase\s/).count == 5)
        #expect(text.matches(of: /<failure\s/).count == 1)
        #expect(text.matches(of: /<skipped\s/).count == 3)
        #expect(text.contains("type=\"undecided\"") && text.contains("type=\"skipped\""))
        #expect(text.contains("people|&lt;&amp;&gt; 10"))
        #expect(text.contains("timestamp=\"2026-11-21T08:15:00Z\""))
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test("Markdown keeps a row on its line, and escapes markup")
    func markdown() throws {
        let text = Reporting.markdown(try Self.full())
        #expect(text.hasPrefix("## assay gate: 1 budget exceeded\n"))
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| commit") }
        #expect(rows.count == 3)
        for row in rows {
            #expect(row.replacing("\\|", with: "").count { $0 == "|" } == 7, "\(row)")
        }
        #expect(text.contains("people\\|\\<&\\> 10"))
        let many = Self.report(try (0..<5_000).map { _ in try Self.finding(.exceeded, "file_syncs", "much") })
        #expect(Reporting.markdown(many).utf8.count < 100_000)
        #expect(Reporting.markdown(many).contains("and 4800 more"))
    }
}
