import Measuring
import RunRecords
import Testing

@testable import Reporting

@Suite struct TerminalTests {
    @Test("shows a question only with figures for it")
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
        #expect(text.contains("VERDICT  strata: 1 violation (of safety, 1 known)"))
    }

    @Test("has escape sequences only with colour")
    func colour() {
        let run = PlausibleRun.run
        let plain = Reporting.terminal(run, width: 100, colour: false)
        let coloured = Reporting.terminal(run, width: 100, colour: true)
        #expect(!plain.contains("\u{1B}") && coloured.contains("\u{1B}[1;31m"))
        #expect(coloured.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain)
    }

    @Test("tables fit the width by shortening names")
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

    @Test("a table that is too wide drops optional columns before it shortens a name")
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
        table.namesLeftOut = true
        #expect(table.lines(width: 19, indent: 1, colour: false).last == " not shown: three")
        #expect(table.lines(width: 80, indent: 1, colour: false).count == 2)
    }

    /// In a CI log an exit status of 3 once had no explanation.
    @Test("each case without an answer has its reason, and equal reasons share a line")
    func reasons() {
        var open = PlausibleRun.passed(PlausibleRun.test("compact-on-launch", .growth, "strata"))
        open.verdict = .inconclusive
        open.message = "there was nothing to compact: 118784 bytes before, 90112 when loaded anew"
        var others: [CaseResult] = []
        for size in [1, 2, 3] {
            var other = PlausibleRun.passed(PlausibleRun.test("commit", .workload, "sqlite", size: size))
            other.verdict = .inconclusive
            other.message = "left out: the budget of the run was used up"
            others.append(other)
        }
        let text = Reporting.terminal(HTMLTests.run([open] + others), width: 200, colour: false)
        #expect(
            text.contains(
                "\n  ? 1 case: there was nothing to compact: 118784 bytes before, 90112 when loaded anew (strata "
                    + "compact-on-launch"), "\(text)")
        #expect(
            text.contains("\n  ? 3 cases: left out: the budget of the run was used up (sqlite commit"), "\(text)")
    }

    /// 67 cases that the budget cut once gave twelve lines and "55 more".
    @Test("cases that the budget cut have one line, with three names")
    func cutReasons() {
        let cut = (1...20).map { index in
            var result = PlausibleRun.passed(PlausibleRun.test("scan-\(index)", .workload, "strata"))
            result.verdict = .inconclusive
            result.isCut = true
            result.message = "cut by its share of the budget"
            return result
        }
        var run = HTMLTests.run(cut)
        run.header.budgetSeconds = 600
        let text = Reporting.terminal(run, width: 200, colour: false)
        #expect(
            text.contains(
                "\n  ? 20 cases: the budget of 10 min was used up (strata scan-1; strata scan-2; strata scan-3; ..)\n"),
            "\(text)")
        #expect(!text.contains("scan-4;") && !text.contains("more reason"), "\(text)")
    }

    @Test("a violation is a sentence with its numbers, then the detail, whole, and the command")
    func sentences() throws {
        let detail = "power goes before it writes 512 bytes at offset 0 of data.db, which the program had synced before"
        var result = PlausibleRun.passed(PlausibleRun.test("sync-fails", .crash, "berkeleydb"))
        result.verdict = .violation
        result.outcomes = [
            OutcomeCount(outcome: .correct, count: 20), OutcomeCount(outcome: .lostCommit, count: 4),
        ]
        result.causes = [
            FailureCause(
                Trial(address: FaultAddress(text: "io:sync#16,EIO"), outcome: .lostCommit, detail: detail), count: 4)
        ]
        let run = HTMLTests.run([result])
        let text = Reporting.terminal(run, width: 90, colour: false)
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.contains(
                "\u{2717} Berkeley DB: a commit that was acknowledged after a failed fsync was gone, or could not be "
                    + "read, after a power loss (sync-fails, 4 of 24) \(detail) assay replay "), "\(text)")
    }

    @Test("the last line is the answer")
    func answer() throws {
        func last(_ run: Run) -> String {
            String(Reporting.terminal(run, width: 400, colour: false).split(separator: "\n").last ?? "")
        }
        let passed = PlausibleRun.passed(PlausibleRun.test("commit", .workload, "strata"))
        var open = PlausibleRun.passed(PlausibleRun.test("commit", .workload, "sqlite"))
        open.verdict = .inconclusive
        let kept = last(HTMLTests.run([passed]))
        #expect(kept.hasPrefix("ANSWER   Every promise was kept in the 1 "), "\(kept)")
        let half = last(HTMLTests.run([passed, open]))
        #expect(half.hasSuffix("; 1 of 2 cases has no answer"), "\(half)")
        #expect(last(HTMLTests.run([open])).contains("No case came to a conclusion"))
        #expect(last(HTMLTests.emptyRun()) == "ANSWER   No case was run")
        let broken = last(PlausibleRun.run)
        #expect(broken.contains(" broke a promise; ") && broken.contains(" listed as known"), "\(broken)")
        #expect(last(RunWithRounds.large).contains("Strata storage, speed: ahead of the best peer in "))
        var failed = open
        failed.verdict = .harnessError
        #expect(
            last(HTMLTests.run([passed, failed])).contains(
                "Every promise was kept in the 1 trial that ran; the harness failed, or may have, in 1 case"))
    }

    @Test("the terminal ends with the words that the page begins with")
    func sameWords() throws {
        for run in [PlausibleRun.run, RunWithRounds.large, HTMLTests.emptyRun()] {
            let answer = PageAnswer(digest: RunDigest(run))
            let page = HTMLTests.section("verdict", of: Reporting.html(run))
            let terminal = Reporting.terminal(run, width: 4_000, colour: false)
            let parts = [
                answer.promises, answer.promiseCounts, answer.unprotected, answer.failure, answer.open,
            ]
            for words in parts where !words.isEmpty {
                // On the page each begins a line.
                #expect(page.contains(Markup.escaped(String(words.dropFirst()))), "\(words)")
                #expect(terminal.contains(words.replacing(Figure.gap, with: " ")), "\(words)")
            }
        }
    }

    @Test("Markdown has the answer, a row per engine, and the tables of the questions")
    func markdown() throws {
        var run = PeerTableTests.run
        run.header.command = "assay run quick"
        let text = Reporting.markdown(run)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines[0].hasPrefix("**Every promise was kept") && lines[0].hasSuffix("**"), "\(lines[0])")
        #expect(text.contains("| engine | version | cases | trials | promises broken | without an answer |"))
        #expect(text.contains("### Where does Strata stand beside its peers?"))
        var width = 0
        for line in lines {
            let isRow = line.hasPrefix("|")
            let cells = line.replacing("\\|", with: "").count { $0 == "|" }
            if isRow, width > 0 { #expect(cells == width, "\(line)") }
            width = isRow ? cells : 0
        }
        var strange = PlausibleRun.passed(PlausibleRun.test("a|b", .workload, "<x>"))
        strange.engineVersion = "1"
        let escaped = Reporting.markdown(HTMLTests.run([strange]))
        #expect(escaped.contains("\\<x\\>") && !escaped.contains("<x>"))
    }

    /// A pasted summary with an exit status of 2 or 3 once had no cause.
    @Test("Markdown lists broken promises, known ones too, and the reasons for having no answer")
    func markdownCauses() {
        func result(_ scenario: String, _ engine: String, _ verdict: Verdict, _ message: String) -> CaseResult {
            var result = PlausibleRun.passed(PlausibleRun.test(scenario, .crash, engine))
            result.verdict = verdict
            result.outcome = verdict.isViolation ? .lostCommit : nil
            result.message = message
            return result
        }
        var run = HTMLTests.run([
            result("disk-full", "sqlite", .violation, "a row is gone"), result("power-loss", "lmdb", .known, "gone"),
            result("walk", "strata", .inconclusive, "no time"), result("scan", "strata", .inconclusive, "no time"),
        ])
        run.header.cases.append("0123456789ab")
        let lines = Reporting.markdown(run).split(separator: "\n").filter { $0.hasPrefix("- ") }
        #expect(
            lines == [
                "- SQLite: acknowledged data was gone, and the engine reported nothing, on a full disk (disk-full)",
                "- LMDB: acknowledged data was gone, and the engine reported nothing, after a power loss (power-loss); "
                    + "listed as known",
                "- 2 cases: no time (strata walk; strata scan)", "- 1 case not run",
            ])
    }

    @Test("a run without a result, and a stopped one, are marked")
    func stopped() {
        #expect(Reporting.terminal(HTMLTests.emptyRun(), width: 80, colour: false).contains("No case was run"))
        var run = PlausibleRun.run
        run.results.removeLast(2)
        let text = Reporting.terminal(run, width: 120, colour: false)
        #expect(text.contains("STOPPED EARLY: 2 cases not run") && text.contains("--resume"))
    }

    @Test("no line is wider than the terminal", arguments: [80, 100])
    func narrow(width: Int) {
        var noisy = PlausibleRun.run
        noisy.header.warnings.append(String(repeating: "a long warning ", count: 20))
        noisy.unreadable = [
            "Reports/2026-11-21-quick-7/results.jsonl line 12: result.samples[3].value: expected a number"
        ]
        noisy.header.engines[1].version = String(repeating: "0.1-", count: 40)
        var smoke = RunWithRounds.large
        smoke.header.measures = false
        let runs = [noisy, RunWithRounds.large, RunWithRounds.small, HTMLTests.largeRun(cases: 400), smoke]
        for run in runs + [PeerTableTests.run, HTMLTests.emptyRun()] {
            let lines = Reporting.terminal(run, width: width, colour: false).split(separator: "\n")
            // The answer is one line, so that the last line of a log is not only its end.
            for line in lines.dropLast() { #expect(line.count <= width, "\(line)") }
            #expect(lines.last?.hasPrefix("ANSWER   ") == true)
        }
    }

    @Test("a long command continues after a backslash, and is never broken inside a word")
    func commands() {
        let command = "assay replay 'my long directory/with spaces' 0123456789ab bit:123456"
        #expect(WrappedText.command(command, width: 200, indent: 2) == ["  " + command])
        let lines = WrappedText.command(command, width: 40, indent: 2)
        #expect(
            lines == [
                "  assay replay \\", "    'my long directory/with spaces' \\", "    0123456789ab bit:123456",
            ])
    }

    @Test("a plan without measurements shows outcomes, and no figure or ratio")
    func measuresNothing() {
        for run in [RunWithRounds.small, PeerTableTests.run, PlausibleRun.run] {
            var smoke = run
            smoke.header.measures = false
            let text = Reporting.terminal(smoke, width: 100, colour: false)
            #expect(text.contains("This plan measures nothing: only the outcomes of its cases count."))
            for word in ["\u{D7}", "/s", "KiB", "MiB", "ahead", "behind", "to best peer", "limit "] {
                #expect(!text.contains(word), "\(word)")
            }
            #expect(text.contains("correct"))
            let html = Reporting.html(smoke)
            #expect(html.contains("This plan measures nothing"))
            #expect(!html.contains("\u{D7}</") && !html.contains("<svg class=\"fluid"))
            #expect(!html.contains("id=\"peers\"") && !html.contains("commits/s"))
            #expect(Reporting.peersCSV(smoke).isEmpty)
        }
    }

    /// The table once had up to eleven columns, with words that the page does not have.
    @Test("the columns of a table of outcomes are the words of the page")
    func outcomeColumns() throws {
        var result = PlausibleRun.passed(PlausibleRun.test("bit-flip", .corruption, "sqlite"))
        let outcomes: [Outcome] = [.repaired, .detectedAtOpen, .refused, .fellBack, .hung, .crashed, .silentlyWrong]
        result.outcomes = outcomes.map { OutcomeCount(outcome: $0, count: 2) }
        result.outcome = .silentlyWrong
        result.verdict = .unpromised
        let text = Reporting.terminal(HTMLTests.run([result]), width: 120, colour: false)
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        let head = try #require(lines.first { $0.contains("trials") && $0.contains("correct") })
        #expect(
            head.suffix(7) == ["trials", "correct", "reported", "stopped", "lost", "wrong", "promise"], "\(text)")
        let row = try #require(lines.first { $0.starts(with: ["bit-flip", "sqlite"]) && $0.count > 8 })
        #expect(row.dropFirst(2).prefix(6) == ["14", "2", "6", "4", "0", "2"], "\(text)")
        #expect(text.contains("in 1 case (14 trials), 1 unprotected\n"), "\(text)")
    }

    @Test("cut and inconclusive cases are counted beside the verdict")
    func unfinished() {
        let run = PlausibleRun.run
        let text = Reporting.terminal(run, width: 100, colour: false)
        #expect(text.contains("1 case cut by the budget, 1 case inconclusive"))
        let words = "2 of \(Figure.count(run.results.count, "case")) have no answer"
        let headline = Reporting.html(run).firstMatch(of: /class="headline.*?<\/p>/)?.output
        #expect(headline?.contains(Markup.escaped(words)) == true)
    }
}
