import Measuring
import RunRecords
import Testing

@testable import Reporting

@Suite("Terminal report")
struct TerminalTests {
    @Test("asks a question only where the run has figures for it")
    func questions() {
        let whole = Reporting.terminal(PlausibleRun.run, width: 120, colour: false)
        for question in Question.allCases { #expect(whole.contains(question.text)) }
        let part = HTMLTests.run([PlausibleRun.passed(PlausibleRun.test("skip-versions", .migration, "strata"))])
        let text = Reporting.terminal(part, width: 120, colour: false)
        for question in Question.allCases { #expect(text.contains(question.text) == (question == .migrations)) }
    }

    @Test("names each violation with the command that repeats it")
    func violations() {
        let run = PlausibleRun.run
        let text = Reporting.terminal(run, width: 80, colour: false)
        for result in run.results where result.verdict == .violation {
            let trial = result.trials.first?.address.text ?? ""
            #expect(text.contains("assay replay Reports/2026-11-21-quick-7 \(result.test.id) \(trial)\n"))
        }
        #expect(text.contains("VERDICT  strata: no violation"))
    }

    @Test("has escape sequences only where colour is asked for")
    func colour() {
        let run = PlausibleRun.run
        let plain = Reporting.terminal(run, width: 100, colour: false)
        let coloured = Reporting.terminal(run, width: 100, colour: true)
        #expect(!plain.contains("\u{1B}") && coloured.contains("\u{1B}[1;31m"))
        #expect(coloured.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain)
    }

    @Test("tables keep to the width by shortening names")
    func width() {
        var table = TextTable()
        table.rows = [
            [TextTable.Cell(String(repeating: "a", count: 60)), TextTable.Cell("1 234")],
            [TextTable.Cell("b"), TextTable.Cell("5")],
        ]
        #expect(
            table.lines(width: 32, indent: 1, colour: false) == [
                " " + String(repeating: "a", count: 23) + "\u{2026}  1 234",
                " b" + String(repeating: " ", count: 29) + "5",
            ])
    }

    @Test("a table that is too wide leaves out the columns it can spare before it shortens a name")
    func droppedColumns() {
        var table = TextTable(leftColumns: 2, droppable: [3, 2])
        table.rows = [
            [TextTable.Cell("a heading"), TextTable.Cell(""), TextTable.Cell("two"), TextTable.Cell("three")],
            [TextTable.Cell("name"), TextTable.Cell("x"), TextTable.Cell("2"), TextTable.Cell("3")],
        ]
        #expect(
            table.lines(width: 80, indent: 0, colour: false) == ["a head\u{2026}  two  three", "name  x    2      3"])
        #expect(table.lines(width: 13, indent: 0, colour: false) == ["a head\u{2026}  two", "name  x    2"])
        #expect(table.lines(width: 8, indent: 0, colour: false) == ["a head\u{2026}", "name  x"])
    }

    @Test("a run without a result, and one that was stopped, say so")
    func stopped() {
        #expect(Reporting.terminal(HTMLTests.emptyRun(), width: 80, colour: false).contains("no case was run"))
        var run = PlausibleRun.run
        run.results.removeLast(2)
        let text = Reporting.terminal(run, width: 120, colour: false)
        #expect(text.contains("STOPPED EARLY: 2 cases not run") && text.contains("--resume"))
    }
}
